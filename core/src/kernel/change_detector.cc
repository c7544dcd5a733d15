#include "kernel/change_detector.h"

#include <algorithm>
#include <deque>
#include <limits>
#include <map>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "harmonica/limits.h"
#include "kernel/adoption.h"
#include "kernel/change_recorder.h"
#include "kernel/conflict_records.h"
#include "kernel/filtering.h"
#include "kernel/found_items.h"
#include "kernel/id_hash.h"
#include "kernel/known_items.h"
#include "kernel/sibling_order.h"
#include "kernel/store_reading.h"
#include "kernel/value_faults.h"
#include "kernel/view_index.h"
#include "kernel/write_plan.h"

namespace harmonica::kernel {
namespace {

const Value* find_value(const std::vector<UnitValue>& values, UnitId unit) {
  const auto found = std::lower_bound(values.begin(), values.end(), unit,
                                      [](const UnitValue& value, UnitId id) { return value.unit < id; });
  return found != values.end() && found->unit == unit ? &found->value : nullptr;
}

// What the parts of one detection that came before have left for the next one.
struct Progress {
  bool has_begun = false;
  Bytes since;                   // where the next part begins
  bool more = false;             // there is one
  bool first_detection = false;  // of the replica
  bool look_again = false;       // the next detection has to begin where this one has begun
  DetectionReport report;        // of all parts
};

// One part of a detection, in one transaction.
class Detection {
 public:
  Detection(ReplicaContext& context, MetadataTransaction& transaction, std::vector<PreparedItem> pending,
            Progress& progress)
      : context_(context),
        transaction_(transaction),
        known_(context.schema(), transaction),
        pending_(std::move(pending)),
        progress_(progress),
        report_(progress.report) {
    for (const PreparedItem& item : pending_) pending_by_item_[item.item].push_back(&item);
    for (const PreparedItem& item : pending_) pending_by_key_[item.key].push_back(&item);
  }

  Status run() {
    HARMONICA_ASSIGN_OR_RETURN(state_, transaction_.state());
    HARMONICA_ASSIGN_OR_RETURN(knowledge_, transaction_.knowledge());
    HARMONICA_ASSIGN_OR_RETURN(counts_, transaction_.counts());
    context_.clock.observe(state_.last_tick);
    StoreReading reading;
    // What a lost write of a whole store has left behind is found by its place among everything else.
    const bool is_whole = context_.store.write_unit() == WriteUnit::kWholeStore;
    if (!progress_.has_begun) {
      holds_nothing_ = state_.last_tick == 0 && counts_.alive + counts_.deleted == 0;
      progress_.first_detection = holds_nothing_;
      if (!is_whole || pending_.empty()) {
        HARMONICA_ASSIGN_OR_RETURN(progress_.since, transaction_.anchor());
      }
    }
    const Bytes since = progress_.since;
    HARMONICA_ASSIGN_OR_RETURN(const Enumeration enumeration, context_.store.enumerate(since, known_, reading));
    HARMONICA_RETURN_IF_ERROR(check_part(enumeration, reading));
    context_.anchor = enumeration.anchor;
    progress_.since = enumeration.anchor;
    progress_.more = enumeration.more;
    if (!progress_.has_begun) forget_last_detection();
    progress_.has_begun = true;
    add_to(report_.skipped, std::move(reading.skipped_lines));
    add_to(report_.mended, std::move(reading.mended_lines));
    if (enumeration.kind == EnumerationKind::kUnchanged) {
      HARMONICA_RETURN_IF_ERROR(leave_alone(reading));
      return keep_anchor(since);
    }

    report_.enumerated += reading.items.size();
    HARMONICA_RETURN_IF_ERROR(read_newly_known());
    HARMONICA_RETURN_IF_ERROR(pair(reading, enumeration.kind));
    for (Found& found : found_.all) HARMONICA_RETURN_IF_ERROR(resolve(found));
    place_siblings();
    HARMONICA_RETURN_IF_ERROR(check_guard(enumeration.kind));
    const FirstTime first_time{progress_.first_detection, holds_nothing_};
    ChangeRecorder recorder(context_, transaction_, found_, known_, first_time, report_);
    HARMONICA_RETURN_IF_ERROR(recorder.record(undone_removals_));
    if (enumeration.kind == EnumerationKind::kEverything) HARMONICA_RETURN_IF_ERROR(settle_newly_known());
    HARMONICA_RETURN_IF_ERROR(claim_own_ticks(context_, transaction_, recorder.take_made(), knowledge_));
    // While something pending or left out stands in the store, the next detection has to look again; at everything, if the
    // store compares, for an older anchor does not know what has come since.
    progress_.look_again = progress_.look_again || pending_seen_ || context_.unsyncable.look_again;
    if (!progress_.look_again) {
      HARMONICA_RETURN_IF_ERROR(transaction_.set_anchor(context_.anchor));
    } else if (is_whole) {
      HARMONICA_RETURN_IF_ERROR(transaction_.set_anchor({}));
    }
    HARMONICA_RETURN_IF_ERROR(transaction_.set_knowledge(knowledge_));
    return commit(context_, transaction_, state_);
  }

