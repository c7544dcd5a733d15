#include "kernel/change_classifier.h"

#include <algorithm>
#include <string>
#include <utility>

#include "kernel/conflict_records.h"
#include "kernel/conflict_rules.h"
#include "kernel/erasure.h"
#include "kernel/forgotten_life.h"
#include "kernel/item_versions.h"
#include "kernel/merge_bases.h"
#include "kernel/record_items.h"
#include "kernel/unknown_type.h"
#include "kernel/value_faults.h"

namespace harmonica::kernel {
namespace {

std::string_view rule_name(Resolution resolution, std::string_view as_in_schema) {
  switch (resolution) {
    case Resolution::kAsInSchema:
    case Resolution::kLatest:
    case Resolution::kSourceWins:
    case Resolution::kDestinationWins:
    case Resolution::kDefer:
      break;
    case Resolution::kKeepLocal:
      return "decided: keep local";
    case Resolution::kTakeRemote:
      return "decided: take remote";
  }
  return as_in_schema;
}

// Two concurrent registers of a unit, and how they are decided.
struct UnitConflict {
  UnitId unit;
  const Register& held;
  const Register& sent;
  Loss loss;
  std::string_view rule;

  bool sent_is_greater() const { return sent.version > held.version; }
  RegisterPair sides() const { return sent_is_greater() ? RegisterPair{held, sent} : RegisterPair{sent, held}; }
};

// One change while it is decided. Registers of `item` start as the destination's and become the outcome's.
class ChangeDecision {
 public:
  ChangeDecision(const ClassifierInput& input, const std::function<Version()>& mint) : input_(input), mint_(mint) {}

  Classification run() {
    if (input_.local == nullptr) return classify_unheld();
    result_.item = *input_.local;
    for (const UnitRegister& incoming : input_.change.units) decide_unit(incoming);
    decide_existence();
    if (left_out_) return std::move(*left_out_);
    result_.outcome = changed_ ? Outcome::kApplied : Outcome::kUnchanged;
    return std::move(result_);
  }

 private:
  const ExistenceRegister& sent_existence() const { return input_.change.existence; }

  bool sent_is_known(const Version& version) const { return input_.known.contains(version); }
  bool held_is_known(const Version& version) const { return input_.made_with.contains(version); }

  Version minted() {
    ++result_.minted;
    changed_ = true;
    return mint_();
  }

  void take(UnitId unit, const Register& content) {
    result_.item.at(unit) = content;
    changed_ = true;
  }

  void record(UnitId unit, ConflictSide kept, ConflictSide lost, std::string_view rule) {
    result_.conflicts.push_back({.item = input_.change.item,
                                 .type = input_.change.type,
                                 .unit = unit,
                                 .kept = std::move(kept),
                                 .lost = std::move(lost),
                                 .rule = std::string(rule)});
  }

  void defer(UnitId unit, ConflictSide local, ConflictSide remote) {
    if (left_out_) return;
    record(unit, std::move(local), std::move(remote), "manual");
    Classification waiting;
    waiting.outcome = Outcome::kDeferred;
    waiting.conflicts.push_back(std::move(result_.conflicts.back()));
    waiting.conflicts.back().state = ConflictState::kDeferred;
    waiting.conflicts.back().deferred = input_.change;
    waiting.conflicts.back().deferred_made_with = input_.made_with;
    left_out_ = std::move(waiting);
  }

  void refuse(StatusCode code, std::string why) {
    if (left_out_) return;
    Classification refused;
    refused.outcome = Outcome::kRefused;
    refused.refusal = {code, std::move(why)};
    left_out_ = std::move(refused);
  }

  void refuse_second_content(const std::string& what, const Version& version) {
    refuse(StatusCode::kCorruption, what + " has two contents under the version " + version.to_text() +
                                        ": that replica was copied together with its metadata, or the peer is damaged");
  }

  void refuse_unknown(const std::string& what) {
    refuse(StatusCode::kUnsupported, what + " is in conflict, and " + std::string(kNeedsNewerSchema));
  }

