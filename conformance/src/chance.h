// Numbers by chance from a seed: SplitMix64 (Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators").
#pragma once

#include <cstddef>
#include <cstdint>

namespace harmonica::conformance {

class Chance {
 public:
  explicit Chance(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15u;
    std::uint64_t mixed = state_;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9u;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebu;
    return mixed ^ (mixed >> 31);
  }
  // From 0 to `end` - 1; `end` must not be 0.
  std::size_t below(std::size_t end) { return static_cast<std::size_t>(next() % end); }
  bool strikes(int permille) { return next() % 1000 < static_cast<std::uint64_t>(permille); }

 private:
  std::uint64_t state_;
};

}  // namespace harmonica::conformance
