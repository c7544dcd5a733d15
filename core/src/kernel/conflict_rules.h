// What the conflict rules of the schema make of two concurrent values, as pure functions (rules R8 and R9).
#pragma once

#include <cstdint>
#include <optional>

#include "harmonica/conflict.h"
#include "harmonica/item.h"
#include "harmonica/schema.h"

namespace harmonica::kernel {

// Two concurrent registers of one unit, in the order of their versions.
struct RegisterPair {
  const Register& lesser;
  const Register& greater;
};

enum class Loss : std::uint8_t {
  kNone,      // the outcome holds what both sides meant
  kRecorded,  // a side whose value is not the outcome goes into a conflict record
};

struct RuleOutcome {
  Value value;
  Loss loss = Loss::kRecorded;
};

// What else a rule may look at.
struct RuleInput {
  const Unit& unit;
  ConflictRule rule;  // not kManual and not kCustom
  RegisterPair sides;
  bool source_is_greater = false;  // kSourceWins, kDestinationWins
  // kPriority: the values of the priority unit, beside the lesser and the greater side.
  Value lesser_priority;
  Value greater_priority;
  const Value* base = nullptr;  // kTextMerge: the text that both sides come from; null: not known any more
};

// Where the rule cannot be applied to these values, the outcome is that of `latest`.
RuleOutcome resolve(const RuleInput& input);

// Whether `latest` decides between two outcomes of the rule, so that resolving ends.
bool needs_an_end(ConflictRule rule);

}  // namespace harmonica::kernel
