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
#include "harmonica/utf8.h"
#include "kernel/adoption.h"
#include "kernel/id_hash.h"
#include "kernel/known_items.h"
#include "kernel/sibling_order.h"
#include "kernel/views.h"
#include "kernel/write_plan.h"

namespace harmonica::kernel {
namespace {

// Items whose changes are recorded together: enough to amortise what each update of views looks up.
constexpr std::size_t kRecordedAtOnce = 8'192;

// An item that the store has now.
struct Found {
  StoreItem content;
  KnownItem* known = nullptr;  // nothing: new
  ItemId item;
  ItemId parent;
  bool orphan = false;          // written by us, its commit lost: not a user's
  bool differs = false;         // from what was shown, by whoever's hand
  bool moved = false;           // by the user
  std::vector<UnitId> changed;  // by the user
  Bytes position;               // as shown, or the new one
  bool repositioned = false;    // by the user
  bool reborn = false;          // known, but deleted: the user made it anew
};

const Value* find_value(const std::vector<UnitValue>& values, UnitId unit) {
  const auto found = std::lower_bound(values.begin(), values.end(), unit,
                                      [](const UnitValue& value, UnitId id) { return value.unit < id; });
  return found != values.end() && found->unit == unit ? &found->value : nullptr;
}

class Collector : public EnumerationSink {
 public:
  Status item(StoreItem item) override {
    items.push_back(std::move(item));
    return {};
  }
  Status removed(const StoreKey& key) override {
    removed_keys.push_back(key);
    return {};
  }
  void skipped(const StoreKey& key, std::string what) override {
    if (!key.empty()) skipped_keys.insert(key);
    skipped_lines.push_back(std::move(what));
  }
  void mended(std::string what) override { mended_lines.push_back(std::move(what)); }

  std::vector<StoreItem> items;
  std::vector<StoreKey> removed_keys;
  std::set<StoreKey> skipped_keys;
  std::vector<std::string> skipped_lines;
  std::vector<std::string> mended_lines;
};

// Why a value cannot be synced; nothing if it can.
std::optional<std::string> fault_of(const Value& value) {
  if (value.weight() > limits::kValueBytesMax) {
    return "is larger than the " + std::to_string(limits::kValueBytesMax) + " bytes that are synced";
  }
  if (const std::string* text = value.if_text(); text != nullptr && !is_valid_utf8(*text)) return "is no UTF-8 text";
  if (const Value::List* list = value.if_list()) {
    for (const Value& member : *list) {
      if (member.kind() == ValueKind::kList) return "holds a list in a list";
      if (std::optional<std::string> fault = fault_of(member)) return fault;
    }
  }
  return std::nullopt;
}

std::string printable(const StoreKey& key) { return "'" + (is_valid_utf8(key) ? key : to_hex(as_bytes(key))) + "'"; }

// One detection, in one transaction.
class Detection {
 public:
  Detection(ReplicaContext& context, MetadataTransaction& transaction, std::vector<PreparedItem> pending)
      : context_(context), transaction_(transaction), known_(context.schema(), transaction), pending_(std::move(pending)) {
    for (const PreparedItem& item : pending_) pending_by_item_[item.item].push_back(&item);
    for (const PreparedItem& item : pending_) pending_by_key_[item.key].push_back(&item);
  }

