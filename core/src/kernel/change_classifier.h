// Decides what one change of one item does at the destination (rules R5 to R11 and R14), as a pure function.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "harmonica/change.h"
#include "harmonica/conflict.h"
#include "harmonica/item.h"
#include "harmonica/schema.h"
#include "harmonica/session.h"

namespace harmonica::kernel {

// How concurrent values are decided in this call.
enum class Resolution : std::uint8_t {
  kAsInSchema,
  kLatest,
  kSourceWins,
  kDestinationWins,
  kDefer,       // every conflict that would be recorded waits for a person
  kKeepLocal,   // a person has decided for what the destination holds
  kTakeRemote,  // ... or for what was sent
};

struct ClassifierInput {
  const ItemType& type;
  const Item* local = nullptr;  // nullptr: the destination holds nothing of the item
  const ItemChange& change;
  const ClockVector& known;                   // destination's knowledge of the item
  const ClockVector& made_with;               // source's
  const ClockVector& forgotten;               // destination's forgotten knowledge of the item
  std::span<const UnitRegister> merge_bases;  // what the destination held before
  const CustomRule& custom_rule;
  Resolution resolution = Resolution::kAsInSchema;
};

enum class Outcome : std::uint8_t {
  kUnchanged,    // nothing to store; the change is learned
  kApplied,      // `item` is to be stored; the change is learned
  kForgotten,    // a tombstone of a life already forgotten: only its versions are kept, as forgotten knowledge
  kWantedWhole,  // the base is missing: left out, and asked for whole (rule R6)
  kDeferred,     // left out until someone decides (rule R11)
  kRefused,      // left out: `refusal` says why (rule R11)
};

struct Classification {
  Outcome outcome = Outcome::kUnchanged;
  Item item;
  std::vector<ConflictRecord> conflicts;  // without id, replica and time; deferred: one, for the first unit in conflict
  std::uint64_t minted = 0;
  Status refusal;
};

// `mint` gives a new version of the destination's at each call.
Classification classify_change(const ClassifierInput& input, const std::function<Version()>& mint);

}  // namespace harmonica::kernel
