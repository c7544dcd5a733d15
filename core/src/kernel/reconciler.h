// Compares what two replicas hold, by fingerprints of ranges of item ids (docs/protocol.md, "Comparing ranges").
#pragma once

#include <deque>
#include <span>
#include <vector>

#include "kernel/range_sums.h"

namespace harmonica::kernel {

// The answers to a peer's questions, one each, in order. invalid_argument: more questions than limits.h allows, or ranges
// that are empty, overlap or do not rise.
Result<std::vector<RangeAnswer>> answer_questions(RangeSums& sums, std::span<const RangeQuestion> questions);

// Where the two differ.
struct RangeDifferences {
  std::vector<ItemId> only_here;
  std::vector<ItemId> only_there;
  std::vector<ItemId> differing;  // both hold it, in other versions
};

// What the side that asks wants to find.
enum class Interest : std::uint8_t {
  kOnlyHere,    // only what the peer does not hold: ranges in which nothing is held here are not asked about
  kEverything,  // all differences
};

// The side that asks. Each turn: `questions`, the peer's answers to them, `take`; until there are no questions. A few turns
// for any number of items (each narrows a range by the square of limits::kRangePartsMax), and bytes in proportion to the
// differences. Whatever the peer answers, it ends: a range narrows with each turn, and both the depth and the number of
// questions have a limit. (Meyer, "Range-Based Set Reconciliation", 2023.)
class Reconciler {
 public:
  // `sums` must outlive it, and not change. `ranges` rise and do not overlap.
  Reconciler(RangeSums& sums, Interest interest, std::span<const ItemIdRange> ranges);

  // What to ask next; empty: the comparison is done. Asked again before `take`, the same.
  Result<std::vector<RangeQuestion>> questions();
  // invalid_argument: the answers do not fit the questions. limit_exceeded: they do not come to an end.
  Status take(std::span<const RangeAnswer> answers);

  // Each list rises once the comparison is done.
  RangeDifferences take_differences();

 private:
  struct Open {
    ItemIdRange range;
    int depth = 0;
  };
  struct Asked {
    RangeQuestion question;
    int depth = 0;
  };

  Status ask(const Open& open);
  Status ask_in_parts(const Open& open);
  Status take_parts(const Asked& asked, const RangeAnswer& answer);
  Status take_items(const Asked& asked, const RangeAnswer& answer);

  RangeSums& sums_;
  const Interest interest_;
  std::deque<Open> open_;
  std::vector<Asked> asked_;
  std::size_t asked_in_all_ = 0;
  std::size_t told_in_all_ = 0;
  RangeDifferences differences_;
};

}  // namespace harmonica::kernel