  Result<DetectionReport> run() {
    HARMONICA_ASSIGN_OR_RETURN(state_, transaction_.state());
    HARMONICA_ASSIGN_OR_RETURN(knowledge_, transaction_.knowledge());
    HARMONICA_ASSIGN_OR_RETURN(counts_, transaction_.counts());
    first_detection_ = state_.last_tick == 0 && counts_.alive + counts_.deleted == 0;
    context_.clock.observe(state_.last_tick);
    Collector collector;
    // What a lost write of a whole store has left behind is found by its place among everything else.
    const bool is_whole = context_.store.write_unit() == WriteUnit::kWholeStore;
    Bytes since;
    if (!is_whole || pending_.empty()) {
      HARMONICA_ASSIGN_OR_RETURN(since, transaction_.anchor());
    }
    HARMONICA_ASSIGN_OR_RETURN(Enumeration enumeration, context_.store.enumerate(since, known_, collector));
    context_.anchor = enumeration.anchor;
    context_.astray.clear();
    context_.disturbed.clear();
    report_.skipped = std::move(collector.skipped_lines);
    report_.mended = std::move(collector.mended_lines);
    if (enumeration.kind == EnumerationKind::kUnchanged) {
      context_.look_again = false;
      HARMONICA_RETURN_IF_ERROR(leave_alone(collector));
      HARMONICA_RETURN_IF_ERROR(keep_anchor(since));
      return std::move(report_);
    }

    report_.enumerated = collector.items.size();
    HARMONICA_RETURN_IF_ERROR(pair(collector, enumeration.kind));
    for (Found& found : found_) HARMONICA_RETURN_IF_ERROR(resolve(found));
    place_siblings();
    HARMONICA_RETURN_IF_ERROR(check_guard(enumeration.kind));
    HARMONICA_RETURN_IF_ERROR(record());
    if (minted_) knowledge_.raise_everywhere({context_.replica, context_.clock.last()});
    // While something pending or left out stands in the store, the next detection has to look again; at everything, if the
    // store compares, for an older anchor does not know what has come since.
    if (!pending_seen_ && !context_.look_again) {
      HARMONICA_RETURN_IF_ERROR(transaction_.set_anchor(context_.anchor));
    } else if (is_whole) {
      HARMONICA_RETURN_IF_ERROR(transaction_.set_anchor({}));
    }
    HARMONICA_RETURN_IF_ERROR(transaction_.set_knowledge(knowledge_));
    HARMONICA_RETURN_IF_ERROR(commit(context_, transaction_, state_));
    return std::move(report_);
  }

 private:
  // The store has looked closely and now knows a quicker way to see that nothing has changed.
  Status keep_anchor(const Bytes& before) {
    if (context_.anchor == before) return {};
    HARMONICA_RETURN_IF_ERROR(transaction_.set_anchor(context_.anchor));
    return commit(context_, transaction_, state_);
  }

  // What the store has beside what was known; what is left of that is gone.
  Status pair(Collector& collector, EnumerationKind kind) {
    if (kind == EnumerationKind::kEverything) {
      HARMONICA_RETURN_IF_ERROR(known_.load());
    } else {
      for (KnownItem& known : known_.items()) known.seen = true;
    }
    for (const StoreKey& key : collector.removed_keys) {
      HARMONICA_ASSIGN_OR_RETURN(KnownItem * known, known_.find(key));
      if (known != nullptr) known->seen = false;
    }
    HARMONICA_RETURN_IF_ERROR(leave_alone(collector));
    context_.look_again = false;
    context_.left_out_keys.clear();
    found_.reserve(collector.items.size());
    for (StoreItem& item : std::exchange(collector.items, {})) HARMONICA_RETURN_IF_ERROR(take(std::move(item)));
    HARMONICA_RETURN_IF_ERROR(leave_alone_below());
    for (const PreparedItem& one : pending_) {
      if (one.shown && new_by_key_.contains(one.key)) taken_.insert(one.item);
    }
    for (KnownItem& known : known_.items()) {
      if (known.seen || !pending_removal(known.item)) continue;
      known.seen = true;
      pending_seen_ = true;
      undone_removals_.push_back(known.item);
    }
    return {};
  }

  Status leave_alone(const Collector& collector) {
    context_.left_alone.clear();
    for (const StoreKey& key : collector.skipped_keys) {
      HARMONICA_ASSIGN_OR_RETURN(KnownItem * known, known_.find(key));
      if (known != nullptr) leave_alone(*known);
    }
    return {};
  }

  // What was shown below something that is left alone, and is not seen elsewhere, is in there: it is not gone.
  Status leave_alone_below() {
    if (context_.left_alone.empty()) return {};
    for (KnownItem& known : known_.items()) {
      if (known.seen) continue;
      const KnownItem* above = &known;
      for (std::size_t levels = 0; above != nullptr && levels < limits::kAncestorsMax; ++levels) {
        HARMONICA_ASSIGN_OR_RETURN(above, known_.find(above->shown.parent));
        if (above == nullptr || !context_.left_alone.contains(above->item)) continue;
        leave_alone(known);
        break;
      }
    }
    return {};
  }

