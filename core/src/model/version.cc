#include "harmonica/version.h"

#include <algorithm>

#include "model/decimal.h"

namespace harmonica {

Tick first_tick_of(std::int64_t unix_ms) {
  constexpr std::int64_t kLastMs = (std::int64_t{1} << (64 - kTickCounterBits)) - 1;
  return static_cast<Tick>(std::clamp<std::int64_t>(unix_ms, 0, kLastMs)) << kTickCounterBits;
}

std::string Version::to_text() const { return replica.to_text() + '@' + std::to_string(tick); }

std::optional<Version> Version::parse(std::string_view text) {
  const std::size_t at = text.find('@');
  if (at == std::string_view::npos) return std::nullopt;
  const auto replica = ReplicaId::parse(text.substr(0, at));
  const auto tick = parse_decimal(text.substr(at + 1));
  if (!replica || !tick) return std::nullopt;
  return Version{*replica, *tick};
}

}  // namespace harmonica
