// Knowledge: what a replica holds, as a step function from item ids to clock vectors.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harmonica/clock_vector.h"
#include "harmonica/ids.h"
#include "harmonica/status.h"

namespace harmonica {

// A step function from item ids to clock vectors. `contains(item, version)` means: the owner holds that version or
// something that supersedes it. There is one canonical form (neighbouring steps differ, distinct vectors are stored once
// in order of first use), so equal knowledge is equal member by member and byte by byte on the wire.
// Copies are deep; steps share vectors by index. Thread-compatible. The algebra and its laws: docs/knowledge.md.
// (Malkhi & Terry, "Concise Version Vectors in WinFS", 2005; the vector sets that followed it.)
class Knowledge {
 public:
  // From `first` up to the next step, the vector with this index holds.
  struct Step {
    ItemId first;
    std::uint32_t vector = 0;
    friend bool operator==(const Step&, const Step&) = default;
  };

  // Contains nothing.
  Knowledge();
  // The same vector for every item.
  explicit Knowledge(ClockVector everywhere);

  // Any description in canonical form. invalid_argument: no step, the first one not at the first id, ids that do not rise,
  // an index beyond the vectors. limit_exceeded: more steps, vectors or replicas than limits.h allows.
  static Result<Knowledge> from_steps(std::vector<ClockVector> vectors, std::vector<Step> steps);

  const ClockVector& at(const ItemId& item) const;
  bool contains(const ItemId& item, const Version& version) const { return at(item).contains(version); }
  // Whether every item's vector contains that of `other`; the second form compares within `range` only.
  bool contains(const Knowledge& other) const;
  bool contains(const Knowledge& other, const ItemIdRange& range) const;

  // Union: the component-wise maximum at every item; the second form within `range` only.
  void merge(const Knowledge& other);
  void merge(const Knowledge& other, const ItemIdRange& range);
  void merge_at(const ItemId& item, const ClockVector& vector);
  // Whether the union within `range` surely stays within the limits of limits.h: two harmless ones can make a huge third,
  // as every pair of their vectors may meet. To be asked before merging what a peer has sent. `more` steps are to find
  // room afterwards.
  bool can_merge(const Knowledge& other, const ItemIdRange& range, std::size_t more = 0) const;

  // Replaces the vectors within `range`.
  void assign(const ItemIdRange& range, const ClockVector& vector);

  // Raises one component in every vector: what a replica does with its own ticks.
  void raise_everywhere(const Version& version);

  // Lowers one component to at most that tick in every vector: what a replica gives up that it cannot vouch for.
  void cap(const Version& version);

  // The same inside `range`, nothing outside; and the other way round.
  Knowledge project(const ItemIdRange& range) const;
  Knowledge exclude(const ItemIdRange& range) const;
  // Several at once; they rise.
  Knowledge exclude(std::span<const ItemIdRange> ranges) const;

  bool empty() const;
  // The greatest tick in any vector, of all replicas or of one; 0 if there is none.
  Tick greatest_tick() const;
  Tick greatest_tick(const ReplicaId& replica) const;

  std::span<const Step> steps() const { return steps_; }
  std::span<const ClockVector> vectors() const { return vectors_; }

  // Steps in order, "VECTOR" for the first and "|ID:VECTOR" for each that follows, ID being its first id.
  std::string to_text() const;
  // Reads any description of that form within limits.h, canonical or not; or nothing.
  static std::optional<Knowledge> parse(std::string_view text);

  friend bool operator==(const Knowledge&, const Knowledge&) = default;

 private:
  // These leave the canonical form, and make_canonical() brings it back. It trusts that the first `distinct` vectors
  // differ if there are no others.
  std::uint32_t add_vector(ClockVector vector);
  void replace_steps(const ItemIdRange& range, std::span<const Step> inside);
  void make_canonical(std::size_t distinct);

  std::vector<ClockVector> vectors_;
  std::vector<Step> steps_;
};

}  // namespace harmonica
