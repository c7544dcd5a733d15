#include "kernel/change_detector.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "harmonica/limits.h"
#include "kernel/adoption.h"
#include "kernel/position.h"
#include "kernel/views.h"
#include "kernel/write_plan.h"

namespace harmonica::kernel {
namespace {

// An item that was shown in the store when it was last looked at.
struct Known {
  ItemId item;
  TypeId type = 0;
  ShownItem shown;
  bool seen = false;
};

// An item that the store has now.
struct Found {
  StoreItem content;
  ItemId item;
  ItemId parent;
  const Known* known = nullptr;  // nothing: new
  bool orphan = false;           // written by us, its commit lost: not a user's
  bool differs = false;          // from what was shown, by whoever's hand
  bool moved = false;            // by the user
  std::vector<UnitId> changed;   // by the user
  Bytes position;                // as shown, or the new one
  bool repositioned = false;     // by the user
};

const Value* find_value(const std::vector<UnitValue>& values, UnitId unit) {
  const auto found = std::lower_bound(values.begin(), values.end(), unit,
                                      [](const UnitValue& value, UnitId id) { return value.unit < id; });
  return found != values.end() && found->unit == unit ? &found->value : nullptr;
}

// Everything that is shown, by store key.
class KnownItems : public ShownItems {
 public:
  KnownItems(const Schema& schema, MetadataTransaction& transaction) : schema_(schema), transaction_(transaction) {}

  Status load() const {
    if (loaded_) return {};
    loaded_ = true;
    return transaction_.scan(ItemIdRange::all(), [&](const StoredItem& stored) -> Result<Visit> {
      if (stored.shown) {
        by_key_.emplace(stored.shown->key, items_.size());
        keys_.emplace(stored.item.id, stored.shown->key);
        items_.push_back({stored.item.id, stored.item.type, *stored.shown});
      }
      return Visit::kContinue;
    });
  }

  Status for_each(const std::function<void(const StoreItem&)>& visit) const override {
    HARMONICA_RETURN_IF_ERROR(load());
    for (const Known& known : items_) {
      StoreItem item;
      item.key = known.shown.key;
      item.type = known.type;
      item.parent = key_of(known.shown.parent);
      item.values = known.shown.values;
      visit(item);
    }
    return {};
  }

  Known* find(const StoreKey& key) {
    const auto found = by_key_.find(key);
    return found == by_key_.end() ? nullptr : &items_[found->second];
  }

  Known* find(const ItemId& item) {
    const auto found = keys_.find(item);
    return found == keys_.end() ? nullptr : find(found->second);
  }

  std::vector<Known>& items() { return items_; }

 private:
  StoreKey key_of(const ItemId& item) const {
    for (const Root& root : schema_.roots) {
      if (root.id == item) return root.name;
    }
    const auto found = keys_.find(item);
    return found == keys_.end() ? StoreKey() : found->second;
  }

  const Schema& schema_;
  MetadataTransaction& transaction_;
  mutable bool loaded_ = false;
  mutable std::vector<Known> items_;  // in id order
  mutable std::unordered_map<StoreKey, std::size_t> by_key_;
  mutable std::map<ItemId, StoreKey> keys_;
};

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
    context_.clock.observe(state_.last_tick);
    Collector collector;
    HARMONICA_ASSIGN_OR_RETURN(Enumeration enumeration, context_.store.enumerate(state_.anchor, known_, collector));
    context_.anchor = enumeration.anchor;
    context_.astray.clear();
    report_.skipped = std::move(collector.skipped_lines);
    for (const std::string& line : collector.mended_lines) {
      context_.environment.log(LogLevel::kWarning, line + "; the next write mends it");
    }
    if (enumeration.kind == EnumerationKind::kUnchanged) return std::move(report_);

