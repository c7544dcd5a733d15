// What a filter changes at a replica that has one (rules R20 to R29; docs/filters.md).
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "harmonica/change.h"
#include "harmonica/extension/metadata_store.h"
#include "kernel/replica_context.h"

namespace harmonica::kernel {

// Reads what the replica wants to hold; after its schema is known.
Status open_filter(ReplicaContext& context);

// Vectors for some items, in the order of their ids.
using VectorsByItem = std::vector<std::pair<ItemId, ClockVector>>;

// The same knowledge but at these items. limit_exceeded: it becomes too much.
Result<Knowledge> with_vectors(const Knowledge& knowledge, const VectorsByItem& vectors);

// An item for which this replica has made a version.
struct MadeItem {
  ItemId item;
  bool created = false;  // it was not held
};

// What a replica knows once it has made versions (rule R5): its tick in every vector. A replica that knows of some items
// only what others say claims it for those that it has written (rule R29), and of one that it creates it knows nothing
// else: what it has not seen of it is no ancestor (rule R26).
Status claim_own_ticks(const ReplicaContext& context, MetadataTransaction& transaction, std::vector<MadeItem> made,
                       Knowledge& knowledge);

// Whether a new item may get that id, which is not held (rule R26).
Result<bool> may_create(const ReplicaContext& context, MetadataTransaction& transaction, const ItemId& item);

// What becomes of a change of an item that is not held (rule R23).
enum class MoveIn : std::uint8_t {
  kOrdinary,  // as at a replica without a filter
  kAccepted,  // it is taken
  kUnwanted,  // deleted: there is nothing to take
  kLeftOut,   // the source does not know how it went from here
};
Result<MoveIn> move_in(MetadataTransaction& transaction, const ChangeBatch& batch, const ItemChange& change,
                       const Knowledge& knowledge, const Knowledge& forgotten);

// The items held within the batch's range that may have to leave (rule R21): those that it names as moved out, and, if its
// source holds everything, those that do not match and that it does not send. In order.
Result<std::vector<ItemId>> leaving_items(MetadataTransaction& transaction, const ChangeBatch& batch);

// Items held within the batch's range that came in or were written since its request was made; those that it sends apart.
// Nothing may be learned of them (rule R24).
Result<std::vector<ItemId>> items_since_request(MetadataTransaction& transaction, const Knowledge& asked_with,
                                                const ChangeBatch& batch);

// What a replica with a filter knows after the batch: of items held the union, of items not held what the source knows
// instead of what was known (rule R22), and `exceptions` at the items named there. `gone`: held in the transaction still,
// but about to leave; in order.
Result<Knowledge> learned_through_filter(MetadataTransaction& transaction, const Knowledge& knowledge,
                                         const ChangeBatch& batch, const std::vector<ItemId>& gone,
                                         const VectorsByItem& exceptions);

// Gives the replica another filter (rule R28).
Status change_filter(ReplicaContext& context, const std::optional<Filter>& filter);

// A replica has lost what it had made under its former id after a tick (rule R33): whoever let go of an item, or heard that
// it does not match, because of such a version, must not wait for it. Like another filter, it resets what is known of items
// not held; what was remembered of those that left is bounded by that tick. Nothing happens where nothing of the kind is
// known.
Status heed_lost_versions(ReplicaContext& context, const Version& kept);

// The filter with which a replica asks. A store that is written whole and has something of its own meets its first peer
// without one, since it has to find out what both have (docs/adr/0011).
Result<std::optional<Filter>> filter_to_ask_with(const ReplicaContext& context, MetadataTransaction& transaction,
                                                 const ReplicaState& state);

}  // namespace harmonica::kernel