 private:
  static void add_to(std::vector<std::string>& lines, std::vector<std::string> more) {
    lines.insert(lines.end(), std::move_iterator(more.begin()), std::move_iterator(more.end()));
  }

  Status check_part(const Enumeration& enumeration, const StoreReading& reading) const {
    const bool told_late = progress_.has_begun && !reading.removed_keys.empty();
    const bool no_part = (progress_.has_begun || enumeration.more) && enumeration.kind == EnumerationKind::kEverything;
    const bool no_progress = enumeration.more && enumeration.anchor == progress_.since;
    if (!told_late && !no_part && !no_progress) return {};
    return {StatusCode::kInternal, told_late ? "the store tells what is gone from it in a later part of its changes"
                                   : no_part ? "the store enumerates everything as a part of its changes"
                                             : "the store tells the same part of its changes without end"};
  }

  // What the last one has said of the store.
  void forget_last_detection() {
    context_.astray.clear();
    context_.disturbed.clear();
    context_.unsyncable = {};
  }

  // The store has looked closely and now knows a quicker way to see that nothing has changed.
  Status keep_anchor(const Bytes& before) {
    if (context_.anchor == before) return {};
    HARMONICA_RETURN_IF_ERROR(transaction_.set_anchor(context_.anchor));
    return commit(context_, transaction_, state_);
  }

  // What the store has beside what was known; what is left of that is gone.
  Status pair(StoreReading& reading, EnumerationKind kind) {
    if (kind == EnumerationKind::kEverything) {
      HARMONICA_RETURN_IF_ERROR(known_.load());
    } else {
      for (KnownItem& known : known_.items()) known.seen = true;
    }
    for (const StoreKey& key : reading.removed_keys) {
      HARMONICA_ASSIGN_OR_RETURN(KnownItem * known, known_.find(key));
      if (known != nullptr) known->seen = false;
    }
    HARMONICA_RETURN_IF_ERROR(leave_alone(reading));
    found_.all.reserve(reading.items.size());
    for (StoreItem& item : std::exchange(reading.items, {})) HARMONICA_RETURN_IF_ERROR(take(std::move(item)));
    HARMONICA_RETURN_IF_ERROR(leave_alone_below());
    for (const PreparedItem& one : pending_) {
      if (one.shown && found_.new_by_key.contains(one.key)) taken_.insert(one.item);
    }
    for (KnownItem& known : known_.items()) {
      if (known.seen) continue;
      const bool is_pending = pending_removal(known.item);
      // An app that did not know the type has dropped it, and no user has deleted it.
      if (!is_pending && !is_of_newly_known_type(known.item)) continue;
      known.seen = true;
      pending_seen_ = pending_seen_ || is_pending;
      undone_removals_.push_back(known.item);
    }
    return {};
  }

