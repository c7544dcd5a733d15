// What the replicas of a scope know of each other besides items: their names, which of them came from which, and who has
// left.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "harmonica/ids.h"
#include "harmonica/status.h"
#include "harmonica/version.h"

namespace harmonica {

struct ReplicaRow {
  ReplicaId replica;
  std::string name;           // of its device, for people; UTF-8, may be empty
  std::int64_t named_ms = 0;  // when it was given, since 1970-01-01 UTC: of two names the later one counts
  // The id that it had before, zero if none: it was restored from a backup, or is a copy. What it had made under that id up
  // to `kept` it has left as it is, and all that came later it has made anew (rule R33).
  ReplicaId former;
  Tick kept = 0;
  bool copied = false;   // another device may have gone on under the former id
  bool retired = false;  // has left, and makes no changes any more
  Tick last = 0;         // of a retired one: the greatest tick of it that anybody has known
  friend bool operator==(const ReplicaRow&, const ReplicaRow&) = default;
};

// A row for each replica that has something to tell. Sessions exchange tables as a whole, and only when they differ.
// Rows are joined member by member, so in whatever order replicas meet all come to have the same table. Canonical: sorted
// by replica. Thread-compatible.
class ReplicaTable {
 public:
  ReplicaTable() = default;
  // Rows in any order. invalid_argument: a zero replica, one that is there twice, or one that came from itself.
  // limit_exceeded: more rows, or longer names, than limits.h allows.
  static Result<ReplicaTable> from_rows(std::vector<ReplicaRow> rows);

  std::span<const ReplicaRow> rows() const { return rows_; }
  // Null: nothing is known of it.
  const ReplicaRow* find(const ReplicaId& replica) const;
  // Joins a row, or all of another table. Whether that changed anything. limit_exceeded: it would become too large.
  Result<bool> merge(const ReplicaRow& row);
  Result<bool> merge(const ReplicaTable& other);

  // Over all of it; 0 for an empty one. Equal tables have equal digests on every build.
  std::uint64_t digest() const;

  friend bool operator==(const ReplicaTable&, const ReplicaTable&) = default;

 private:
  std::vector<ReplicaRow> rows_;
};

}  // namespace harmonica
