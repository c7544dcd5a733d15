// What a store enumerated, kept.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "harmonica/extension/item_store.h"

namespace harmonica::conformance {

// A sink that keeps what it is given, and shows it to the next enumeration as Harmonica would. Thread-compatible.
class EnumeratedItems : public EnumerationSink, public ShownItems {
 public:
  Status item(StoreItem item) override {
    items.push_back(std::move(item));
    return {};
  }
  Status removed(const StoreKey& key) override {
    removed_keys.push_back(key);
    return {};
  }
  void skipped(const StoreKey& /*key*/, std::string what) override { skipped_lines.push_back(std::move(what)); }

  Status for_each(const std::function<void(const StoreItem&)>& visit) const override {
    for (const StoreItem& item : items) visit(item);
    return {};
  }

  std::vector<StoreItem> items;
  std::vector<StoreKey> removed_keys;
  std::vector<std::string> skipped_lines;
};

}  // namespace harmonica::conformance
