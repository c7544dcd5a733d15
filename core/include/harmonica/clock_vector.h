// Clock vectors: for each replica the greatest tick known.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harmonica/version.h"

namespace harmonica {

// For each replica the greatest tick known; a replica that is absent counts as 0. Canonical: sorted by replica, no zero
// ticks, so equal vectors are equal member by member. Thread-compatible.
// (Parker et al., "Detection of Mutual Inconsistency in Distributed Systems", 1983.)
class ClockVector {
 public:
  struct Entry {
    ReplicaId replica;
    Tick tick = 0;
    friend bool operator==(const Entry&, const Entry&) = default;
  };

  ClockVector() = default;
  // Entries in any order; of several for one replica the greatest counts.
  explicit ClockVector(std::vector<Entry> entries);

  Tick at(const ReplicaId& replica) const;
  bool contains(const Version& version) const { return version.tick <= at(version.replica); }
  // Whether every component is at least that of `other`.
  bool contains(const ClockVector& other) const;

  // Raises one component; a smaller tick changes nothing.
  void raise(const Version& version);
  // Lowers one component; a greater tick changes nothing.
  void cap(const Version& version);
  // Component-wise maximum.
  void merge(const ClockVector& other);

  bool empty() const { return entries_.empty(); }
  std::span<const Entry> entries() const { return entries_; }
  // 0 when empty.
  Tick greatest_tick() const;

  // "{REPLICA:TICK,REPLICA:TICK}" in replica order; "{}" when empty.
  std::string to_text() const;
  static std::optional<ClockVector> parse(std::string_view text);

  friend bool operator==(const ClockVector&, const ClockVector&) = default;

 private:
  std::vector<Entry> entries_;
};

// Component-wise minimum: what both contain.
ClockVector common(const ClockVector& a, const ClockVector& b);

}  // namespace harmonica
