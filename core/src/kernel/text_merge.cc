#include "kernel/text_merge.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "harmonica/limits.h"

namespace harmonica::kernel {
namespace {

using Word = std::string_view;

// Bytes beyond ASCII belong to words, so no character is cut in two.
bool is_word_byte(char c) {
  const auto byte = static_cast<std::uint8_t>(c);
  return byte >= 0x80 || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

// Words, and each other character alone.
std::vector<Word> words_of(std::string_view text) {
  std::vector<Word> words;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at + 1;
    if (is_word_byte(text[at])) {
      while (end < text.size() && is_word_byte(text[end])) ++end;
    }
    words.push_back(text.substr(at, end - at));
    at = end;
  }
  return words;
}

// Words [first, last) of the base became `words`.
struct Hunk {
  std::size_t first = 0;
  std::size_t last = 0;
  std::vector<Word> words;
  friend bool operator==(const Hunk&, const Hunk&) = default;
};

// What a shortest script of edits removes and inserts, found by the greedy search along diagonals (Myers, "An O(ND)
// Difference Algorithm and Its Variations", 1986).
class Comparison {
 public:
  Comparison(std::span<const Word> from, std::span<const Word> to)
      : from_(from), to_(to), removed_(from.size()), inserted_(to.size()) {}

  // Nothing if the script has more steps than the limit.
  std::optional<std::vector<Hunk>> run() {
    const std::optional<std::size_t> steps = search();
    if (!steps) return std::nullopt;
    trace_back(*steps);
    return hunks();
  }

 private:
  using Place = std::int64_t;

  // How far along `from` a diagonal is reached with so many steps; diagonals run from -steps to steps.
  Place& reached(std::size_t steps, Place diagonal) {
    return rows_[steps][static_cast<std::size_t>(diagonal + static_cast<Place>(steps))];
  }

  // Whether the last of the steps to a diagonal takes in a word of `to`, or else drops one of `from`.
  bool last_step_inserts(std::size_t steps, Place diagonal) {
    const auto edge = static_cast<Place>(steps);
    if (diagonal == -edge) return true;
    return diagonal != edge && reached(steps - 1, diagonal - 1) < reached(steps - 1, diagonal + 1);
  }

  bool same_words(Place x, Place y) const {
    const bool inside = x < static_cast<Place>(from_.size()) && y >= 0 && y < static_cast<Place>(to_.size());
    return inside && from_[static_cast<std::size_t>(x)] == to_[static_cast<std::size_t>(y)];
  }

  std::optional<std::size_t> search() {
    const auto size = static_cast<Place>(from_.size());
    const Place goal = size - static_cast<Place>(to_.size());
    for (std::size_t steps = 0; steps <= limits::kTextMergeStepsMax; ++steps) {
      rows_.emplace_back(2 * steps + 1);
      const auto edge = static_cast<Place>(steps);
      for (Place diagonal = -edge; diagonal <= edge; diagonal += 2) {
        Place x = 0;
        if (steps > 0) {
          x = last_step_inserts(steps, diagonal) ? reached(steps - 1, diagonal + 1) : reached(steps - 1, diagonal - 1) + 1;
        }
        while (same_words(x, x - diagonal)) ++x;
        reached(steps, diagonal) = x;
        if (diagonal == goal && x >= size) return steps;
      }
    }
    return std::nullopt;
  }

  void trace_back(std::size_t steps) {
    Place diagonal = static_cast<Place>(from_.size()) - static_cast<Place>(to_.size());
    for (; steps > 0; --steps) {
      const bool inserts = last_step_inserts(steps, diagonal);
      diagonal += inserts ? 1 : -1;
      const Place x = reached(steps - 1, diagonal);
      if (inserts) {
        inserted_[static_cast<std::size_t>(x - diagonal)] = true;
      } else {
        removed_[static_cast<std::size_t>(x)] = true;
      }
    }
  }

  std::vector<Hunk> hunks() const {
    std::vector<Hunk> hunks;
    std::size_t x = 0;
    std::size_t y = 0;
    while (x < from_.size() || y < to_.size()) {
      Hunk hunk{x, x, {}};
      while (x < from_.size() && removed_[x]) ++x;
      while (y < to_.size() && inserted_[y]) hunk.words.push_back(to_[y++]);
      hunk.last = x;
      if (hunk.first != hunk.last || !hunk.words.empty()) hunks.push_back(std::move(hunk));
      if (x < from_.size()) ++x;
      if (y < to_.size()) ++y;
    }
    return hunks;
  }

  std::span<const Word> from_;
  std::span<const Word> to_;
  std::vector<bool> removed_;
  std::vector<bool> inserted_;
  std::vector<std::vector<Place>> rows_;
};

void append(std::string& text, std::span<const Word> words) {
  for (const Word word : words) text += word;
}

}  // namespace

std::optional<std::string> merge_texts(std::string_view base, std::string_view one, std::string_view other) {
  const std::size_t longest = std::max({base.size(), one.size(), other.size()});
  if (longest > limits::kTextMergeBytesMax) return std::nullopt;
  const std::vector<Word> words = words_of(base);
  const std::vector<Word> one_words = words_of(one);
  const std::vector<Word> other_words = words_of(other);
  const auto first = Comparison(words, one_words).run();
  const auto second = Comparison(words, other_words).run();
  if (!first || !second) return std::nullopt;
  std::string merged;
  std::size_t copied = 0;
  auto a = first->begin();
  auto b = second->begin();
  while (a != first->end() || b != second->end()) {
    const bool both = a != first->end() && b != second->end();
    const bool same = both && *a == *b;
    if (both && !same && a->first <= b->last && b->first <= a->last) return std::nullopt;
    const bool takes_a = b == second->end() || (both && a->first <= b->first);
    const Hunk& hunk = takes_a ? *a : *b;
    append(merged, std::span(words).subspan(copied, hunk.first - copied));
    append(merged, hunk.words);
    copied = hunk.last;
    if (takes_a || same) ++a;
    if (!takes_a || same) ++b;
  }
  append(merged, std::span(words).subspan(copied));
  return merged;
}

}  // namespace harmonica::kernel
