// The numbers that enumerators have on the wire; those of C++ may change, these may not.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "harmonica/item.h"
#include "harmonica/range_comparison.h"
#include "harmonica/schema.h"
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
    Numbered<Existence>{4, Existence::kErased},
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

inline constexpr std::array kValueKinds = {
    Numbered<ValueKind>{1, ValueKind::kBoolean}, Numbered<ValueKind>{2, ValueKind::kInteger},
    Numbered<ValueKind>{3, ValueKind::kReal},    Numbered<ValueKind>{4, ValueKind::kText},
    Numbered<ValueKind>{5, ValueKind::kBytes},   Numbered<ValueKind>{6, ValueKind::kIds},
    Numbered<ValueKind>{7, ValueKind::kList},
};

inline constexpr std::array kUnitRoles = {
    Numbered<UnitRole>{0, UnitRole::kNone}, Numbered<UnitRole>{1, UnitRole::kParent},
    Numbered<UnitRole>{2, UnitRole::kName}, Numbered<UnitRole>{3, UnitRole::kPosition},
    Numbered<UnitRole>{4, UnitRole::kKey},  Numbered<UnitRole>{5, UnitRole::kReference},
};

// 0: none of its own.
inline constexpr std::array kConflictRules = {
    Numbered<ConflictRule>{1, ConflictRule::kLatest},
    Numbered<ConflictRule>{2, ConflictRule::kManual},
    Numbered<ConflictRule>{3, ConflictRule::kEarliest},
    Numbered<ConflictRule>{4, ConflictRule::kMax},
    Numbered<ConflictRule>{5, ConflictRule::kMin},
    Numbered<ConflictRule>{6, ConflictRule::kUnion},
    Numbered<ConflictRule>{7, ConflictRule::kTextMerge},
    Numbered<ConflictRule>{8, ConflictRule::kPriority},
    Numbered<ConflictRule>{9, ConflictRule::kCounter},
    Numbered<ConflictRule>{10, ConflictRule::kAdditive},
    Numbered<ConflictRule>{11, ConflictRule::kAverage},
    Numbered<ConflictRule>{12, ConflictRule::kSourceWins},
    Numbered<ConflictRule>{13, ConflictRule::kDestinationWins},
    Numbered<ConflictRule>{14, ConflictRule::kCustom},
};

inline constexpr std::array kDeletionRules = {
    Numbered<DeletionRule>{0, DeletionRule::kEditWins},
    Numbered<DeletionRule>{1, DeletionRule::kDeleteWins},
    Numbered<DeletionRule>{2, DeletionRule::kLatest},
};

inline constexpr std::array kConflictRecordings = {
    Numbered<ConflictRecording>{0, ConflictRecording::kRecorded},
    Numbered<ConflictRecording>{1, ConflictRecording::kSilent},
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
