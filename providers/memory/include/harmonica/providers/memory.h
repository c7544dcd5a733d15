// The reference store and reference metadata store, in memory: for tests, samples and the simulator.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "harmonica/extension/item_store.h"
#include "harmonica/extension/metadata_store.h"

namespace harmonica::providers {

// A store that is a map from keys to items, with ordered children. An app edits it through `put` and `remove`, as a user
// would; Harmonica finds the edits by comparing. Thread-compatible.
class MemoryItemStore : public ItemStore {
 public:
  // Items are written one by one, or all at once as a browser's file is.
  MemoryItemStore(Schema schema, WriteUnit write_unit);

  // Inserts or replaces; `previous` is the sibling it follows, empty for the first place. not_found: no such parent or
  // previous sibling; invalid_argument: a parent below itself, an empty key or a root's.
  Status put(StoreItem item, const StoreKey& previous);
  // Inserts or replaces; a new or moved item becomes the last sibling.
  Status put(StoreItem item);
  // Removes the item and all below it. not_found: no such item.
  Status remove(const StoreKey& key);

  const StoreItem* find(const StoreKey& key) const;
  std::vector<StoreKey> children(const StoreKey& parent) const;
  std::size_t size() const { return items_.size(); }

  // The tree as text, one line an item, children indented: "key type unit=value ..."; for tests and logs.
  std::string to_text() const;

  const Schema& schema() const override { return schema_; }
  WriteUnit write_unit() const override { return write_unit_; }
  Result<Enumeration> enumerate(const Bytes& anchor, const ShownItems& shown, EnumerationSink& sink) override;
  // The item's id in hexadecimal.
  StoreKey key_for(const ItemId& item) const override;
  Result<Written> apply(std::span<const StoreWrite> writes, const Bytes& anchor) override;

 private:
  Schema schema_;
  WriteUnit write_unit_;
  std::uint64_t revision_ = 1;  // of the content; the anchor
  std::map<StoreKey, StoreItem> items_;
  std::map<StoreKey, std::vector<StoreKey>> children_;
};

// Metadata in memory: the reference that the SQLite one is compared with. Copying is a backup. Thread-compatible.
std::unique_ptr<MetadataStore> make_memory_metadata();

}  // namespace harmonica::providers