  Status read_newly_known() {
    HARMONICA_ASSIGN_OR_RETURN(const auto positions, transaction_.find_index({IndexKind::kNewlyKnown, {}, {}}));
    for (const IndexPosition& position : positions) newly_known_.emplace(position.item, position.key);
    return {};
  }

  bool is_of_newly_known_type(const ItemId& item) const {
    const auto marked = newly_known_.find(item);
    return marked != newly_known_.end() && marked->second == newly_known_type_key();
  }

  // All of it has been looked at.
  Status settle_newly_known() {
    for (const auto& [item, key] : newly_known_) {
      HARMONICA_ASSIGN_OR_RETURN(const std::optional<StoredItem> stored, transaction_.find(item));
      if (!stored || context_.unsyncable.left_alone.contains(item)) continue;
      const WrittenState written =
          desired_shown(context_, *stored, StoreKey()) == stored->shown ? WrittenState::kWritten : WrittenState::kUnwritten;
      HARMONICA_RETURN_IF_ERROR(transaction_.put(*stored, entries_of(context_, *stored, written)));
    }
    return {};
  }

  Status leave_alone(const StoreReading& reading) {
    for (const StoreKey& key : reading.skipped_keys) {
      HARMONICA_ASSIGN_OR_RETURN(KnownItem * known, known_.find(key));
      if (known != nullptr) leave_alone(*known);
    }
    return {};
  }

  // What was shown below something that is left alone, and is not seen elsewhere, is in there: it is not gone.
  Status leave_alone_below() {
    if (context_.unsyncable.left_alone.empty()) return {};
    for (KnownItem& known : known_.items()) {
      if (known.seen) continue;
      const KnownItem* above = &known;
      for (std::size_t levels = 0; above != nullptr && levels < limits::kAncestorsMax; ++levels) {
        HARMONICA_ASSIGN_OR_RETURN(above, known_.find(above->shown.parent));
        if (above == nullptr || !context_.unsyncable.left_alone.contains(above->item)) continue;
        leave_alone(known);
        break;
      }
    }
    return {};
  }

  void leave_alone(KnownItem& known) {
    known.seen = true;
    context_.unsyncable.left_alone.insert(known.item);
  }

  Status take(StoreItem content) {
    const ItemType* type = context_.schema().find_type(content.type);
    if (type == nullptr) {
      return {StatusCode::kInternal, "the store offers " + printable(content.key) + " with a type that its schema lacks"};
    }
    HARMONICA_ASSIGN_OR_RETURN(KnownItem * known, known_.find(content.key));
    if (std::optional<std::string> fault = fault_of(*type, content)) {
      report_.skipped.push_back(printable(content.key) + ": " + *std::move(fault));
      context_.unsyncable.look_again = true;
      if (known != nullptr) {
        leave_alone(*known);
      } else {
        context_.unsyncable.left_out_keys.insert(std::move(content.key));
      }
      return {};
    }
    if (known != nullptr && known->place) return repeated(content.key);
    if (known != nullptr) known->seen = known->type == content.type;
    Found& found = found_.all.emplace_back();
    found.content = std::move(content);
    found.known = known != nullptr && known->seen ? known : nullptr;
    const StoreKey& key = found.content.key;
    const std::size_t place = found_.all.size() - 1;
    if (key.empty() || found_.new_by_key.contains(key)) return repeated(key);
    if (found.known != nullptr) {
      found.known->place = place;
    } else {
      found_.new_by_key.emplace(key, place);
    }
    return {};
  }

  static Status repeated(const StoreKey& key) {
    return {StatusCode::kInternal, "the store offers the key " + printable(key) + " twice, or an empty one"};
  }