    HARMONICA_RETURN_IF_ERROR(known_.load());
    report_.enumerated = collector.items.size();
    HARMONICA_RETURN_IF_ERROR(find_gone(collector, enumeration.kind));
    HARMONICA_RETURN_IF_ERROR(resolve(std::move(collector.items)));
    place_siblings();
    HARMONICA_RETURN_IF_ERROR(check_guard(enumeration.kind));
    HARMONICA_RETURN_IF_ERROR(record());
    if (minted_) knowledge_.raise_everywhere({context_.replica, context_.clock.last()});
    // While something pending stands in the store, the next detection has to look again.
    if (!pending_seen_) state_.anchor = context_.anchor;
    HARMONICA_RETURN_IF_ERROR(transaction_.set_knowledge(knowledge_));
    HARMONICA_RETURN_IF_ERROR(commit(context_, transaction_, state_));
    return std::move(report_);
  }

 private:
  // Marks what the store still has; what is left of the known items is gone.
  Status find_gone(const Collector& collector, EnumerationKind kind) {
    if (kind == EnumerationKind::kChanges) {
      for (Known& known : known_.items()) known.seen = true;
      for (const StoreKey& key : collector.removed_keys) {
        if (Known* known = known_.find(key)) known->seen = false;
      }
    }
    std::set<StoreKey> keys;
    for (const StoreItem& item : collector.items) {
      if (item.key.empty() || !keys.insert(item.key).second) {
        return {StatusCode::kInternal, "the store offers the key '" + item.key + "' twice, or an empty one"};
      }
      Known* known = known_.find(item.key);
      if (known != nullptr && known->type == item.type) known->seen = true;
    }
    for (const StoreKey& key : collector.skipped_keys) {
      if (Known* known = known_.find(key)) known->seen = true;
    }
    for (Known& known : known_.items()) {
      if (known.seen || !pending_removal(known.item)) continue;
      known.seen = true;
      pending_seen_ = true;
      undone_removals_.push_back(known.item);
    }
    return {};
  }

  bool pending_removal(const ItemId& item) const {
    const auto found = pending_by_item_.find(item);
    return found != pending_by_item_.end() &&
           std::any_of(found->second.begin(), found->second.end(), [](const PreparedItem* one) { return !one->shown; });
  }

  // Who each item is, where it stands and what differs.
  Status resolve(std::vector<StoreItem> items) {
    HARMONICA_ASSIGN_OR_RETURN(const ItemCounts counts, transaction_.counts());
    first_detection_ = state_.last_tick == 0 && counts.alive + counts.deleted == 0;
    found_.reserve(items.size());
    for (StoreItem& content : items) {
      const ItemType* type = context_.schema().find_type(content.type);
      if (type == nullptr) {
        return {StatusCode::kInternal, "the store offers '" + content.key + "' with a type that its schema lacks"};
      }
      Found found;
      HARMONICA_ASSIGN_OR_RETURN(found.parent, find_parent(*type, content));
      Known* known = known_.find(content.key);
      if (known != nullptr && known->type != content.type) known = nullptr;
      if (known == nullptr) {
        const PreparedItem* ours = pending_creation(content);
        if (ours != nullptr && ours->shown->parent == found.parent && ours->shown->values == content.values) {
          found.orphan = true;
          found.item = ours->item;
          found.position = ours->shown->position;
          pending_seen_ = true;
        } else {
          // What a user has edited since is the user's, under the id that we had given it.
          if (ours != nullptr) content.identity = ours->item;
          HARMONICA_ASSIGN_OR_RETURN(found.item, adopt(*type, content, found.parent));
          known = known_.find(found.item);
          if (known != nullptr) known->seen = true;
        }
      } else {
        found.item = known->item;
      }
      found.known = known;
      found.content = std::move(content);
      if (known != nullptr) compare(*known, found);
      taken_.insert(found.item);
      parents_[found.item] = found.parent;
      ids_[found.content.key] = found.item;
      found_.push_back(std::move(found));
    }
    return {};
  }

  Result<ItemId> find_parent(const ItemType& type, const StoreItem& content) {
    if (type.find_role(UnitRole::kParent) == nullptr || content.parent.empty()) return ItemId();
    for (const Root& root : context_.schema().roots) {
      if (root.name == content.parent) return root.id;
    }
    if (const auto found = ids_.find(content.parent); found != ids_.end()) return found->second;
    if (const Known* known = known_.find(content.parent)) return known->item;
    return Status(StatusCode::kInternal,
                  "the store offers '" + content.key + "' before its parent '" + content.parent + "'");
  }

