#include "kernel/change_recorder.h"

#include <algorithm>
#include <utility>

#include "harmonica/limits.h"
#include "kernel/adoption.h"
#include "kernel/change_classifier.h"
#include "kernel/conflict_records.h"
#include "kernel/counter.h"
#include "kernel/filtering.h"
#include "kernel/merge_bases.h"
#include "kernel/write_plan.h"

namespace harmonica::kernel {
namespace {

// Items whose changes are recorded together: enough to amortise what each update of views looks up.
constexpr std::size_t kRecordedAtOnce = 8'192;

}  // namespace

ChangeRecorder::ChangeRecorder(ReplicaContext& context, MetadataTransaction& transaction, FoundItems& found,
                               KnownItems& known, FirstTime first_time, DetectionReport& report)
    : context_(context),
      transaction_(transaction),
      found_(found),
      known_(known),
      first_time_(first_time),
      report_(report) {}

Status ChangeRecorder::record(const std::vector<ItemId>& undone_removals) {
  std::vector<ViewInput> inputs;
  const auto add = [&](ViewInput input) -> Status {
    inputs.push_back(std::move(input));
    return inputs.size() < kRecordedAtOnce ? Status() : show(inputs);
  };
  const std::vector<Version> versions = assign_versions();
  for (std::size_t index = 0; index < found_.all.size(); ++index) {
    Found& found = found_.all[index];
    if (found.orphan) {
      context_.astray[found.item] = {found.content.type,
                                     ShownItem{found.content.key, found.parent, found.position, found.content.values}};
      continue;
    }
    if (found.known != nullptr && !found.differs) continue;
    HARMONICA_ASSIGN_OR_RETURN(ViewInput input, change_of(found, versions[index]));
    HARMONICA_RETURN_IF_ERROR(add(std::move(input)));
  }
  for (const KnownItem& known : known_.items()) {
    if (!known.seen) {
      HARMONICA_ASSIGN_OR_RETURN(ViewInput input, deletion_of(known.item));
      HARMONICA_RETURN_IF_ERROR(add(std::move(input)));
    }
  }
  for (const ItemId& item : undone_removals) {
    HARMONICA_ASSIGN_OR_RETURN(std::optional<StoredItem> stored, transaction_.find(item));
    if (!stored) continue;
    ViewInput input{*stored, *stored};
    input.after.shown.reset();
    HARMONICA_RETURN_IF_ERROR(add(std::move(input)));
  }
  return show(inputs);
}

// Views follow from the registers alone, in whatever order these change: so no more of the items need be held at a time.
Status ChangeRecorder::show(std::vector<ViewInput>& inputs) {
  HARMONICA_ASSIGN_OR_RETURN(const std::vector<StoredItem> items,
                             update_views(context_.schema(), transaction_, std::exchange(inputs, {})));
  for (const StoredItem& item : items) {
    const WrittenState written =
        desired_shown(context_, item, StoreKey()) == item.shown ? WrittenState::kWritten : WrittenState::kUnwritten;
    HARMONICA_RETURN_IF_ERROR(transaction_.put(item, entries_of(context_, item, written)));
  }
  return {};
}

// One tick an item. The first detection of a replica that has learned nothing takes ticks from the items' own times, in
// their order, so that an old copy that enrols today does not beat newer edits; there, all children of a folder share one
// tick for their positions, so that one device's order wins as a whole.
std::vector<Version> ChangeRecorder::assign_versions() {
  std::vector<Version> versions(found_.all.size());
  if (!first_time_.by_their_times) {
    for (std::size_t index = 0; index < found_.all.size(); ++index) {
      if (found_.all[index].is_users()) versions[index] = version_at(context_.clock.next());
    }
    return versions;
  }
  struct Event {
    std::int64_t time = 0;
    std::size_t index = 0;
    const ItemId* folder = nullptr;  // the tick is for the positions of its children
  };
  std::vector<Event> events;
  std::map<ItemId, std::pair<std::int64_t, std::size_t>> folders;
  for (std::size_t index = 0; index < found_.all.size(); ++index) {
    const Found& found = found_.all[index];
    if (found.orphan) continue;
    const std::int64_t time = time_of(found, context_.environment);
    events.push_back({time, index, nullptr});
    if (!found.repositioned) continue;
    const auto [folder, is_new] = folders.try_emplace(found.parent, time, index);
    if (!is_new) folder->second = {std::max(folder->second.first, time), index};
  }
  for (const auto& [folder, latest] : folders) events.push_back({latest.first, latest.second, &folder});
  std::stable_sort(events.begin(), events.end(), [](const Event& a, const Event& b) { return a.time < b.time; });
  for (const Event& event : events) {
    const Version version = version_at(context_.clock.next_at(first_tick_of(event.time)));
    if (event.folder != nullptr) {
      folder_versions_[*event.folder] = version;
    } else {
      versions[event.index] = version;
    }
  }
  return versions;
}

Result<ViewInput> ChangeRecorder::change_of(Found& found, const Version& version) {
  const ItemType& type = *context_.schema().find_type(found.content.type);
  std::optional<StoredItem> before;
  if (!first_time_.holds_nothing) {
    HARMONICA_ASSIGN_OR_RETURN(before, transaction_.find(found.item));
  }
  // A user who edits what is erased, and could not be taken out of the store yet, edits what is lost.
  if (before && before->item.erased()) {
    StoredItem erased = *before;
    erased.shown = ShownItem{found.content.key, found.parent, found.position, std::move(found.content.values)};
    return ViewInput{std::move(before), std::move(erased)};
  }
  StoredItem after;
  if (before) after = *before;
  after.item.id = found.item;
  after.item.type = type.id;
  after.item.units.reserve(type.units.size());
  const bool is_new = found.known == nullptr;
  if (is_new) after.item.existence = {version, Existence::kCreated};
  for (const UnitValue& value : found.content.values) {
    const auto change = std::find_if(found.changed.begin(), found.changed.end(),
                                     [&](const UnitValue& one) { return one.unit == value.unit; });
    const bool is_changed = change != found.changed.end();
    if (!is_new && !is_changed) continue;
    Register& content = after.item.at(value.unit);
    content = {version, recorded(type, value, is_changed ? &change->value : nullptr, content.value, version),
               Origin::kWritten};
    if (is_changed && before) HARMONICA_RETURN_IF_ERROR(record_unseen(type, *before, *change, content));
  }
  const Unit* parent = type.find_role(UnitRole::kParent);
  if (parent != nullptr && (is_new || found.moved)) {
    HARMONICA_ASSIGN_OR_RETURN(Value ancestors, ancestors_of(found));
    after.item.at(parent->id) = {version, std::move(ancestors), Origin::kWritten};
  }
  const Unit* position = type.find_role(UnitRole::kPosition);
  if (position != nullptr && found.repositioned) {
    const auto folder = folder_versions_.find(found.parent);
    after.item.at(position->id) = {folder == folder_versions_.end() ? version : folder->second,
                                   Value::bytes(found.position), Origin::kWritten};
  }
  if (found.reborn) {
    after.item.existence = {version, Existence::kCreated};
  } else if (!is_new && found.is_users() && !after.item.alive()) {
    HARMONICA_RETURN_IF_ERROR(edit_of_deleted(type, version, after.item));
  }
  for (const UnitValue& value : found.overruled) {
    HARMONICA_RETURN_IF_ERROR(record_overruled(type, after.item, value, found.is_users() ? version : Version()));
  }
  if (before) keep_merge_bases(type, before->item, after, context_.acknowledged);
  after.shown = ShownItem{found.content.key, found.parent, found.position, std::move(found.content.values)};
  if (is_new || found.is_users()) made_.push_back({found.item, !before});
  if (is_new) {
    ++report_.created;
  } else if (found.is_users()) {
    ++report_.updated;
  }
  return ViewInput{std::move(before), std::move(after)};
}

// What the register holds once a user has put `value` into the store. Counters: by how much it differs from what the user
// saw, null for a new one; clearing one counts it to 0.
Value ChangeRecorder::recorded(const ItemType& type, const UnitValue& value, const Value* seen, const Value& held,
                               const Version& version) const {
  const Unit* unit = type.find_unit(value.unit);
  if (unit == nullptr || type.rule_of(*unit) != ConflictRule::kCounter) return value.value;
  const auto number = [](const Value& one) {
    const std::int64_t* integer = one.if_integer();
    return integer == nullptr ? 0 : *integer;
  };
  if (seen != nullptr) return counted(held, version, number(*seen), number(value.value));
  return value.value.is_null() ? Value() : new_counter(version, number(value.value));
}

// A deletion that could not be written into the store yet, and a user who edits what still stands there without having
// seen it: as if the two had met (rule R10).
Status ChangeRecorder::edit_of_deleted(const ItemType& type, const Version& version, Item& item) {
  if (type.deletion != DeletionRule::kDeleteWins) {
    item.existence = {version, Existence::kRestored};
    return {};
  }
  for (const UnitRegister& unit : item.units) {
    if (unit.content.version != version) continue;
    if (!is_recorded(type, unit.unit)) continue;
    ConflictRecord conflict = lost_to_deletion(type, item.id, item.existence, unit, to_text(type.deletion));
    HARMONICA_RETURN_IF_ERROR(keep_record(context_, transaction_, conflict, made_));
  }
  return {};
}

// A user who edits what stands in the store has not seen the register's value where the two differ: a lost write has shown
// something else, or the register's value could not be written yet. It was not replaced by him, so it is put on record.
Status ChangeRecorder::record_unseen(const ItemType& type, const StoredItem& before, const UnitValue& seen,
                                     const Register& edited) {
  const Register* held = before.item.find(seen.unit);
  const Unit* unit = type.find_unit(seen.unit);
  const bool counts = unit != nullptr && type.rule_of(*unit) == ConflictRule::kCounter;
  if (held == nullptr || counts || !before.item.alive() || !is_recorded(type, seen.unit)) return {};
  const std::optional<ShownItem> desired = desired_shown(context_, before, StoreKey());
  if (!desired) return {};
  const auto shown = std::find_if(desired->values.begin(), desired->values.end(),
                                  [&](const UnitValue& one) { return one.unit == seen.unit; });
  if (shown == desired->values.end() || shown->value == seen.value || held->value == edited.value) return {};
  ConflictRecord conflict{.item = before.item.id,
                          .type = type.id,
                          .unit = seen.unit,
                          .kept = side_of(type, seen.unit, edited),
                          .lost = side_of(type, seen.unit, *held),
                          .rule = "unseen"};
  return keep_record(context_, transaction_, conflict, made_);
}

Status ChangeRecorder::record_overruled(const ItemType& type, const Item& item, const UnitValue& value,
                                        const Version& version) {
  if (version.is_none()) made_.push_back({item.id});
  ConflictRecord conflict{
      .item = item.id,
      .type = type.id,
      .unit = value.unit,
      .kept = side_of(type, value.unit, *item.find(value.unit)),
      .lost = {version.is_none() ? version_at(context_.clock.next()) : version, value.value, item.existence.value},
      .rule = "newer_schema"};
  return keep_record(context_, transaction_, conflict, made_);
}

// The ids above the item as the store has them now, nearest first, its root last.
Result<Value> ChangeRecorder::ancestors_of(const Found& found) {
  Value::Ids ancestors;
  ItemId ancestor = found.parent;
  while (!ancestor.is_zero() && ancestors.size() < limits::kAncestorsMax) {
    ancestors.push_back(ancestor);
    if (context_.schema().is_root(ancestor)) break;
    HARMONICA_ASSIGN_OR_RETURN(const std::optional<std::size_t> place, found_.place_of(ancestor, known_));
    if (place) {
      ancestor = found_.all[*place].parent;
      continue;
    }
    HARMONICA_ASSIGN_OR_RETURN(const std::optional<StoredItem> stored, transaction_.find(ancestor));
    ancestor = stored && stored->shown ? stored->shown->parent : ItemId();
  }
  return Value::ids(std::move(ancestors));
}

Result<ViewInput> ChangeRecorder::deletion_of(const ItemId& item) {
  HARMONICA_ASSIGN_OR_RETURN(std::optional<StoredItem> before, transaction_.find(item));
  if (!before) return Status(StatusCode::kInternal, "item " + item.to_text() + " is shown but not held");
  StoredItem after = *before;
  after.shown.reset();
  if (before->item.erased()) return ViewInput{std::move(before), std::move(after)};
  after.item.existence = {version_at(context_.clock.next()), Existence::kDeleted};
  made_.push_back({item});
  ++report_.deleted;
  return ViewInput{std::move(before), std::move(after)};
}

}  // namespace harmonica::kernel