  // Why an item cannot be synced, though the store offers it; nothing if it can.
  std::optional<std::string> fault_of(const ItemType& type, const StoreItem& content) const {
    if (context_.unsyncable.left_out_keys.contains(content.parent)) {
      return "is in " + printable(content.parent) + ", which cannot be synced";
    }
    for (const UnitValue& value : content.values) {
      const Unit* unit = type.find_unit(value.unit);
      if (unit == nullptr) return "has unit " + std::to_string(value.unit) + ", which its schema lacks";
      if (std::optional<std::string> fault = kernel::fault_of(value.value)) return unit->name + " " + *std::move(fault);
    }
    return std::nullopt;
  }

  bool pending_removal(const ItemId& item) const {
    const auto found = pending_by_item_.find(item);
    return found != pending_by_item_.end() &&
           std::any_of(found->second.begin(), found->second.end(), [](const PreparedItem* one) { return !one->shown; });
  }

  // Who the item is, where it stands and what differs. Its parent comes before it.
  Status resolve(Found& found) {
    const ItemType& type = *context_.schema().find_type(found.content.type);
    HARMONICA_ASSIGN_OR_RETURN(found.parent, find_parent(type, found));
    if (found.known == nullptr) {
      const PreparedItem* ours = pending_creation(found);
      if (ours != nullptr && stands_as(found, *ours->shown)) {
        found.orphan = true;
        found.item = ours->item;
        found.position = ours->shown->position;
        pending_seen_ = true;
      } else {
        HARMONICA_RETURN_IF_ERROR(identify(type, found, ours));
      }
    } else {
      found.item = found.known->item;
    }
    const auto place = static_cast<std::size_t>(&found - found_.all.data());
    if (found.known != nullptr) {
      found.known->place = place;
      HARMONICA_RETURN_IF_ERROR(compare(*found.known, found));
    } else {
      found_.new_by_item.emplace(found.item, place);
    }
    return {};
  }

  // Which item stands under a key that is not shown. `ours`: what a lost write of ours put there before the user edited it.
  Status identify(const ItemType& type, Found& found, const PreparedItem* ours) {
    if (ours != nullptr) {
      HARMONICA_ASSIGN_OR_RETURN(const std::optional<StoredItem> held, transaction_.find(ours->item));
      if (held && held->item.alive() && held->item.type == type.id && !held->shown &&
          !found_.new_by_item.contains(ours->item)) {
        // An edit of the item as that write showed it.
        found.item = ours->item;
        found.known = &shown_by_lost_writes_.emplace_back(KnownItem{ours->item, type.id, *ours->shown, true, std::nullopt});
        found.differs = true;
        found_.new_by_item.emplace(found.item, static_cast<std::size_t>(&found - found_.all.data()));
        return {};
      }
      // Not held yet: the user's, under the id that it is going to have.
      found.content.identity = ours->item;
      taken_.erase(ours->item);
      written_by_us_.insert(ours->item);
    }
    HARMONICA_ASSIGN_OR_RETURN(found.item, adopt(type, found.content, found.parent));
    HARMONICA_ASSIGN_OR_RETURN(found.known, known_.find(found.item));
    if (found.known == nullptr) return {};
    found.known->seen = true;
    HARMONICA_ASSIGN_OR_RETURN(const std::optional<StoredItem> stored, transaction_.find(found.item));
    found.reborn = stored && !stored->item.alive();
    return {};
  }

  Result<ItemId> find_parent(const ItemType& type, const Found& found) {
    const StoreKey& key = found.content.parent;
    if (type.find_role(UnitRole::kParent) == nullptr || key.empty()) return ItemId();
    for (const Root& root : context_.schema().roots) {
      if (root.name == key) return root.id;
    }
    HARMONICA_ASSIGN_OR_RETURN(const KnownItem* known, known_.find(key));
    std::optional<std::size_t> place = known == nullptr ? std::nullopt : known->place;
    if (const auto parent = found_.new_by_key.find(key); parent != found_.new_by_key.end()) place = parent->second;
    if (place && &found_.all[*place] < &found) return found_.all[*place].item;
    if (!place && known != nullptr) return known->item;
    return Status(StatusCode::kInternal,
                  "the store offers " + printable(found.content.key) + " before its parent " + printable(key));
  }

