// The database that stands in data/format_N.db, and how to read one whole. What it holds never changes: a later format must
// still find it there.
#pragma once

#include <vector>

#include "contract/metadata_samples.h"
#include "harmonica/extension/metadata_store.h"

namespace harmonica::testing {

struct DatabaseContent {
  ReplicaState state;
  Knowledge knowledge;
  Knowledge forgotten;
  Bytes anchor;
  ItemCounts counts;
  std::vector<StoredItem> items;
  std::vector<IndexPosition> store_keys;
  std::vector<ConflictRecord> conflicts;
  std::vector<ItemId> lacking;  // by one who knows nothing of replica 2
  friend bool operator==(const DatabaseContent&, const DatabaseContent&) = default;
};

inline DatabaseContent sample_content() {
  DatabaseContent content;
  content.state.replica = replica_id(1);
  content.state.scope = "favorites";
  content.state.schema_fingerprint = 0x0123456789abcdef;
  content.state.last_tick = 1000;
  content.state.reserved_tick = 2000;
  content.state.write_number = 3;
  content.anchor = {1, 2, 3};
  content.state.wanted_whole = {item_id(40)};
  content.state.former_replicas = {replica_id(6)};
  content.knowledge = Knowledge(ClockVector({{replica_id(1), 1000}, {replica_id(2), 900}}));
  content.knowledge.assign({item_id(40), item_id(40)}, ClockVector({{replica_id(1), 1000}}));
  content.forgotten = Knowledge(ClockVector({{replica_id(2), 5}}));
  StoredItem tombstone = plain_item(2, {replica_id(2), 800}, {replica_id(1), 700});
  tombstone.item.existence.value = Existence::kDeleted;
  content.items = {plain_item(1, {replica_id(1), 500}, {replica_id(1), 600}), tombstone, rich_item(3)};
  content.counts = {2, 1, 1};
  content.store_keys = {{{'k', 'e', 'y'}, item_id(3)}};
  content.conflicts = {conflict_record(1, 100), deferred_record(2, 200)};
  content.lacking = {item_id(2), item_id(3)};
  return content;
}

inline Status write_sample(MetadataStore& store) {
  const DatabaseContent content = sample_content();
  HARMONICA_ASSIGN_OR_RETURN(const auto transaction, store.begin(TransactionMode::kWrite));
  HARMONICA_RETURN_IF_ERROR(transaction->set_state(content.state));
  HARMONICA_RETURN_IF_ERROR(transaction->set_knowledge(content.knowledge));
  HARMONICA_RETURN_IF_ERROR(transaction->set_forgotten(content.forgotten));
  HARMONICA_RETURN_IF_ERROR(transaction->set_anchor(content.anchor));
  for (const StoredItem& item : content.items) {
    std::vector<IndexEntry> entries;
    if (item.shown.has_value()) entries.push_back({IndexKind::kStoreKey, {'k', 'e', 'y'}});
    HARMONICA_RETURN_IF_ERROR(transaction->put(item, entries));
  }
  for (const ConflictRecord& record : content.conflicts) HARMONICA_RETURN_IF_ERROR(transaction->put_conflict(record));
  return transaction->commit();
}

inline Result<DatabaseContent> read_all(MetadataStore& store) {
  DatabaseContent content;
  HARMONICA_ASSIGN_OR_RETURN(const auto transaction, store.begin(TransactionMode::kRead));
  HARMONICA_ASSIGN_OR_RETURN(content.state, transaction->state());
  HARMONICA_ASSIGN_OR_RETURN(content.knowledge, transaction->knowledge());
  HARMONICA_ASSIGN_OR_RETURN(content.forgotten, transaction->forgotten());
  HARMONICA_ASSIGN_OR_RETURN(content.anchor, transaction->anchor());
  HARMONICA_ASSIGN_OR_RETURN(content.counts, transaction->counts());
  HARMONICA_RETURN_IF_ERROR(transaction->scan(ItemIdRange::all(), [&](const StoredItem& item) -> Result<Visit> {
    content.items.push_back(item);
    return Visit::kContinue;
  }));
  HARMONICA_ASSIGN_OR_RETURN(content.store_keys, transaction->find_index({IndexKind::kStoreKey, {}, {}}));
  HARMONICA_RETURN_IF_ERROR(transaction->scan_conflicts([&](const ConflictRecord& record) -> Result<Visit> {
    content.conflicts.push_back(record);
    return Visit::kContinue;
  }));
  Knowledge known(ClockVector({{replica_id(1), 1000}, {replica_id(9), 1000}}));
  HARMONICA_ASSIGN_OR_RETURN(content.lacking, transaction->find_lacking(known, ItemIdRange::all(), 100));
  return content;
}

}  // namespace harmonica::testing