  // What a lost commit had written under that key: the state that equals what stands there now, or the last one.
  const PreparedItem* pending_creation(const StoreItem& content) const {
    const auto found = pending_by_key_.find(content.key);
    if (found == pending_by_key_.end()) return nullptr;
    const PreparedItem* last = nullptr;
    for (const PreparedItem* one : found->second) {
      if (!one->shown) continue;
      last = one;
      if (one->shown->values == content.values) return one;
    }
    return last;
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
    for (std::uint32_t number = 0;; ++number) {
      const ItemId item = natural_item_id(context_.environment, type, parent, named, number);
      HARMONICA_ASSIGN_OR_RETURN(const bool free, is_free(type, item));
      if (free) return item;
    }
  }

  Result<bool> is_free(const ItemType& type, const ItemId& item) {
    if (taken_.contains(item) || item.is_zero() || context_.schema().is_root(item)) return false;
    if (first_detection_) return true;
    HARMONICA_ASSIGN_OR_RETURN(const std::optional<StoredItem> stored, transaction_.find(item));
    if (!stored) return true;
    if (stored->item.type != type.id) return false;
    if (!stored->item.alive()) return true;
    const Known* known = known_.find(item);
    return known != nullptr && !known->seen;
  }

  // A unit is changed by the user if it is neither what was shown nor what a lost commit was about to show.
  void compare(const Known& known, Found& found) {
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

  // New positions for the children that are new or out of order, one parent at a time.
  void place_siblings() {
    std::map<ItemId, std::vector<std::size_t>> children;
    for (std::size_t index = 0; index < found_.size(); ++index) {
      const ItemType* type = context_.schema().find_type(found_[index].content.type);
      if (type->find_role(UnitRole::kPosition) != nullptr) children[found_[index].parent].push_back(index);
    }
    for (const auto& [parent, indexes] : children) place_children(parent, indexes);
  }

  void place_children(const ItemId& parent, const std::vector<std::size_t>& indexes) {
    std::vector<Bytes> positions;
    for (const std::size_t index : indexes) {
      const Found& found = found_[index];
      const bool in_place = found.orphan || (found.known != nullptr && found.known->shown.parent == parent);
      positions.push_back(in_place ? found.position : Bytes());
    }
    std::optional<std::vector<Bytes>> ours = order_of_ours(parent, indexes, positions);
    if (!ours) return give_positions(indexes, positions, in_order(indexes, positions));
    std::vector<std::size_t> settled;
    std::vector<Bytes> settled_positions;
    for (std::size_t place = 0; place < indexes.size(); ++place) {
      if (!positions[place].empty() && is_in_transit(found_[indexes[place]].item, parent)) continue;
      settled.push_back(indexes[place]);
      settled_positions.push_back(std::move((*ours)[place]));
    }
    give_positions(settled, settled_positions, in_order(settled, settled_positions));
  }

  // Whether a write that was lost or accepted in part was to take the item away from `parent`: its siblings were placed as
  // if it had gone.
  bool is_in_transit(const ItemId& item, const ItemId& parent) const {
    const auto found = pending_by_item_.find(item);
    return found != pending_by_item_.end() &&
           std::any_of(found->second.begin(), found->second.end(),
                       [&](const PreparedItem* one) { return !one->shown || one->shown->parent != parent; });
  }

  // A write that was lost or accepted in part may have put some children in place already. If the order in the store
  // follows from each child's having its position of before or one that was about to be written, it is ours and no user's.
  std::optional<std::vector<Bytes>> order_of_ours(const ItemId& parent, const std::vector<std::size_t>& indexes,
                                                  const std::vector<Bytes>& positions) {
    std::vector<Bytes> ours = positions;
    bool any_pending = false;
    std::pair<Bytes, ItemId> last;
    for (std::size_t place = 0; place < indexes.size(); ++place) {
      const ItemId& item = found_[indexes[place]].item;
      if (!positions[place].empty() && is_in_transit(item, parent)) {
        any_pending = true;
        continue;
      }
      std::vector<Bytes> candidates = pending_positions(item, parent);
      any_pending = any_pending || !candidates.empty();
      if (!positions[place].empty()) candidates.push_back(positions[place]);
      if (candidates.empty()) continue;
      std::sort(candidates.begin(), candidates.end());
      const auto chosen = std::find_if(candidates.begin(), candidates.end(),
                                       [&](const Bytes& candidate) { return std::pair(candidate, item) > last; });
      if (chosen == candidates.end()) return std::nullopt;
      ours[place] = *chosen;
      last = {*chosen, item};
    }
    if (!any_pending) return std::nullopt;
    if (ours != positions) pending_seen_ = true;
    return ours;
  }

  std::vector<Bytes> pending_positions(const ItemId& item, const ItemId& parent) const {
    std::vector<Bytes> positions;
    const auto found = pending_by_item_.find(item);
    if (found == pending_by_item_.end()) return positions;
    for (const PreparedItem* one : found->second) {
      if (one->shown && one->shown->parent == parent && !one->shown->position.empty())
        positions.push_back(one->shown->position);
    }
    return positions;
  }

  // Which children, as places in `indexes`, can keep their positions: a longest sequence in which they rise, equal
  // positions being ordered by item as the view orders them.
  std::vector<std::size_t> in_order(const std::vector<std::size_t>& indexes, const std::vector<Bytes>& positions) const {
    std::vector<std::size_t> placed;
    for (std::size_t place = 0; place < indexes.size(); ++place) {
      if (!positions[place].empty()) placed.push_back(place);
    }
    const auto before = [&](std::size_t a, std::size_t b) {
      if (positions[a] != positions[b]) return positions[a] < positions[b];
      return found_[indexes[a]].item < found_[indexes[b]].item;
    };
    if (std::is_sorted(placed.begin(), placed.end(), before)) return placed;
    std::vector<std::size_t> sorted = placed;
    std::sort(sorted.begin(), sorted.end(), before);
    std::vector<Bytes> ranks(indexes.size());
    for (std::size_t rank = 0; rank < sorted.size(); ++rank) {
      for (int shift = 24; shift >= 0; shift -= 8) ranks[sorted[rank]].push_back(static_cast<std::uint8_t>(rank >> shift));
    }
    std::vector<Bytes> sequence;
    for (const std::size_t place : placed) sequence.push_back(ranks[place]);
    std::vector<std::size_t> staying;
    for (const std::size_t index : longest_increasing(sequence)) staying.push_back(placed[index]);
    return staying;
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

  void give_positions(const std::vector<std::size_t>& indexes, const std::vector<Bytes>& positions,
                      const std::vector<std::size_t>& staying) {
    std::size_t next_staying = 0;
    const auto [first_bound, last_bound] = outer_bounds(indexes);
    Bytes lower = first_bound;
    for (std::size_t place = 0; place < indexes.size();) {
      if (next_staying < staying.size() && staying[next_staying] == place) {
        Found& found = found_[indexes[place]];
        if (found.position != positions[place]) found.differs = true;
        found.position = positions[place];
        lower = positions[place];
        ++next_staying;
        ++place;
        continue;
      }
      const std::size_t run_end = next_staying < staying.size() ? staying[next_staying] : indexes.size();
      const Bytes upper = next_staying < staying.size() ? positions[run_end] : last_bound;
      std::vector<ItemId> items;
      for (std::size_t member = place; member < run_end; ++member) items.push_back(found_[indexes[member]].item);
      std::vector<Bytes> fresh = positions_between(lower, upper, items);
      const bool fits = lower < fresh.front() && (upper.empty() || fresh.back() < upper);
      if (!fits) return spread_anew(indexes);
      for (std::size_t member = place; member < run_end; ++member) {
        reposition(found_[indexes[member]], std::move(fresh[member - place]));
      }
      lower = found_[indexes[run_end - 1]].position;
      place = run_end;
    }
  }

  // Between two keys there was no room left: every sibling gets a new one.
  void spread_anew(const std::vector<std::size_t>& indexes) {
    std::vector<ItemId> items;
    for (const std::size_t index : indexes) items.push_back(found_[index].item);
    std::vector<Bytes> fresh = positions_between({}, {}, items);
    for (std::size_t place = 0; place < indexes.size(); ++place) {
      reposition(found_[indexes[place]], std::move(fresh[place]));
    }
  }

  static void reposition(Found& found, Bytes position) {
    found.position = std::move(position);
    found.repositioned = !found.orphan;
    found.differs = true;
  }

  Status check_guard(EnumerationKind kind) const {
    if (context_.guard == Guard::kConfirmed) return {};
    std::size_t gone = 0;
    const std::vector<Known>& known = const_cast<KnownItems&>(known_).items();
    for (const Known& one : known) gone += one.seen ? 0 : 1;
    if (gone == 0) return {};
    const bool empty = kind == EnumerationKind::kEverything && found_.empty();
    const bool most = gone > limits::kGuardDeletionsMin && gone * 2 > known.size();
    if (!empty && !most) return {};
    return {StatusCode::kGuard, std::to_string(gone) + " of " + std::to_string(known.size()) +
                                    " items are gone from the store since it was last synced" +
                                    (empty ? ", and it is empty now" : "") +
                                    "; if that was meant, confirm it, otherwise bring the store back first"};
  }

  Status record() {
    std::vector<ViewInput> inputs;
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
      inputs.push_back(std::move(input));
    }
    for (const Known& known : known_.items()) {
      if (!known.seen) {
        HARMONICA_ASSIGN_OR_RETURN(ViewInput input, deletion_of(known.item));
        inputs.push_back(std::move(input));
      }
    }
    for (const ItemId& item : undone_removals_) {
      HARMONICA_ASSIGN_OR_RETURN(std::optional<StoredItem> stored, transaction_.find(item));
      if (!stored) continue;
      ViewInput input{*stored, *stored};
      input.after.shown.reset();
      inputs.push_back(std::move(input));
    }
    HARMONICA_ASSIGN_OR_RETURN(const std::vector<StoredItem> items,
                               update_views(context_.schema(), transaction_, std::move(inputs)));
    for (const StoredItem& item : items) {
      const WrittenState written =
          desired_shown(context_, item) == item.shown ? WrittenState::kWritten : WrittenState::kUnwritten;
      HARMONICA_RETURN_IF_ERROR(transaction_.put(item, index_entries(context_.schema(), item, written)));
    }
    return {};
  }

  static bool is_users(const Found& found) {
    return !found.orphan && (found.known == nullptr || found.moved || found.repositioned || !found.changed.empty());
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

  Result<ViewInput> change_of(const Found& found, const Version& version) {
    const ItemType& type = *context_.schema().find_type(found.content.type);
    std::optional<StoredItem> before;
    if (!first_detection_) {
      HARMONICA_ASSIGN_OR_RETURN(before, transaction_.find(found.item));
    }
    StoredItem after;
    if (before) after = *before;
    after.item.id = found.item;
    after.item.type = type.id;
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
    after.shown = ShownItem{found.content.key, found.parent, found.position, found.content.values};
    if (is_new) {
      ++report_.created;
    } else if (is_users(found)) {
      ++report_.updated;
    }
    return ViewInput{std::move(before), std::move(after)};
  }

  // The ids above the item as the store has them now, nearest first, its root last.
  Result<Value> ancestors_of(const Found& found) {
    Value::Ids ancestors;
    ItemId ancestor = found.parent;
    while (!ancestor.is_zero() && ancestors.size() < limits::kAncestorsMax) {
      ancestors.push_back(ancestor);
      if (context_.schema().is_root(ancestor)) break;
      if (const auto known = parents_.find(ancestor); known != parents_.end()) {
        ancestor = known->second;
        continue;
      }
      HARMONICA_ASSIGN_OR_RETURN(const std::optional<StoredItem> stored, transaction_.find(ancestor));
      ancestor = stored && stored->shown ? stored->shown->parent : ItemId();
    }
    return Value::ids(std::move(ancestors));
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
  std::vector<Found> found_;
  std::set<ItemId> taken_;
  std::map<ItemId, ItemId> parents_;
  std::unordered_map<StoreKey, ItemId> ids_;
  std::map<ItemId, Version> folder_versions_;
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
