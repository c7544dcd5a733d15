// What the kernel talks to: one replica's side of a one-way session, near or far.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harmonica/change.h"
#include "harmonica/range_comparison.h"
#include "harmonica/replica_table.h"
#include "harmonica/schema.h"
#include "harmonica/session.h"
#include "harmonica/status.h"

namespace harmonica {

// An item that was left out of a batch: nothing of it was learned, and it is offered again in the next session. `status`
// says why, without naming the item.
struct ItemFailure {
  ItemId item;
  Status status;
  friend bool operator==(const ItemFailure&, const ItemFailure&) = default;
};

// What applying one batch did. As in SessionReport, conflict records count in `received` and `unchanged` only.
struct BatchReport {
  std::uint64_t received = 0;  // changes in the batch
  std::uint64_t created = 0;
  std::uint64_t updated = 0;
  std::uint64_t deleted = 0;
  std::uint64_t unchanged = 0;  // known already, or equal
  std::uint64_t conflicts = 0;  // decided and recorded
  std::uint64_t deferred = 0;   // waiting for a decision
  std::uint64_t minted = 0;     // registers whose outcome was a new version
  std::vector<ItemFailure> failures;
  // What the destination has to know of the source before it can apply the batch; empty: it is applied.
  std::vector<RangeQuestion> questions;
  std::uint64_t moved_out = 0;  // no longer match the destination's filter: gone here, and nowhere else

  void add(const BatchReport& other);
  friend bool operator==(const BatchReport&, const BatchReport&) = default;
};

// A replica whose items are about to be compared.
struct ComparedReplica {
  ReplicaDescription replica;
  Knowledge knowledge;
  std::optional<Filter> filter;  // what it holds; nothing: everything
  friend bool operator==(const ComparedReplica&, const ComparedReplica&) = default;
};

// How a destination handles conflicts and refusals in one session.
struct ApplyOptions {
  OnConflict on_conflict = OnConflict::kAsInSchema;
  std::uint64_t batch_bytes_max = 0;         // of the batches asked for; 0: the default
  std::optional<ReplicaDescription> source;  // where it is known beforehand
  friend bool operator==(const ApplyOptions&, const ApplyOptions&) = default;
};

// One replica in sessions, one after the other. Calls come in the order begin, any number of batches, end; an error ends
// the session, and `end` is still called. Whoever finds in a session that it is a copy of another replica takes a new id,
// and says unavailable: the session is to be run again. Thread-compatible. (After the providers of the Microsoft Sync
// Framework.)
class Provider {
 public:
  virtual ~Provider() = default;

  // Who this is, where that is known without asking a peer; otherwise nothing.
  virtual Result<std::optional<ReplicaDescription>> describe() { return std::optional<ReplicaDescription>(); }

  // Whether there is a channel between this object and the replica.
  virtual bool is_far() const { return false; }

  // The replica table, where it is known without asking a peer; otherwise nothing. At any time, and changes nothing.
  virtual Result<std::optional<ReplicaTable>> replicas() { return std::optional<ReplicaTable>(); }

  // Hands the replica table of the other side of a session to a provider that is far away, so that messages need not repeat
  // what both ends know. Before the session begins.
  virtual void share_replicas(const ReplicaTable& near) { static_cast<void>(near); }

  // Begins as a destination: detects local changes and says what is held.
  // guard: the changes look like a mistake; nothing was recorded.
  virtual Result<ChangeRequest> begin_destination(const ApplyOptions& options) = 0;

  // Begins as a source for that request: detects local changes. scope_mismatch: the two belong to different scopes;
  // clock_skew: the clocks are too far apart; unsupported: the schemas differ and have not been introduced to each other,
  // or cannot be (`introduce_schemas`), or the request's filter names what this replica's schema does not have.
  virtual Result<ReplicaDescription> begin_source(const ChangeRequest& request) = 0;

  // The batch that starts at `first`. Only as a source.
  virtual Result<ChangeBatch> get_change_batch(const ItemId& first) = 0;

  // Says that the batch at `first` will be wanted next. A provider that can fetches it meanwhile.
  virtual void prefetch_change_batch(const ItemId& first) { static_cast<void>(first); }

  // Applies a batch; what it teaches is durable when this returns, or, for a store that is written whole, when `end`
  // returns. invalid_argument: the batch was made for another destination, request or range, or contradicts itself. Only as
  // a destination.
  virtual Result<BatchReport> process_change_batch(const ChangeBatch& batch) = 0;

  // Whether what has been received can stand without the rest of the session. Only as a destination.
  virtual bool can_stop() const { return true; }

  // Begins to be compared with the replica that asks: detects local changes. Of `request` only the destination, its number
  // and its filter count. Questions follow, about items that match both filters, and `end`. Errors as of `begin_source`.
  virtual Result<ComparedReplica> begin_comparison(const ChangeRequest& request) = 0;

  // Whether this replica holds the same within some ranges. As a source, or while it is compared. invalid_argument,
  // limit_exceeded: the questions are none.
  virtual Result<std::vector<RangeAnswer>> answer_questions(std::span<const RangeQuestion> questions) = 0;

  // Goes on with the batch that was processed last, whose report had questions: one answer for each. Reports as that call
  // would have. invalid_argument: the answers do not fit; limit_exceeded: they come to no end. Nothing of the batch is
  // learned then. Only as a destination.
  virtual Result<BatchReport> process_answers(std::span<const RangeAnswer> answers) = 0;

  // The schema of the replica; empty: it has none yet, and takes up the first that it meets. Ends the session.
  virtual Result<Schema> schema() = 0;

  // Compares the peer's schema with the own one, and remembers that the two are compatible, durably: sessions between them
  // begin without more ado from then on. A replica without a store takes up what the peer's has more. Answers with the own
  // schema as it is now. Ends the session. unsupported: they contradict each other (`check_compatible`).
  virtual Result<Schema> meet_schema(const Schema& peer) = 0;

  // Joins the peer's replica table with the own one, and answers with that. Where it says that another replica is a copy of
  // this one, or that this one has left, this one takes another id. Ends the session.
  virtual Result<ReplicaTable> meet_replicas(const ReplicaTable& peer) = 0;

  // Ends the session: writes what has been received so far. Its report holds what became known only now.
  virtual Result<BatchReport> end() = 0;
};

// Lets two replicas get to know each other's schemas: what a session does once a source does not know that of its
// destination. Errors as of `meet_schema`.
Status introduce_schemas(Provider& source, Provider& destination);

// Lets both come to have the same replica table: what a session does where their digests differ.
Status introduce_replicas(Provider& source, Provider& destination);

// Where one of the two is far away, and the other is not, shares the replica table of the near one with it.
Status share_replicas(Provider& source, Provider& destination);

}  // namespace harmonica
