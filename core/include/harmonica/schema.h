// Schemas: which types of items a scope has, what their change units are, and how each decides a conflict.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harmonica/ids.h"
#include "harmonica/status.h"
#include "harmonica/value.h"

namespace harmonica {

// Stable numbers, given once in the schema and never reused: they stand in stores and on the wire. 1 or more.
using TypeId = std::uint16_t;
using UnitId = std::uint16_t;

// The type of the items that conflict records are (docs/adr/0021): known to every replica, and in no schema.
inline constexpr TypeId kConflictRecordType = 65'534;

// Stands for an item's existence where a unit is named, as in a conflict record.
inline constexpr UnitId kExistenceUnit = 0;

// How a unit takes part in the view of its type (docs/architecture.md, "Views").
enum class UnitRole : std::uint8_t {
  kNone,
  kParent,     // ids of the ancestors as shown when it was written, nearest first
  kName,       // text, unique among the siblings shown under one parent
  kPosition,   // bytes: a fractional key that orders siblings
  kKey,        // unique among the shown items of the type; null is never taken
  kReference,  // ids of items that must be shown for this one to be shown
};

// How concurrent changes of one unit are decided. A rule sees the two sides in the order of their versions, the lesser and
// the greater one, and not which of them is local; the two that name a side are the exception. Where its outcome is the
// greater side's value, that version stays; any other outcome becomes a new version (rule R8). Between two outcomes of
// rules `latest` decides, except after kMax, kMin, kUnion and kCounter, which end by themselves (rule R9).
enum class ConflictRule : std::uint8_t {
  kLatest,     // the greater version wins
  kManual,     // the item is left as it is on both sides and listed until a person decides
  kEarliest,   // the lesser version wins
  kMax,        // the greater value: numbers by size, false before true, text and bytes by their bytes; null is least
  kMin,        // the lesser value
  kUnion,      // ids and lists are sets: what either side has
  kTextMerge,  // words that one side changed since both had the same text; both sides the same words: `latest`
  kPriority,   // the side whose `priority_unit` is greater; equal: `latest`
  kCounter,    // an integer that replicas count up and down: every replica's steps count (docs/adr/0014)
  kAdditive,   // the sum of both values, taken literally: kCounter is what adds up changes
  kAverage,    // half of their sum, rounded down
  kSourceWins,
  kDestinationWins,
  kCustom,  // ReplicaOptions::custom_rule
};

// As in records and messages: "latest", "text_merge".
std::string_view to_text(ConflictRule rule);

enum class DeletionRule : std::uint8_t {
  kEditWins,    // an item with edits unknown to the deletion stays
  kDeleteWins,  // it goes, and the edits are kept in a conflict record
  kLatest,      // the greater version decides
};

// As in records and messages: "edit_wins".
std::string_view to_text(DeletionRule rule);

// Whether a decided conflict of the unit leaves a record. Silent is for values whose loss nobody would miss, such as
// positions.
enum class ConflictRecording : std::uint8_t { kRecorded, kSilent };

// One change unit: the smallest thing that changes and conflicts alone.
struct Unit {
  UnitId id = 0;
  std::string name;
  ValueKind kind = ValueKind::kText;
  UnitRole role = UnitRole::kNone;
  std::optional<ConflictRule> rule;  // nothing: that of its type
  ConflictRecording recording = ConflictRecording::kRecorded;
  UnitId priority_unit = 0;  // kPriority: the unit of the same type whose values decide
  friend bool operator==(const Unit&, const Unit&) = default;
};

struct ItemType {
  TypeId id = 0;
  std::string name;
  DeletionRule deletion = DeletionRule::kEditWins;
  std::vector<Unit> units;                    // at most one each with the roles parent, name and position
  std::vector<UnitId> natural_key;            // besides type and parent, what makes two new items the same one
  ConflictRule rule = ConflictRule::kLatest;  // of units without one of their own

  const Unit* find_unit(UnitId unit) const;
  const Unit* find_role(UnitRole role) const;
  // A parent and a position are always decided by `latest`.
  ConflictRule rule_of(const Unit& unit) const;
  friend bool operator==(const ItemType&, const ItemType&) = default;
};

// A place that every replica of the scope has: it is never created, deleted or moved, and stands at the end of lists of
// ancestors.
struct Root {
  ItemId id;
  std::string name;
  friend bool operator==(const Root&, const Root&) = default;
};

// The types of a scope. Thread-compatible; constant once a replica is open on it.
struct Schema {
  ScopeName default_scope;  // the scope that two stores without one make
  std::vector<ItemType> types;
  std::vector<Root> roots;  // the first is where items go whose ancestors are all gone; none: the root above all items

  const ItemType* find_type(TypeId type) const;
  bool is_root(const ItemId& id) const;
  ItemId default_root() const;

  // Over all that must agree between two replicas: numbers and names of types and units, kinds, roles, rules, natural keys,
  // and the ids of the roots. Not over the default scope, the names of roots and what is recorded: those are each
  // replica's own. The order in which types and units are listed does not count. Stable between builds.
  std::uint64_t fingerprint() const;

  // invalid_argument:
  //   a default scope that is not a scope name; a number or root id that is 0 or used twice; the type
  //   number of conflict records; a name that is empty or used
  //   twice among types, roots, or the units of a type; too many units;
  //   a second unit with the role parent, name or position; a unit of kind null; a kind that does not fit the role (parent
  //   and reference need ids, name needs text, position needs bytes);
  //   a rule that does not fit the unit's kind or role: a parent and a position know only `latest`;
  //   the rule priority without another unit of the type that has an order;
  //   a natural key with a unit that is not there, is there twice, or is a parent, a position or a counter.
  Status validate() const;

  // A schema that says nothing: that of a replica that has not met one yet.
  bool is_empty() const { return types.empty() && roots.empty() && default_scope.empty(); }

  friend bool operator==(const Schema&, const Schema&) = default;
};

// Schemas of two versions of an app (docs/adr/0015). They are compatible if what both have under one number agrees in
// everything that `fingerprint` covers; types, units and roots that only one has do not matter. Of natural keys, those
// units count that both know. The first root has to be the same. unsupported: says which type or unit differs, and how it
// is `here` and `there`; `joined_schema` does not exist then.
Status check_compatible(const Schema& here, const Schema& there);

// What either of two compatible schemas has; where they differ in what the fingerprint does not cover, as `here`. Errors
// as of `check_compatible`.
Result<Schema> joined_schema(const Schema& here, const Schema& there);

}  // namespace harmonica