  void leave_undecided(const Unit& unit, const std::string& why) {
    refuse(StatusCode::kUnsupported, "unit " + std::to_string(unit.id) + " '" + unit.name + "' is in conflict, and " + why);
  }

  void decide_unit(const UnitRegister& incoming) {
    const Register& sent = incoming.content;
    const Register* held = input_.local->find(incoming.unit);
    if (held != nullptr && held->version == sent.version && !(held->value == sent.value)) {
      return refuse_second_content("unit " + std::to_string(incoming.unit), sent.version);
    }
    if (sent_is_known(sent.version)) return;
    if (held == nullptr || held_is_known(held->version)) return take(incoming.unit, sent);
    if (held->value == sent.value) {
      if (sent.version > held->version) take(incoming.unit, sent);
      return;
    }
    decide_unit_conflict(incoming.unit, *held, sent);
  }

  void decide_unit_conflict(UnitId unit_id, const Register& held, const Register& sent) {
    const Unit* unit = input_.type.find_unit(unit_id);
    if (unit == nullptr) return refuse_unknown("unit " + std::to_string(unit_id));
    const bool silent = unit->recording == ConflictRecording::kSilent;
    const ConflictRule rule = rule_for(*unit);
    const std::string_view name = rule_name(input_.resolution, to_text(rule));
    UnitConflict conflict{unit_id, held, sent, silent ? Loss::kNone : Loss::kRecorded, name};
    // Where nothing is lost there is nothing to decide, whoever was to do it.
    const RuleOutcome as_in_schema = outcome_of(*unit, input_.type.rule_of(*unit), conflict);
    if (as_in_schema.loss == Loss::kNone) {
      conflict.loss = Loss::kNone;
      return settle_unit(conflict, as_in_schema.value, Origin::kMadeByRule);
    }
    if (!silent && input_.resolution == Resolution::kKeepLocal) return settle_unit(conflict, held.value, Origin::kWritten);
    if (!silent && input_.resolution == Resolution::kTakeRemote) return settle_unit(conflict, sent.value, Origin::kWritten);
    if (!silent && rule == ConflictRule::kManual) {
      return defer(unit_id, side_of(unit_id, held), side_of(unit_id, sent));
    }
    if (rule == ConflictRule::kCustom) return decide_custom(*unit, conflict);
    settle_unit(conflict, outcome_of(*unit, rule, conflict).value, Origin::kMadeByRule);
  }

  RuleOutcome outcome_of(const Unit& unit, ConflictRule rule, const UnitConflict& conflict) const {
    RuleInput input{unit, rule, conflict.sides(), conflict.sent_is_greater(), {}, {}, nullptr};
    if (rule == ConflictRule::kPriority) {
      input.lesser_priority = priority_of(unit, !conflict.sent_is_greater());
      input.greater_priority = priority_of(unit, conflict.sent_is_greater());
    }
    if (rule == ConflictRule::kTextMerge) input.base = find_merge_base(input_.merge_bases, unit.id, input_.made_with);
    return resolve(input);
  }

  ConflictRule rule_for(const Unit& unit) const {
    const bool is_structural = unit.role == UnitRole::kParent || unit.role == UnitRole::kPosition;
    switch (input_.resolution) {
      case Resolution::kLatest:
        return ConflictRule::kLatest;
      case Resolution::kSourceWins:
        return is_structural ? ConflictRule::kLatest : ConflictRule::kSourceWins;
      case Resolution::kDestinationWins:
        return is_structural ? ConflictRule::kLatest : ConflictRule::kDestinationWins;
      case Resolution::kDefer:
        if (unit.recording == ConflictRecording::kRecorded) return ConflictRule::kManual;
        break;
      case Resolution::kAsInSchema:
      case Resolution::kKeepLocal:
      case Resolution::kTakeRemote:
        break;
    }
    return input_.type.rule_of(unit);
  }