  void leave_alone(KnownItem& known) {
    known.seen = true;
    context_.left_alone.insert(known.item);
  }

  Status take(StoreItem content) {
    const ItemType* type = context_.schema().find_type(content.type);
    if (type == nullptr) {
      return {StatusCode::kInternal, "the store offers " + printable(content.key) + " with a type that its schema lacks"};
    }
    HARMONICA_ASSIGN_OR_RETURN(KnownItem * known, known_.find(content.key));
    if (std::optional<std::string> fault = fault_of(*type, content)) {
      report_.skipped.push_back(printable(content.key) + ": " + *std::move(fault));
      context_.look_again = true;
      if (known != nullptr) {
        leave_alone(*known);
      } else {
        context_.left_out_keys.insert(std::move(content.key));
      }
      return {};
    }
    if (known != nullptr && known->place) return repeated(content.key);
    if (known != nullptr) known->seen = known->type == content.type;
    Found& found = found_.emplace_back();
    found.content = std::move(content);
    found.known = known != nullptr && known->seen ? known : nullptr;
    const StoreKey& key = found.content.key;
    const std::size_t place = found_.size() - 1;
    if (key.empty() || new_by_key_.contains(key)) return repeated(key);
    if (found.known != nullptr) {
      found.known->place = place;
    } else {
      new_by_key_.emplace(key, place);
    }
    return {};
  }

  static Status repeated(const StoreKey& key) {
    return {StatusCode::kInternal, "the store offers the key " + printable(key) + " twice, or an empty one"};
  }