  // What a lost commit had written under that key: the state that equals what stands there now, or the last one.
  const PreparedItem* pending_creation(const Found& found) const {
    const auto pending = pending_by_key_.find(found.content.key);
    if (pending == pending_by_key_.end()) return nullptr;
    const PreparedItem* last = nullptr;
    for (const PreparedItem* one : pending->second) {
      if (!one->shown) continue;
      last = one;
      if (stands_as(found, *one->shown)) return one;
    }
    return last;
  }

  static bool stands_as(const Found& found, const ShownItem& shown) {
    return shown.parent == found.parent && shown.values == found.content.values;
  }

  // The id of a new item: the one the store recognises, or the first free one of its natural key. The id of an item that
  // has just gone is free: the same thing under a new key.
  Result<ItemId> adopt(const ItemType& type, const StoreItem& content, const ItemId& parent) {
    if (content.identity) {
      HARMONICA_ASSIGN_OR_RETURN(const bool free, is_free(type, *content.identity));
      if (free) return *content.identity;
    }
    std::vector<UnitValue> named;
    for (const UnitId unit : type.natural_key) {
      const Value* value = find_value(content.values, unit);
      if (value != nullptr) named.push_back({unit, context_.store.natural_form(type.id, unit, *value)});
    }
    const ItemId first = natural_item_id(context_.environment, type, parent, named, 0);
    for (std::uint32_t& number = next_twin_[first];; ++number) {
      const ItemId item = number == 0 ? first : natural_item_id(context_.environment, type, parent, named, number);
      HARMONICA_ASSIGN_OR_RETURN(const bool free, is_free(type, item));
      if (free) return item;
    }
  }

  Result<bool> is_free(const ItemType& type, const ItemId& item) {
    if (found_.new_by_item.contains(item) || taken_.contains(item) || item.is_zero() || context_.schema().is_root(item))
      return false;
    if (holds_nothing_) return true;
    HARMONICA_ASSIGN_OR_RETURN(const std::optional<StoredItem> stored, transaction_.find(item));
    if (!stored && written_by_us_.contains(item)) return true;
    if (!stored) return may_create(context_, transaction_, item);
    if (stored->item.type != type.id || stored->item.erased()) return false;
    // A deleted item may still be shown, where its removal could not be written yet.
    HARMONICA_ASSIGN_OR_RETURN(const KnownItem* known, known_.find(item));
    if (known != nullptr) return !known->seen;
    return !stored->item.alive();
  }

  // A unit is changed by the user if it is neither what was shown nor what a lost commit was about to show.
  Status compare(const KnownItem& known, Found& found) {
    std::optional<StoredItem> first_sight;  // where the schema knows more of the item than was shown
    if (newly_known_.contains(known.item)) {
      HARMONICA_ASSIGN_OR_RETURN(first_sight, transaction_.find(known.item));
    }
    const auto pending = pending_by_item_.find(known.item);
    const auto is_pending = [&](const auto& equals) {
      if (pending == pending_by_item_.end()) return false;
      const bool is_ours = std::any_of(pending->second.begin(), pending->second.end(),
                                       [&](const PreparedItem* one) { return one->shown && equals(*one->shown); });
      if (is_ours) pending_seen_ = true;
      return is_ours;
    };
    for (const UnitValue& value : found.content.values) {
      const Value* shown = find_value(known.shown.values, value.unit);
      if (shown != nullptr && *shown == value.value) continue;
      found.differs = true;
      if (shown == nullptr && first_sight && stands_unedited(*first_sight, value, found)) continue;
      const bool ours = is_pending([&](const ShownItem& one) {
        const Value* expected = find_value(one.values, value.unit);
        return expected != nullptr && *expected == value.value;
      });
      if (!ours) found.changed.push_back({value.unit, seen_before(known, value.unit)});
    }
    if (found.content.values.size() != known.shown.values.size()) found.differs = true;
    if (found.content.key != known.shown.key) found.differs = true;
    if (found.parent != known.shown.parent) {
      found.differs = true;
      found.moved = !is_pending([&](const ShownItem& one) { return one.parent == found.parent; });
    }
    found.position = known.shown.position;
    return {};
  }

