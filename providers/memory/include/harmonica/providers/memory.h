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
// would; Harmonica finds the edits by comparing. A copy is a backup. Thread-compatible.
class MemoryItemStore : public ItemStore {
 public:
  // Items are written one by one, or all at once as a browser's file is.
  MemoryItemStore(Schema schema, WriteUnit write_unit);

  // Inserts or replaces; `previous` is the sibling it follows, empty for the first place. not_found: no such parent or
  // previous sibling; invalid_argument: a parent below itself, an empty key or a root's, a type that the schema does not
  // have, a parent for a type without that role.
  Status put(StoreItem item, const StoreKey& previous);
  // Inserts or replaces; a new or moved item becomes the last sibling.
  Status put(StoreItem item);
  // Removes the item and all below it. not_found: no such item.
  Status remove(const StoreKey& key);

  // Null if there is none; valid until the next change.
  const StoreItem* find(const StoreKey& key) const;
  std::vector<StoreKey> children(const StoreKey& parent) const;
  std::size_t size() const { return items_.size(); }

  // The tree as text, one line an item, children indented: "key type unit=value ..."; for tests and logs. Items of the
  // root above all come first, then each root of the schema by its name with what it holds.
  std::string to_text() const;

  const Schema& schema() const override { return schema_; }
  WriteUnit write_unit() const override { return write_unit_; }
  Result<Enumeration> enumerate(const Bytes& anchor, const ShownItems& shown, EnumerationSink& sink) override;
  // The item's id in hexadecimal.
  StoreKey key_for(const ItemId& item) const override;
  Result<Written> apply(std::span<const StoreWrite> writes, const Bytes& anchor) override;

 private:
  bool is_root(const StoreKey& key) const;
  Status check(const StoreItem& item) const;
  void place(StoreItem item, const StoreKey& previous);
  StoreKey predecessor(const StoreItem& item) const;
  void detach(const StoreItem& item);
  WriteOutcome apply_put(const StoreWrite& write, const std::map<StoreKey, const StoreWrite*>& unwritten);
  WriteOutcome apply_remove(const StoreWrite& write);
  void record_edit(std::string_view what);
  Bytes anchor() const;

  Schema schema_;
  WriteUnit write_unit_;
  std::uint64_t revision_ = 1;  // a hash of the whole history of edits; the anchor
  std::map<StoreKey, StoreItem> items_;
  std::map<StoreKey, std::vector<StoreKey>> children_;  // by parent; no empty lists
};

struct MemoryMetadataContent;

// Metadata in memory: the reference that the SQLite one is compared with. A copy is a backup of what was committed and
// prepared, and shares nothing that changes; assigning one is a restore, while no transaction is open. Copying takes
// constant time. A second write transaction is refused as unavailable. Thread-compatible.
class MemoryMetadataStore : public MetadataStore {
 public:
  MemoryMetadataStore();
  ~MemoryMetadataStore() override;
  MemoryMetadataStore(const MemoryMetadataStore& other);
  MemoryMetadataStore& operator=(const MemoryMetadataStore& other);

  Result<std::unique_ptr<MetadataTransaction>> begin(TransactionMode mode) override;
  Status prepare(const PreparedWrite& write) override;
  Result<PreparedWrite> prepared(std::uint64_t write_number) override;
  Status wipe_removed() override { return {}; }

 private:
  class Transaction;

  // Changed only while no transaction and no copy shares it.
  std::shared_ptr<MemoryMetadataContent> committed_;
  PreparedWrite prepared_;
  int open_transactions_ = 0;
  bool writing_ = false;
};

// A new, empty MemoryMetadataStore.
std::unique_ptr<MetadataStore> make_memory_metadata();

}  // namespace harmonica::providers