  // Why an item cannot be synced, though the store offers it; nothing if it can.
  std::optional<std::string> fault_of(const ItemType& type, const StoreItem& content) const {
    if (context_.left_out_keys.contains(content.parent)) {
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
    const auto place = static_cast<std::size_t>(&found - found_.data());
    if (found.known != nullptr) {
      found.known->place = place;
      compare(*found.known, found);
    } else {
      new_by_item_.emplace(found.item, place);
    }
    return {};
  }

  // Which item stands under a key that is not shown. `ours`: what a lost write of ours put there before the user edited it.
  Status identify(const ItemType& type, Found& found, const PreparedItem* ours) {
    if (ours != nullptr) {
      HARMONICA_ASSIGN_OR_RETURN(const std::optional<StoredItem> held, transaction_.find(ours->item));
      if (held && held->item.alive() && held->item.type == type.id && !held->shown && !new_by_item_.contains(ours->item)) {
        // An edit of the item as that write showed it.
        found.item = ours->item;
        found.known = &shown_by_lost_writes_.emplace_back(KnownItem{ours->item, type.id, *ours->shown, true, std::nullopt});
        found.differs = true;
        new_by_item_.emplace(found.item, static_cast<std::size_t>(&found - found_.data()));
        return {};
      }
      // Not held yet: the user's, under the id that it is going to have.
      found.content.identity = ours->item;
      taken_.erase(ours->item);
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
    if (const auto parent = new_by_key_.find(key); parent != new_by_key_.end()) place = parent->second;
    if (place && &found_[*place] < &found) return found_[*place].item;
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
    if (new_by_item_.contains(item) || taken_.contains(item) || item.is_zero() || context_.schema().is_root(item))
      return false;
    if (first_detection_) return true;
    HARMONICA_ASSIGN_OR_RETURN(const std::optional<StoredItem> stored, transaction_.find(item));
    if (!stored) return true;
    if (stored->item.type != type.id) return false;
    // A deleted item may still be shown, where its removal could not be written yet.
    HARMONICA_ASSIGN_OR_RETURN(const KnownItem* known, known_.find(item));
    if (known != nullptr) return !known->seen;
    return !stored->item.alive();
  }

  // A unit is changed by the user if it is neither what was shown nor what a lost commit was about to show.
  void compare(const KnownItem& known, Found& found) {
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
      const bool ours = is_pending([&](const ShownItem& one) {
        const Value* expected = find_value(one.values, value.unit);
        return expected != nullptr && *expected == value.value;
      });
      if (!ours) found.changed.push_back(value.unit);
    }
    if (found.content.values.size() != known.shown.values.size()) found.differs = true;
    if (found.content.key != known.shown.key) found.differs = true;
    if (found.parent != known.shown.parent) {
      found.differs = true;
      found.moved = !is_pending([&](const ShownItem& one) { return one.parent == found.parent; });
    }
    found.position = known.shown.position;
  }

  // Positions for the children that are new or out of order, one parent at a time.
  void place_siblings() {
    std::unordered_map<ItemId, std::vector<std::size_t>, IdHash> children;
    for (std::size_t index = 0; index < found_.size(); ++index) {
      const ItemType* type = context_.schema().find_type(found_[index].content.type);
      if (type->find_role(UnitRole::kPosition) != nullptr) children[found_[index].parent].push_back(index);
    }
    for (const auto& [parent, indexes] : children) place_children(parent, indexes);
  }

  void place_children(const ItemId& parent, const std::vector<std::size_t>& indexes) {
    std::vector<Sibling> siblings;
    siblings.reserve(indexes.size());
    for (const std::size_t index : indexes) {
      const Found& found = found_[index];
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
      Found& found = found_[indexes[place]];
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
    if (!first_detection_) return {};
    std::int64_t latest_ms = 0;
    for (const std::size_t index : indexes) latest_ms = std::max(latest_ms, time_of(found_[index]));
    const std::uint32_t band = std::numeric_limits<std::uint32_t>::max() - 1 - static_cast<std::uint32_t>(latest_ms / 1000);
    const auto key = [](std::uint32_t number) {
      Bytes bytes;
      for (int shift = 24; shift >= 0; shift -= 8) bytes.push_back(static_cast<std::uint8_t>(number >> shift));
      return bytes;
    };
    return {key(band), key(band + 1)};
  }

  // When the item last changed, as far as its store says; not in the future. 0: unknown, so oldest.
  std::int64_t time_of(const Found& found) const {
    const std::int64_t now = std::max<std::int64_t>(context_.environment.wall_clock_ms(), 0);
    return std::clamp<std::int64_t>(found.content.changed_ms.value_or(0), 0, now);
  }

  Status check_guard(EnumerationKind kind) const {
    if (context_.guard == Guard::kConfirmed) return {};
    std::size_t gone = 0;
    for (const KnownItem& known : known_.items()) gone += known.seen ? 0 : 1;
    if (gone == 0) return {};
    const bool empty = kind == EnumerationKind::kEverything && found_.empty() && gone == counts_.shown;
    const bool most = gone > limits::kGuardDeletionsMin && gone * 2 > counts_.shown;
    if (!empty && !most) return {};
    return {StatusCode::kGuard, std::to_string(gone) + " of " + std::to_string(counts_.shown) +
                                    " items are gone from the store since it was last synced" +
                                    (empty ? ", and it is empty now" : "") +
                                    "; if that was meant, confirm it, otherwise bring the store back first"};
  }

  Status record() {
    std::vector<ViewInput> inputs;
    const auto add = [&](ViewInput input) -> Status {
      inputs.push_back(std::move(input));
      return inputs.size() < kRecordedAtOnce ? Status() : show(inputs);
    };
    const std::vector<Version> versions = assign_versions();
    for (std::size_t index = 0; index < found_.size(); ++index) {
      Found& found = found_[index];
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
    for (const ItemId& item : undone_removals_) {
      HARMONICA_ASSIGN_OR_RETURN(std::optional<StoredItem> stored, transaction_.find(item));
      if (!stored) continue;
      ViewInput input{*stored, *stored};
      input.after.shown.reset();
      HARMONICA_RETURN_IF_ERROR(add(std::move(input)));
    }
    return show(inputs);
  }

  // Views follow from the registers alone, in whatever order these change: so no more of the items need be held at a time.
  Status show(std::vector<ViewInput>& inputs) {
    HARMONICA_ASSIGN_OR_RETURN(const std::vector<StoredItem> items,
                               update_views(context_.schema(), transaction_, std::exchange(inputs, {})));
    for (const StoredItem& item : items) {
      const WrittenState written =
          desired_shown(context_, item, StoreKey()) == item.shown ? WrittenState::kWritten : WrittenState::kUnwritten;
      HARMONICA_RETURN_IF_ERROR(transaction_.put(item, index_entries(context_.schema(), item, written)));
    }
    return {};
  }

  static bool is_users(const Found& found) {
    return !found.orphan &&
           (found.known == nullptr || found.reborn || found.moved || found.repositioned || !found.changed.empty());
  }

  // One tick an item. The first detection of a replica that has learned nothing takes ticks from the items' own times, in
  // their order, so that an old copy that enrols today does not beat newer edits; there, all children of a folder share one
  // tick for their positions, so that one device's order wins as a whole.
  std::vector<Version> assign_versions() {
    std::vector<Version> versions(found_.size());
    if (!first_detection_) {
      for (std::size_t index = 0; index < found_.size(); ++index) {
        if (is_users(found_[index])) versions[index] = mint(context_.clock.next());
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
    for (std::size_t index = 0; index < found_.size(); ++index) {
      const Found& found = found_[index];
      if (found.orphan) continue;
      const std::int64_t time = time_of(found);
      events.push_back({time, index, nullptr});
      if (!found.repositioned) continue;
      const auto [folder, is_new] = folders.try_emplace(found.parent, time, index);
      if (!is_new) folder->second = {std::max(folder->second.first, time), index};
    }
    for (const auto& [folder, latest] : folders) events.push_back({latest.first, latest.second, &folder});
    std::stable_sort(events.begin(), events.end(), [](const Event& a, const Event& b) { return a.time < b.time; });
    for (const Event& event : events) {
      const Version version = mint(context_.clock.next_at(first_tick_of(event.time)));
      if (event.folder != nullptr) {
        folder_versions_[*event.folder] = version;
      } else {
        versions[event.index] = version;
      }
    }
    return versions;
  }

  Version mint(Tick tick) {
    minted_ = true;
    return {context_.replica, tick};
  }

  Result<ViewInput> change_of(Found& found, const Version& version) {
    const ItemType& type = *context_.schema().find_type(found.content.type);
    std::optional<StoredItem> before;
    if (!first_detection_) {
      HARMONICA_ASSIGN_OR_RETURN(before, transaction_.find(found.item));
    }
    StoredItem after;
    if (before) after = *before;
    after.item.id = found.item;
    after.item.type = type.id;
    after.item.units.reserve(type.units.size());
    const bool is_new = found.known == nullptr;
    if (is_new) after.item.existence = {version, Existence::kCreated};
    for (const UnitValue& value : found.content.values) {
      const bool changed = std::find(found.changed.begin(), found.changed.end(), value.unit) != found.changed.end();
      if (is_new || changed) after.item.at(value.unit) = {version, value.value, Origin::kWritten};
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
    } else if (!is_new && is_users(found) && !after.item.alive()) {
      HARMONICA_RETURN_IF_ERROR(edit_of_deleted(type, version, after.item));
    }
    after.shown = ShownItem{found.content.key, found.parent, found.position, std::move(found.content.values)};
    if (is_new) {
      ++report_.created;
    } else if (is_users(found)) {
      ++report_.updated;
    }
    return ViewInput{std::move(before), std::move(after)};
  }

  // A deletion that could not be written into the store yet, and a user who edits what still stands there without having
  // seen it: as if the two had met (rule R10).
  Status edit_of_deleted(const ItemType& type, const Version& version, Item& item) {
    if (type.deletion != DeletionRule::kDeleteWins) {
      item.existence = {version, Existence::kRestored};
      return {};
    }
    for (const UnitRegister& unit : item.units) {
      if (unit.content.version != version) continue;
      if (type.find_unit(unit.unit)->recording == ConflictRecording::kSilent) continue;
      ConflictRecord conflict;
      conflict.item = item.id;
      conflict.type = item.type;
      conflict.unit = unit.unit;
      conflict.kept = {item.existence.version, Value(), Existence::kDeleted};
      conflict.lost = {version, unit.content.value, Existence::kCreated};
      conflict.rule = "delete_wins";
      conflict.id = conflict_id(context_.environment, conflict);
      conflict.decided_by = context_.replica;
      conflict.when_ms = context_.environment.wall_clock_ms();
      HARMONICA_RETURN_IF_ERROR(transaction_.put_conflict(conflict));
    }
    return {};
  }

  // The ids above the item as the store has them now, nearest first, its root last.
  Result<Value> ancestors_of(const Found& found) {
    Value::Ids ancestors;
    ItemId ancestor = found.parent;
    while (!ancestor.is_zero() && ancestors.size() < limits::kAncestorsMax) {
      ancestors.push_back(ancestor);
      if (context_.schema().is_root(ancestor)) break;
      HARMONICA_ASSIGN_OR_RETURN(const std::optional<std::size_t> place, place_of(ancestor));
      if (place) {
        ancestor = found_[*place].parent;
        continue;
      }
      HARMONICA_ASSIGN_OR_RETURN(const std::optional<StoredItem> stored, transaction_.find(ancestor));
      ancestor = stored && stored->shown ? stored->shown->parent : ItemId();
    }
    return Value::ids(std::move(ancestors));
  }

  // Among what the store has now.
  Result<std::optional<std::size_t>> place_of(const ItemId& item) {
    if (const auto found = new_by_item_.find(item); found != new_by_item_.end()) return std::optional(found->second);
    HARMONICA_ASSIGN_OR_RETURN(const KnownItem* known, known_.find(item));
    return known == nullptr ? std::nullopt : known->place;
  }

  Result<ViewInput> deletion_of(const ItemId& item) {
    HARMONICA_ASSIGN_OR_RETURN(std::optional<StoredItem> before, transaction_.find(item));
    if (!before) return Status(StatusCode::kInternal, "item " + item.to_text() + " is shown but not held");
    StoredItem after = *before;
    after.item.existence = {mint(context_.clock.next()), Existence::kDeleted};
    after.shown.reset();
    ++report_.deleted;
    return ViewInput{std::move(before), std::move(after)};
  }

  ReplicaContext& context_;
  MetadataTransaction& transaction_;
  KnownItems known_;
  std::vector<PreparedItem> pending_;
  std::map<ItemId, std::vector<const PreparedItem*>> pending_by_item_;
  std::map<StoreKey, std::vector<const PreparedItem*>> pending_by_key_;
  ReplicaState state_;
  Knowledge knowledge_;
  DetectionReport report_;
  ItemCounts counts_;
  std::vector<Found> found_;  // in the order of the store; does not grow once it is filled
  // Places in it of what was not known.
  std::unordered_map<std::string_view, std::size_t> new_by_key_;
  std::unordered_map<ItemId, std::size_t, IdHash> new_by_item_;
  std::deque<KnownItem> shown_by_lost_writes_;
  std::set<ItemId> taken_;  // items that a lost write has put into the store, under a key that stands there now
  std::map<ItemId, Version> folder_versions_;
  std::unordered_map<ItemId, std::uint32_t, IdHash> next_twin_;  // by the first id of a natural key
  std::vector<ItemId> undone_removals_;
  bool first_detection_ = false;
  bool pending_seen_ = false;
  bool minted_ = false;
};

}  // namespace

Result<DetectionReport> ChangeDetector::detect() {
  HARMONICA_ASSIGN_OR_RETURN(std::vector<PreparedItem> pending, pending_items(context_));
  HARMONICA_ASSIGN_OR_RETURN(const auto transaction, context_.metadata.begin(TransactionMode::kWrite));
  HARMONICA_ASSIGN_OR_RETURN(last_, Detection(context_, *transaction, std::move(pending)).run());
  return last_;
}

}  // namespace harmonica::kernel