  // A unit that is not sent is known here, and what the source holds of it is not newer.
  Value priority_of(const Unit& unit, bool of_sent) const {
    const auto sent = std::find_if(input_.change.units.begin(), input_.change.units.end(),
                                   [&](const UnitRegister& one) { return one.unit == unit.priority_unit; });
    return of_sent && sent != input_.change.units.end() ? sent->content.value : input_.local->value_of(unit.priority_unit);
  }

  void decide_custom(const Unit& unit, const UnitConflict& conflict) {
    const RegisterPair sides = conflict.sides();
    const bool both_by_rule = sides.lesser.origin == Origin::kMadeByRule && sides.greater.origin == Origin::kMadeByRule;
    if (both_by_rule) return settle_unit(conflict, sides.greater.value, Origin::kMadeByRule);
    if (!input_.custom_rule) return leave_undecided(unit, "the app decides it by a rule of its own that was not given");
    const Value value = input_.custom_rule({input_.change.item, input_.change.type, unit.id, sides.lesser, sides.greater});
    if (const std::optional<std::string> fault = fault_of(input_.type, unit, value)) {
      return leave_undecided(unit, "the value that the app's rule has answered " + *fault);
    }
    settle_unit(conflict, value, Origin::kMadeByRule);
  }

  // Rule R8: the greater side's version stays only with its own value; anything else is minted.
  void settle_unit(const UnitConflict& conflict, const Value& value, Origin origin) {
    const RegisterPair sides = conflict.sides();
    if (conflict.loss == Loss::kRecorded) {
      for (const auto& [lost, met] : {std::pair(&sides.lesser, &sides.greater), std::pair(&sides.greater, &sides.lesser)}) {
        if (lost->value == value) continue;
        record(conflict.unit, side_of(conflict.unit, {met->version, value}), side_of(conflict.unit, *lost), conflict.rule);
      }
    }
    const Register outcome = value == sides.greater.value ? sides.greater : Register{minted(), value, origin};
    if (!(outcome == conflict.held)) take(conflict.unit, outcome);
  }

  ConflictSide side_of(UnitId unit, const Register& content) const { return kernel::side_of(input_.type, unit, content); }
  static ConflictSide side_of(const ExistenceRegister& existence) { return {existence.version, Value(), existence.value}; }

  // Rule R10. Units have been decided already; what the sides held before that counts here.
  void decide_existence() {
    const ExistenceRegister& sent = sent_existence();
    const ExistenceRegister& held = input_.local->existence;
    if (sent.version == held.version && sent.value != held.value) {
      return refuse_second_content("the item's existence", sent.version);
    }
    const bool sent_known = sent_is_known(sent.version);
    const bool held_known = held_is_known(held.version);
    const bool concurrent = !sent_known && !held_known;

    if (is_alive(sent.value) == is_alive(held.value)) {
      if (!sent_known && (held_known || sent.version > held.version)) set_existence(sent);
      return;
    }
    // A side that knows the other's existence and holds another one has decided already.
    if (sent_known && !is_alive(sent.value)) return;
    if (!sent_known && held_known && is_alive(sent.value)) return set_existence(sent);

    const bool sent_alive = is_alive(sent.value);
    const ExistenceRegister& alive = sent_alive ? sent : held;
    const ExistenceRegister& dead = sent_alive ? held : sent;
    const std::vector<UnitRegister> news = unknown_to_deleter(sent_alive);
    const bool stays_dropped = is_record(input_.type.id);
    if (concurrent && alive.value == Existence::kCreated && !stays_dropped) {
      return decide_by_hand_or(true, alive, dead, news, concurrent);
    }

    if (news.empty()) return settle(false, alive, dead, concurrent);
    Version greatest;
    for (const UnitRegister& unit : news) greatest = std::max(greatest, unit.content.version);
    if (is_unknown(input_.type)) return refuse_unknown("whether the item lives");
    const DeletionRule rule = input_.type.deletion;
    const bool lives = rule == DeletionRule::kEditWins || (rule == DeletionRule::kLatest && greatest > dead.version);
    decide_by_hand_or(lives, alive, dead, news, concurrent);
  }

