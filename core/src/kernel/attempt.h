// One attempt at a unit of work at a destination: what batches, decisions, edits and erasures make of the items held.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "harmonica/extension/provider.h"
#include "kernel/change_classifier.h"
#include "kernel/filtering.h"
#include "kernel/received_batch.h"
#include "kernel/recovery.h"
#include "kernel/replica_context.h"
#include "kernel/views.h"
#include "kernel/write_plan.h"

namespace harmonica::kernel {

// What earlier attempts at the same unit of work found out.
struct Findings {
  HeldBack held_back;
  PreparedWrite prepared;    // every state that may stand in the store by now
  std::set<ItemId> stalled;  // batches, by their first ids, of which too much is left out to learn the rest
};

// One attempt at a unit of work, in one transaction. It is filled, shown, and finished once the store has accepted the
// plan's writes; if that has not, what it found out goes into the next attempt. All arguments must outlive it.
class Attempt {
 public:
  Attempt(ReplicaContext& context, MetadataTransaction& transaction, const Findings& findings);

  Status begin();

  // Takes a batch in: decides its changes, and learns what it teaches.
  Status apply(const ReceivedBatch& received, Resolution resolution);

  // A decision on a deferred item: classified again against the state of this moment (rule R11).
  Status decide(const ConflictRecord& conflict, Resolution resolution);

  // A local edit by the app: `item` with some registers to be made anew.
  Status edit(const Item& item);

  // Erases an item that is held, for good.
  Status erase(const ItemId& item);

  // Brings the views in line with all registers that were changed, and plans the writes that follow.
  Status show();

  // Items that an earlier session could not write are tried again.
  Status collect_unwritten();

  // What a lost commit had written is settled: the store is now as the views say.
  Status settle_pending();

  // Drops what is to be dropped, and commits if there is anything to commit.
  Status finish();

  // The store has accepted the plan's writes.
  Status written(std::uint64_t write_number);

  // The batch of which too much is left out, if there was one: then the attempt is to be made without it.
  const std::optional<ItemId>& stalled() const { return stalled_; }

  // What goes without a tombstone, after the plan's writes are made. As Removals::remove.
  Result<bool> remove_recovered(HeldBack& held_back) { return removals_.remove(transaction_, held_back); }
  bool is_recovered(const ItemId& item) const { return recovered_.contains(item) || removals_.contains(item); }

  // Whether something with values was erased, so that no byte of it may stay.
  bool has_erased() const { return has_erased_; }

  WritePlan& plan() { return plan_; }
  const ReplicaState& state() const { return state_; }
  MetadataTransaction& transaction() { return transaction_; }
  Version mint() { return context_.mint(); }

  BatchReport take_report();

 private:
  Status commit_changes();

  // The registers of an item are decided. What is to be shown waits for its view; without a store, and of conflict records,
  // there is none.
  Status accept(std::optional<StoredItem> before, StoredItem after);

  // What else is kept of an item that is erased goes with its values.
  Status leave_nothing_of(const std::optional<StoredItem>& before, StoredItem& erased);

  // Also one that was made by somebody who had not heard of the erasure yet.
  Status drop_records_of_erased();

  // Whether the change may be learned.
  Result<bool> apply_change(const ChangeBatch& batch, const ItemChange& change, Resolution resolution);

  // Rule R15: what is held here and not there, where the source has forgotten something that is not known here.
  Status recover(const ReceivedBatch& received, std::vector<ItemId>& left_out);

  // Whether what the source knows of the item may be learned.
  Result<bool> recover_item(const ChangeBatch& batch, const ItemId& item);

  // Rules R21, R22 and R24.
  Status learn_through_filter(const ReceivedBatch& received, std::vector<ItemId>& left_out);

  // Only what a source that holds everything has, with all that was written here, may go (rule R21).
  bool may_leave(const ChangeBatch& batch, const StoredItem& stored) const;

  // Rule R7: what the source has left out because it was known has to be known still.
  Status check_request_holds(const ReceivedBatch& received, const std::vector<ItemId>& since,
                             const std::vector<ItemId>& left_out) const;

  // What gets a version of this replica's own that is not claimed yet.
  void note_made(const std::optional<StoredItem>& before, const Item& after);

  Status record_conflicts(Classification& classified);

  // An item whose id now belongs to one of a greater type lives on under its second id (docs/adr/0010). Whoever holds it
  // does that, and all arrive at the same id.
  Status rehouse(const StoredItem& displaced);

  // Under whichever id an old device brings it back, it is erased. `comes`: what this batch makes of the second id.
  Status erase_second(const Item& displaced, const ItemId& second, ViewInput* comes);

  // What differs in an item from the one that takes its place is not lost in silence; unless that is erased.
  Status record_differences(const Item& displaced, const Item& kept);

  // A conflict that was decided elsewhere waits no longer, also where the outcome is what is held here.
  Status end_decided();

  // Each answers that nothing of the item is learned.
  Result<bool> refuse(const ItemId& item, StatusCode code, std::string message);
  Result<bool> refuse_left_alone(const ItemId& item);

  // Whoever holds everything will come to know it, unless it was lost: that has to be said.
  Result<bool> wait_for_source(const ChangeBatch& batch, const ItemId& item);
  Result<bool> want_whole(const ItemChange& change);

  // Another source may hold the item whole, but not what is lacking here; or nobody holds it any more.
  void settle_wanted(const ItemIdRange& range, const std::vector<ItemId>& left_out);

  Status record_conflict(ConflictRecord& conflict);
  void count(const Item* before, const Item& after);

  // Nothing is learned of items that were left out (rule R11), nor of what lies between two of them if nothing came in
  // there: so a store that takes nothing at all costs one range, and not one for each item. `left_out` in any order.
  std::vector<ItemIdRange> not_learned(const ChangeBatch& batch, std::vector<ItemId> left_out) const;

  // `except`: ranges that rise, within `range`.
  Status learn(Knowledge& own, const Knowledge& other, const ItemIdRange& range, const std::vector<ItemIdRange>& except);

  // Where too many items fail, one here and one there, what is known could not be said in few words any more. So the rest
  // of such a batch has to wait until some of them are mended.
  Status leave_out_all(const ChangeBatch& batch);

  ReplicaContext& context_;
  MetadataTransaction& transaction_;
  const Findings& findings_;
  WritePlan plan_;
  ReplicaState state_;
  Knowledge knowledge_;
  Knowledge forgotten_;
  std::set<ItemId> wanted_whole_;
  std::set<ItemId> deferred_;
  std::vector<ItemId> new_records_;  // conflict records that came in or were made
  std::vector<ViewInput> inputs_;    // of all batches; no item is in two
  std::vector<StoredItem> displaced_;
  std::set<ItemId> recovered_;
  Removals removals_;
  std::vector<ItemFailure> refused_;
  BatchReport report_;
  std::set<ItemId> moved_in_;
  std::vector<MadeItem> made_;
  bool changed_ = false;  // there is something to commit
  std::optional<ItemId> stalled_;
  bool has_erased_ = false;
  bool any_records_to_drop_ = false;  // perhaps, about what was erased here
};

}  // namespace harmonica::kernel
