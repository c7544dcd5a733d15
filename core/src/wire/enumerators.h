// The numbers that enumerators have on the wire; those of C++ may change, these may not.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "harmonica/item.h"
#include "harmonica/range_comparison.h"
#include "harmonica/session.h"
#include "harmonica/status.h"

namespace harmonica::wire {

template <typename Enum>
struct Numbered {
  std::uint32_t number;
  Enum value;
};

inline constexpr std::array kExistences = {
    Numbered<Existence>{1, Existence::kCreated},
    Numbered<Existence>{2, Existence::kRestored},
    Numbered<Existence>{3, Existence::kDeleted},
};

inline constexpr std::array kOrigins = {
    Numbered<Origin>{0, Origin::kWritten},
    Numbered<Origin>{1, Origin::kMadeByRule},
};

inline constexpr std::array kOnConflicts = {
    Numbered<OnConflict>{0, OnConflict::kAsInSchema},      Numbered<OnConflict>{1, OnConflict::kManual},
    Numbered<OnConflict>{2, OnConflict::kLatest},          Numbered<OnConflict>{3, OnConflict::kSourceWins},
    Numbered<OnConflict>{4, OnConflict::kDestinationWins},
};

inline constexpr std::array kRangeAnswerKinds = {
    Numbered<RangeAnswerKind>{0, RangeAnswerKind::kEqual},
    Numbered<RangeAnswerKind>{1, RangeAnswerKind::kParts},
    Numbered<RangeAnswerKind>{2, RangeAnswerKind::kItems},
};

inline constexpr std::array kStatusCodes = {
    Numbered<StatusCode>{1, StatusCode::kInvalidArgument},
    Numbered<StatusCode>{2, StatusCode::kNotFound},
    Numbered<StatusCode>{3, StatusCode::kCorruption},
    Numbered<StatusCode>{4, StatusCode::kUnsupported},
    Numbered<StatusCode>{5, StatusCode::kIo},
    Numbered<StatusCode>{6, StatusCode::kUnavailable},
    Numbered<StatusCode>{7, StatusCode::kUnauthenticated},
    Numbered<StatusCode>{8, StatusCode::kPermissionDenied},
    Numbered<StatusCode>{9, StatusCode::kClockSkew},
    Numbered<StatusCode>{10, StatusCode::kScopeMismatch},
    Numbered<StatusCode>{11, StatusCode::kGuard},
    Numbered<StatusCode>{12, StatusCode::kLimitExceeded},
    Numbered<StatusCode>{13, StatusCode::kCancelled},
    Numbered<StatusCode>{14, StatusCode::kInternal},
};

template <typename Enum, std::size_t kCount>
std::optional<Enum> find_value(const std::array<Numbered<Enum>, kCount>& table, std::uint32_t number) {
  for (const auto& row : table) {
    if (row.number == number) return row.value;
  }
  return std::nullopt;
}

// A value outside the table gets the last number.
template <typename Enum, std::size_t kCount>
std::uint32_t number_of(const std::array<Numbered<Enum>, kCount>& table, Enum value) {
  for (const auto& row : table) {
    if (row.value == value) return row.number;
  }
  return table.back().number;
}

}  // namespace harmonica::wire
