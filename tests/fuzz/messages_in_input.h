// Takes an input apart into messages, each behind its length in two bytes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>

#include "harmonica/bytes.h"

namespace harmonica {

class MessagesInInput {
 public:
  explicit MessagesInInput(ByteView input) : rest_(input) {}

  // Nothing at the input's end. The last message may be shorter than it says.
  std::optional<ByteView> next() {
    if (rest_.size() < 2) return std::nullopt;
    const std::size_t size = std::min<std::size_t>(std::size_t{rest_[0]} << 8 | rest_[1], rest_.size() - 2);
    const ByteView message = rest_.subspan(2, size);
    rest_ = rest_.subspan(2 + size);
    return message;
  }

 private:
  ByteView rest_;
};

}  // namespace harmonica