  // What a store shows of a unit for the first time since the schema has it is what the app began with, where others have
  // written the unit before; if it is none of the values that mean nothing, it is recorded as what lost.
  bool stands_unedited(const StoredItem& stored, const UnitValue& value, Found& found) const {
    const ItemType& type = *context_.schema().find_type(found.content.type);
    const Register* held = stored.item.find(value.unit);
    if (held == nullptr) return value.value.is_null();
    const ConflictSide side = side_of(type, value.unit, *held);
    if (!(side.value == value.value) && !means_nothing(value.value)) found.overruled.push_back(value);
    return true;
  }

  static bool means_nothing(const Value& value) {
    if (const std::string* text = value.if_text()) return text->empty();
    if (const Bytes* bytes = value.if_bytes()) return bytes->empty();
    if (const Value::Ids* ids = value.if_ids()) return ids->empty();
    return value.is_null() || value == Value::boolean(false) || value == Value::integer(0) || value == Value::real(0);
  }

  // What stood in the store before a user changed it: what a lost commit was about to show, else what was shown.
  Value seen_before(const KnownItem& known, UnitId unit) const {
    const Value* seen = find_value(known.shown.values, unit);
    if (const auto pending = pending_by_item_.find(known.item); pending != pending_by_item_.end()) {
      for (const PreparedItem* one : pending->second) {
        const Value* expected = one->shown ? find_value(one->shown->values, unit) : nullptr;
        if (expected != nullptr) seen = expected;
      }
    }
    return seen == nullptr ? Value() : *seen;
  }

  // Positions for the children that are new or out of order, one parent at a time.
  void place_siblings() {
    std::unordered_map<ItemId, std::vector<std::size_t>, IdHash> children;
    for (std::size_t index = 0; index < found_.all.size(); ++index) {
      const ItemType* type = context_.schema().find_type(found_.all[index].content.type);
      if (type->find_role(UnitRole::kPosition) != nullptr) children[found_.all[index].parent].push_back(index);
    }
    for (const auto& [parent, indexes] : children) place_children(parent, indexes);
  }

  void place_children(const ItemId& parent, const std::vector<std::size_t>& indexes) {
    std::vector<Sibling> siblings;
    siblings.reserve(indexes.size());
    for (const std::size_t index : indexes) {
      const Found& found = found_.all[index];
      const bool in_place = found.known != nullptr && found.known->shown.parent == parent;
      Sibling sibling{found.item, in_place ? found.position : Bytes(), {}, false};
      // What a lost write has left behind holds nobody else's place.
      if (!found.orphan) add_pending(parent, sibling);
      siblings.push_back(std::move(sibling));
    }
    SiblingOrder order = order_siblings(std::move(siblings), outer_bounds(indexes));
    if (order.pending_seen || order.passed_over) pending_seen_ = true;
    if (order.passed_over) context_.disturbed.insert(parent);
    for (std::size_t place = 0; place < indexes.size(); ++place) {
      Found& found = found_.all[indexes[place]];
      SiblingPosition& given = order.positions[place];
      if (given.position.empty()) continue;
      if (given.is_new || given.position != found.position) found.differs = true;
      // A new item needs a position of its own, also where a lost write had given it one already.
      if (given.is_new || found.known == nullptr) found.repositioned = !found.orphan;
      found.position = std::move(given.position);
    }
  }

