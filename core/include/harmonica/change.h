// What travels in a one-way session: a request from the destination, batches of changes from the source.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harmonica/filter.h"
#include "harmonica/item.h"
#include "harmonica/knowledge.h"

namespace harmonica {

// Who a replica is, as each side tells the other at the start of a session.
struct ReplicaDescription {
  ReplicaId replica;
  ScopeName scope;  // empty: none yet
  std::uint64_t schema_fingerprint = 0;
  std::int64_t wall_clock_ms = 0;  // since 1970-01-01 UTC
  // Random numbers that tell copies of one replica apart (rule R31), newest first: those that this replica shows, and those
  // that it was shown by the replica that it talks to. At most limits::kMarksShownMax.
  std::vector<std::uint64_t> marks;
  std::vector<std::uint64_t> marks_of_peer;
  std::uint64_t replicas_digest = 0;  // of its replica table
  friend bool operator==(const ReplicaDescription&, const ReplicaDescription&) = default;
};

// What a destination asks for. A batch belongs to one request (rule R7).
struct ChangeRequest {
  ReplicaDescription destination;
  std::uint64_t number = 0;  // of this replica's requests; rises
  Knowledge knowledge;
  std::vector<ItemId> wanted_whole;   // sorted; items whose base the destination lacks (rule R6)
  std::uint64_t batch_bytes_max = 0;  // soft limit on the weight of a batch; one change always fits
  std::optional<Filter> filter;       // what is wanted; nothing: everything
  friend bool operator==(const ChangeRequest&, const ChangeRequest&) = default;
};

// The registers of one item that the destination lacks; existence is always there.
struct ItemChange {
  ItemId item;
  TypeId type = 0;
  ExistenceRegister existence;
  std::vector<UnitRegister> units;  // sorted by unit
  bool whole = false;               // all units are there
  friend bool operator==(const ItemChange&, const ItemChange&) = default;
};

// A closed range of item ids in which the destination gets to know all that the source knows.
struct ChangeBatch {
  ReplicaDescription source;
  ReplicaId destination;
  std::uint64_t request_number = 0;
  ItemIdRange range;
  std::vector<ItemChange> changes;  // sorted by item, all within `range`
  Knowledge made_with;              // the source's knowledge on the range, nothing outside; also what may be learned
  Knowledge forgotten;              // the source's forgotten knowledge on the range
  bool last = false;                // nothing follows: `range` ends at the last id
  std::uint64_t changes_left_estimate = 0;  // about how many changes follow in later batches
  std::optional<Filter> filter;             // of the request
  std::optional<Filter> source_filter;      // what the source itself holds; nothing: everything
  std::vector<ItemId> moved_out;            // sorted; do not match, in a version that the destination does not know

  // The change of that item; null: it is not named.
  const ItemChange* find(const ItemId& item) const;

  friend bool operator==(const ChangeBatch&, const ChangeBatch&) = default;
};

// Who the source of a batch is, seen from its destination (rule R25).
enum class SourceReach : std::uint8_t {
  kEverything,   // holds whatever it knows of
  kSameFilter,   // holds what the destination wants to hold
  kOtherFilter,  // teaches of the items that it sends, and of no others
};
SourceReach reach_of(const ChangeBatch& batch);

// Whether the destination has to find out which of its items the source does not hold before it can apply the batch: the
// source has forgotten deletions that the destination may never have heard of (rule R15). Not if the destination has
// learned of nobody and the source not of it: then the batch names all that the source holds. A source with the same filter
// may know of items that have left it, and cannot name them: so its destination asks whenever there is something to learn.
bool is_recovery_needed(const ChangeRequest& request, const ChangeBatch& batch);

}  // namespace harmonica
