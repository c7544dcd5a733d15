// The only source of chance in a run: same seed, same run, on every compiler.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace harmonica::simulation {

// xoshiro256** seeded through splitmix64 (Blackman & Vigna, 2018). Thread-compatible.
class Random {
 public:
  explicit Random(std::uint64_t seed) {
    for (std::uint64_t& word : state_) {
      seed += 0x9e3779b97f4a7c15u;
      std::uint64_t mixed = seed;
      mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9u;
      mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebu;
      word = mixed ^ (mixed >> 31);
    }
  }

  std::uint64_t next() {
    const std::uint64_t result = rotate(state_[1] * 5, 7) * 9;
    const std::uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = rotate(state_[3], 45);
    return result;
  }

  // From 0 to `end` - 1; `end` must not be 0.
  std::size_t below(std::size_t end) { return static_cast<std::size_t>(next() % end); }

  // From `first` to `last`, both included.
  std::int64_t between(std::int64_t first, std::int64_t last) {
    return first + static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(last - first + 1));
  }

  bool chance(int permille) { return next() % 1000 < static_cast<std::uint64_t>(permille); }

  template <typename T>
  const T& pick(const std::vector<T>& choices) {
    return choices[below(choices.size())];
  }

 private:
  static std::uint64_t rotate(std::uint64_t word, int bits) { return (word << bits) | (word >> (64 - bits)); }

  std::array<std::uint64_t, 4> state_{};
};

}  // namespace harmonica::simulation
