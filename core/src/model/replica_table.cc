#include "harmonica/replica_table.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "harmonica/bytes.h"
#include "harmonica/limits.h"
#include "model/digest.h"

namespace harmonica {
namespace {

struct ByReplica {
  bool operator()(const ReplicaRow& row, const ReplicaId& replica) const { return row.replica < replica; }
};

Status check_row(const ReplicaRow& row) {
  if (row.replica.is_zero()) return {StatusCode::kInvalidArgument, "a row of the replica table names no replica"};
  if (row.replica == row.former) {
    return {StatusCode::kInvalidArgument, "replica " + row.replica.to_text() + " says that it came from itself"};
  }
  if (row.name.size() > limits::kDeviceNameBytesMax) {
    return {StatusCode::kLimitExceeded, "replica " + row.replica.to_text() + ": a name of " +
                                            std::to_string(row.name.size()) + " bytes, and " +
                                            std::to_string(limits::kDeviceNameBytesMax) + " are allowed"};
  }
  return {};
}

Status too_many() {
  return {StatusCode::kLimitExceeded,
          "a scope has at most " + std::to_string(limits::kReplicasMax) + " replicas over its life; this one has had them"};
}

// Each member by a maximum, so that the order does not count.
ReplicaRow joined(const ReplicaRow& a, const ReplicaRow& b) {
  ReplicaRow row = a;
  std::tie(row.named_ms, row.name) = std::max(std::tie(a.named_ms, a.name), std::tie(b.named_ms, b.name));
  std::tie(row.former, row.kept) = std::max(std::tie(a.former, a.kept), std::tie(b.former, b.kept));
  row.copied = a.copied || b.copied;
  row.retired = a.retired || b.retired;
  row.last = std::max(a.last, b.last);
  return row;
}

}  // namespace

Result<ReplicaTable> ReplicaTable::from_rows(std::vector<ReplicaRow> rows) {
  if (rows.size() > limits::kReplicasMax) {
    return Status(StatusCode::kLimitExceeded,
                  std::to_string(rows.size()) + " replicas, and " + std::to_string(limits::kReplicasMax) + " are allowed");
  }
  std::sort(rows.begin(), rows.end(), [](const ReplicaRow& a, const ReplicaRow& b) { return a.replica < b.replica; });
  for (std::size_t index = 0; index < rows.size(); ++index) {
    HARMONICA_RETURN_IF_ERROR(check_row(rows[index]));
    if (index > 0 && rows[index].replica == rows[index - 1].replica) {
      return Status(StatusCode::kInvalidArgument, "replica " + rows[index].replica.to_text() + " has two rows");
    }
  }
  ReplicaTable table;
  table.rows_ = std::move(rows);
  return table;
}

const ReplicaRow* ReplicaTable::find(const ReplicaId& replica) const {
  const auto place = std::lower_bound(rows_.begin(), rows_.end(), replica, ByReplica());
  return place == rows_.end() || place->replica != replica ? nullptr : &*place;
}

Result<bool> ReplicaTable::merge(const ReplicaRow& row) {
  HARMONICA_RETURN_IF_ERROR(check_row(row));
  const auto place = std::lower_bound(rows_.begin(), rows_.end(), row.replica, ByReplica());
  if (place == rows_.end() || place->replica != row.replica) {
    if (rows_.size() >= limits::kReplicasMax) {
      return too_many();
    }
    rows_.insert(place, row);
    return true;
  }
  ReplicaRow both = joined(*place, row);
  const bool changed = both != *place;
  *place = std::move(both);
  return changed;
}

Result<bool> ReplicaTable::merge(const ReplicaTable& other) {
  std::vector<ReplicaRow> merged;
  merged.reserve(std::max(rows_.size(), other.rows_.size()));
  auto mine = rows_.begin();
  for (const ReplicaRow& theirs : other.rows_) {
    while (mine != rows_.end() && mine->replica < theirs.replica) merged.push_back(*mine++);
    const bool both = mine != rows_.end() && mine->replica == theirs.replica;
    merged.push_back(both ? joined(*mine++, theirs) : theirs);
  }
  merged.insert(merged.end(), mine, rows_.end());
  if (merged.size() > limits::kReplicasMax) return too_many();
  const bool changed = merged != rows_;
  rows_ = std::move(merged);
  return changed;
}

std::uint64_t ReplicaTable::digest() const {
  if (rows_.empty()) return 0;
  StableDigest digest;
  for (const ReplicaRow& row : rows_) {
    digest.add(row.replica.view());
    digest.add(as_bytes(row.name));
    digest.add(static_cast<std::uint64_t>(row.named_ms));
    digest.add(row.former.view());
    digest.add(row.kept);
    digest.add(std::uint64_t{row.copied});
    digest.add(std::uint64_t{row.retired});
    digest.add(row.last);
  }
  return digest.value();
}

}  // namespace harmonica
