// What a store tells when it is enumerated, and what of it can be synced.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "harmonica/extension/item_store.h"

namespace harmonica::kernel {

// Keeps all that a store tells.
class StoreReading : public EnumerationSink {
 public:
  Status item(StoreItem item) override {
    items.push_back(std::move(item));
    return {};
  }
  Status removed(const StoreKey& key) override {
    removed_keys.push_back(key);
    return {};
  }
  void skipped(const StoreKey& key, std::string what) override {
    if (!key.empty()) skipped_keys.insert(key);
    skipped_lines.push_back(std::move(what));
  }
  void mended(std::string what) override { mended_lines.push_back(std::move(what)); }

  std::vector<StoreItem> items;
  std::vector<StoreKey> removed_keys;
  std::set<StoreKey> skipped_keys;
  std::vector<std::string> skipped_lines;
  std::vector<std::string> mended_lines;
};

// For messages: quoted, in hexadecimal if it is no text.
std::string printable(const StoreKey& key);

}  // namespace harmonica::kernel