  void decide_by_hand_or(bool lives, const ExistenceRegister& alive, const ExistenceRegister& dead,
                         const std::vector<UnitRegister>& news, bool concurrent) {
    const ExistenceRegister& held = input_.local->existence;
    const ExistenceRegister& sent = sent_existence();
    const bool is_silent =
        !lives && std::none_of(news.begin(), news.end(), [&](const UnitRegister& unit) { return is_recorded(unit.unit); });
    if (input_.resolution == Resolution::kDefer && !is_silent) return defer(kExistenceUnit, side_of(held), side_of(sent));
    if (input_.resolution == Resolution::kKeepLocal) lives = is_alive(held.value);
    if (input_.resolution == Resolution::kTakeRemote) lives = is_alive(sent.value);
    const std::string_view rule = rule_name(input_.resolution, to_text(input_.type.deletion));
    if (lives) {
      record(kExistenceUnit, side_of(alive), side_of(dead), rule);
    } else {
      record_lost(dead, news, rule);
    }
    settle(lives, alive, dead, concurrent);
  }

  // What a deletion takes with it.
  void record_lost(const ExistenceRegister& dead, const std::vector<UnitRegister>& news, std::string_view rule) {
    for (const UnitRegister& unit : news) {
      if (!is_recorded(unit.unit)) continue;
      result_.conflicts.push_back(lost_to_deletion(input_.type, input_.change.item, dead, unit, rule));
    }
  }

  bool is_recorded(UnitId unit) const { return kernel::is_recorded(input_.type, unit); }

  // The living side's units that the deleting side does not know.
  std::vector<UnitRegister> unknown_to_deleter(bool sent_alive) const {
    std::vector<UnitRegister> news;
    for (const UnitRegister& unit : sent_alive ? input_.change.units : input_.local->units) {
      const bool known = sent_alive ? sent_is_known(unit.content.version) : held_is_known(unit.content.version);
      if (!known) news.push_back(unit);
    }
    return news;
  }

  void settle(bool lives, const ExistenceRegister& alive, const ExistenceRegister& dead, bool concurrent) {
    if (lives && concurrent && alive.version > dead.version) return set_existence(alive);
    if (lives) return set_existence({minted(), Existence::kRestored});
    if (dead.version > alive.version) return set_existence(dead);
    set_existence({minted(), Existence::kDeleted});
  }

  void set_existence(const ExistenceRegister& existence) {
    if (existence == result_.item.existence) return;
    result_.item.existence = existence;
    changed_ = true;
  }

  // Rule R14.
  Classification classify_unheld() {
    const ItemChange& change = input_.change;
    if (input_.known.contains(versions_of(change))) return {};
    if (!change.whole) {
      Classification result;
      result.outcome = Outcome::kWantedWhole;
      return result;
    }
    result_.item.id = change.item;
    result_.item.type = change.type;
    result_.item.existence = change.existence;
    result_.item.units = change.units;
    result_.outcome = Outcome::kApplied;
    if (input_.made_with.contains(input_.forgotten)) return std::move(result_);
    if (!is_alive(change.existence.value)) {
      // A second tombstone of a forgotten life would shield stale copies from recovery (W67).
      result_.outcome = Outcome::kForgotten;
      return std::move(result_);
    }
    return meet_forgotten({input_.type, result_.item, input_.known, input_.forgotten}, mint_);
  }

  const ClassifierInput& input_;
  const std::function<Version()>& mint_;
  Classification result_;
  std::optional<Classification> left_out_;
  bool changed_ = false;
};

}  // namespace

Classification classify_change(const ClassifierInput& input, const std::function<Version()>& mint) {
  const bool is_erased =
      input.change.existence.value == Existence::kErased || (input.local != nullptr && input.local->erased());
  return is_erased ? meet_erasure(input, mint) : ChangeDecision(input, mint).run();
}

}  // namespace harmonica::kernel