  void add_pending(const ItemId& parent, Sibling& sibling) const {
    const auto found = pending_by_item_.find(sibling.item);
    if (found == pending_by_item_.end()) return;
    for (const PreparedItem* one : found->second) {
      if (!one->shown || one->shown->parent != parent) {
        sibling.in_transit = true;
      } else if (!one->shown->position.empty()) {
        sibling.pending.push_back(one->shown->position);
      }
    }
  }

  // Between which keys the children of a folder go. In a first detection, in a band of the folder's own, the newest
  // folder's first: so when two devices meet, the newer order stands as a whole and what only the other one has follows it,
  // instead of the two being shuffled.
  std::pair<Bytes, Bytes> outer_bounds(const std::vector<std::size_t>& indexes) const {
    if (!progress_.first_detection) return {};
    std::int64_t latest_ms = 0;
    for (const std::size_t index : indexes)
      latest_ms = std::max(latest_ms, time_of(found_.all[index], context_.environment));
    const std::uint32_t band = std::numeric_limits<std::uint32_t>::max() - 1 - static_cast<std::uint32_t>(latest_ms / 1000);
    const auto key = [](std::uint32_t number) {
      Bytes bytes;
      for (int shift = 24; shift >= 0; shift -= 8) bytes.push_back(static_cast<std::uint8_t>(number >> shift));
      return bytes;
    };
    return {key(band), key(band + 1)};
  }

  Status check_guard(EnumerationKind kind) const {
    if (context_.options.guard == Guard::kConfirmed) return {};
    std::size_t gone = 0;
    for (const KnownItem& known : known_.items()) gone += known.seen ? 0 : 1;
    if (gone == 0) return {};
    const bool empty = kind == EnumerationKind::kEverything && found_.all.empty() && gone == counts_.shown;
    const bool most = gone > limits::kGuardDeletionsMin && gone * 2 > counts_.shown;
    if (!empty && !most) return {};
    return {StatusCode::kGuard, std::to_string(gone) + " of " + std::to_string(counts_.shown) +
                                    " items are gone from the store since it was last synced" +
                                    (empty ? ", and it is empty now" : "") +
                                    "; if that was meant, confirm it, otherwise bring the store back first"};
  }

  ReplicaContext& context_;
  MetadataTransaction& transaction_;
  KnownItems known_;
  std::vector<PreparedItem> pending_;
  std::map<ItemId, std::vector<const PreparedItem*>> pending_by_item_;
  std::map<StoreKey, std::vector<const PreparedItem*>> pending_by_key_;
  ReplicaState state_;
  Knowledge knowledge_;
  Progress& progress_;
  DetectionReport& report_;
  ItemCounts counts_;
  FoundItems found_;
  std::deque<KnownItem> shown_by_lost_writes_;
  std::set<ItemId> written_by_us_;  // by a lost write, and edited since
  std::set<ItemId> taken_;          // items that a lost write has put into the store, under a key that stands there now
  std::unordered_map<ItemId, std::uint32_t, IdHash> next_twin_;  // by the first id of a natural key
  std::vector<ItemId> undone_removals_;
  std::map<ItemId, Bytes> newly_known_;  // by the keys of their marks
  bool holds_nothing_ = false;
  bool pending_seen_ = false;
};

}  // namespace

Result<DetectionReport> ChangeDetector::detect() {
  if (!context_.has_store()) return last_;
  Progress progress;
  do {
    HARMONICA_ASSIGN_OR_RETURN(std::vector<PreparedItem> pending, pending_items(context_));
    HARMONICA_ASSIGN_OR_RETURN(const auto transaction, context_.metadata.begin(TransactionMode::kWrite));
    HARMONICA_RETURN_IF_ERROR(Detection(context_, *transaction, std::move(pending), progress).run());
  } while (progress.more);
  last_ = std::move(progress.report);
  return last_;
}

}  // namespace harmonica::kernel
