#include "kernel/first_contact.h"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "kernel/adoption.h"
#include "kernel/filtering.h"
#include "kernel/id_hash.h"
#include "kernel/identity.h"
#include "kernel/record_items.h"
#include "kernel/sibling_order.h"
#include "kernel/view_index.h"
#include "kernel/views.h"
#include "kernel/write_plan.h"

namespace harmonica::kernel {
namespace {

constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

// Older than whatever another replica has: it loses to that, and nothing is recorded.
constexpr Tick kOldestTick = 1;

// Of so many things that are alike each is known by its content.
constexpr std::uint32_t kTwinsMax = 16;

template <typename T>
using ById = std::unordered_map<ItemId, T, IdHash>;

// An item that the source has, with the one of ours that is the same.
struct Met {
  Item item;
  std::size_t own = kNone;
};

bool is_whole(std::span<const ReceivedBatch> batches) {
  return batches.front().batch.range.first == kFirstItemId && batches.back().batch.last;
}

class FirstContact {
 public:
  FirstContact(ReplicaContext& context, MetadataTransaction& transaction) : context_(context), transaction_(transaction) {}

  Result<FirstContactState> run(std::span<const ReceivedBatch> batches) {
    HARMONICA_RETURN_IF_ERROR(read_own());
    if (own_.empty() || any_is_held()) return FirstContactState::kAsBefore;
    if (!is_whole(batches)) return FirstContactState::kIncomplete;
    read_met(batches);
    pair_carried_ids();
    pair_all(Evidence::kContent);
    pair_all(Evidence::kContentOrId);
    choose_ids();
    for (const auto& [folder, children] : met_children_) order_children(folder, children);
    HARMONICA_RETURN_IF_ERROR(write());
    return std::ranges::any_of(own_, &Own::edited) ? FirstContactState::kChanged : FirstContactState::kAsBefore;
  }

 private:
  enum class Evidence : std::uint8_t { kContent, kContentOrId };

  struct Own {
    StoredItem stored;
    ItemId id;                // that it gets
    std::size_t met = kNone;  // the item that is the same
    bool edited = false;
  };

  Status read_own() {
    HARMONICA_RETURN_IF_ERROR(transaction_.scan(ItemIdRange::all(), [&](const StoredItem& stored) -> Result<Visit> {
      if (!is_record(stored.item.type)) own_.push_back({stored, stored.item.id});
      return Visit::kContinue;
    }));
    for (std::size_t own = 0; own < own_.size(); ++own) {
      const StoredItem& stored = own_[own].stored;
      own_by_id_.emplace(stored.item.id, own);
      if (stored.view.visible && stored.shown) own_children_[stored.view.parent].push_back(own);
    }
    for (auto& [folder, children] : own_children_) {
      // As they stand, which a write that was lost may have changed.
      std::ranges::sort(children, {}, [&](std::size_t child) {
        const StoredItem& stored = own_[child].stored;
        return std::pair(stored.shown->position, stored.item.id);
      });
    }
    return {};
  }

  // What the schema does not have may name others by their ids, which then have to stay.
  bool any_is_held() const {
    return std::ranges::any_of(own_, [&](const Own& own) {
      const ItemType* type = context_.schema().find_type(own.stored.item.type);
      return type == nullptr || std::ranges::any_of(own.stored.item.units, [&](const UnitRegister& unit) {
               return type->find_unit(unit.unit) == nullptr;
             });
    });
  }

  void read_met(std::span<const ReceivedBatch> batches) {
    for (const ReceivedBatch& received : batches) {
      for (const ItemChange& change : received.batch.changes) {
        met_ids_.insert(change.item);
        const Item item{change.item, change.type, change.existence, change.units};
        if (!is_living(context_.schema(), item)) continue;
        met_by_id_.emplace(change.item, met_.size());
        met_.push_back({item});
      }
    }
    for (std::size_t met = 0; met < met_.size(); ++met) met_children_[met_parent(met_[met].item)].push_back(met);
    for (auto& [folder, children] : met_children_) {
      std::ranges::sort(children, {}, [&](std::size_t child) { return order_of(met_[child].item); });
    }
  }

  // Where it is shown, cycles apart: nothing in one is reached from a root.
  ItemId met_parent(const Item& item) const {
    if (type_of(item).find_role(UnitRole::kParent) == nullptr) return {};
    for (const ItemId& ancestor : counted_ancestors(type_of(item), item)) {
      if (context_.schema().is_root(ancestor) || met_by_id_.contains(ancestor)) return ancestor;
    }
    return context_.schema().default_root();
  }

  const ItemType& type_of(const Item& item) const { return *context_.schema().find_type(item.type); }

  std::pair<Bytes, ItemId> order_of(const Item& item) const { return {position_of(type_of(item), item), item.id}; }

  std::vector<UnitValue> natural_values(const Item& item) const {
    std::vector<UnitValue> values;
    for (const UnitId unit : type_of(item).natural_key) {
      const Register* held = item.find(unit);
      if (held != nullptr) values.push_back({unit, context_.store.natural_form(item.type, unit, held->value)});
    }
    return values;
  }

  // Equal for what has the same natural key in one folder.
  ItemId content_of(const Item& item) const {
    return natural_item_id(context_.environment, type_of(item), ItemId(), natural_values(item), 0);
  }

  bool is_open(const Own& own) const {
    return own.met == kNone && own.stored.view.visible && own.stored.shown &&
           !context_.unsyncable.left_alone.contains(own.stored.item.id);
  }

  // Whether something that is not ours to name stands in the store under that id.
  bool is_occupied(const ItemId& id) const {
    return context_.astray.contains(id) || context_.unsyncable.left_alone.contains(id);
  }

  // The one of ours that has the id of `met`, if neither is another's.
  std::size_t open_own(std::size_t met) const {
    const Item& item = met_[met].item;
    const auto found = met_[met].own == kNone ? own_by_id_.find(item.id) : own_by_id_.end();
    if (found == own_by_id_.end()) return kNone;
    const Own& own = own_[found->second];
    return is_open(own) && own.stored.item.type == item.type ? found->second : kNone;
  }

  void pair(std::size_t met, std::size_t own) {
    met_[met].own = own;
    own_[own].met = met;
  }

  // Where our store carries the id that the source has for something, and it is not just what follows from content there.
  void pair_carried_ids() {
    for (std::size_t met = 0; met < met_.size(); ++met) {
      const std::size_t own = open_own(met);
      if (own == kNone || own_[own].stored.shown->key != context_.store.key_for(met_[met].item.id)) continue;
      if (!follows_from_content(met_[met].item)) pair(met, own);
    }
  }

  bool follows_from_content(const Item& item) const {
    const std::vector<UnitValue> values = natural_values(item);
    for (std::uint32_t number = 0; number < kTwinsMax; ++number) {
      if (natural_item_id(context_.environment, type_of(item), met_parent(item), values, number) == item.id) return true;
    }
    return false;
  }

  // Parents before their children.
  void pair_all(Evidence evidence) {
    std::vector<ItemId> folders = {ItemId()};
    for (const Root& root : context_.schema().roots) folders.push_back(root.id);
    for (std::size_t next = 0; next < folders.size(); ++next) {
      const auto children = met_children_.find(folders[next]);
      if (children == met_children_.end()) continue;
      pair_children(folders[next], children->second, evidence);
      for (const std::size_t child : children->second) folders.push_back(met_[child].item.id);
    }
  }

  // Ours that is the folder, or the root itself; nothing if we have no such folder.
  std::optional<ItemId> own_folder(const ItemId& folder) const {
    const auto found = met_by_id_.find(folder);
    if (found == met_by_id_.end()) return folder;
    const std::size_t own = met_[found->second].own;
    return own == kNone ? std::nullopt : std::optional(own_[own].stored.item.id);
  }

  const std::vector<std::size_t>& own_children(const ItemId& folder) const {
    static const std::vector<std::size_t> none;
    const std::optional<ItemId> own = own_folder(folder);
    const auto found = own ? own_children_.find(*own) : own_children_.end();
    return found == own_children_.end() ? none : found->second;
  }

  void pair_children(const ItemId& folder, const std::vector<std::size_t>& children, Evidence evidence) {
    if (pair_one_by_one(own_children(folder), children)) return;
    ById<std::deque<std::size_t>> candidates;
    for (const std::size_t own : own_children(folder)) {
      if (is_open(own_[own])) candidates[content_of(own_[own].stored.item)].push_back(own);
    }
    for (const std::size_t met : children) {
      if (met_[met].own != kNone || candidates.empty() || is_occupied(met_[met].item.id)) continue;
      const auto found = candidates.find(content_of(met_[met].item));
      if (found == candidates.end() || found->second.empty()) continue;
      pair(met, found->second.front());
      found->second.pop_front();
    }
    if (evidence == Evidence::kContent) return;
    for (const std::size_t met : children) {
      if (const std::size_t own = open_own(met); own != kNone) pair(met, own);
    }
  }

  // A short cut: where both have the same things in the same order. Whether they do.
  bool pair_one_by_one(const std::vector<std::size_t>& ours, const std::vector<std::size_t>& theirs) {
    const auto is_same = [&](std::size_t own, std::size_t met) {
      if (own_[own].met == met) return true;
      const Item& item = own_[own].stored.item;
      return is_open(own_[own]) && met_[met].own == kNone && !is_occupied(met_[met].item.id) &&
             item.type == met_[met].item.type && natural_values(item) == natural_values(met_[met].item);
    };
    if (!std::ranges::equal(ours, theirs, is_same)) return false;
    for (std::size_t place = 0; place < ours.size(); ++place) pair(theirs[place], ours[place]);
    return true;
  }

  // What is the same takes the source's id; what has that id now gets another one.
  void choose_ids() {
    std::unordered_set<ItemId, IdHash> taken;
    for (const Met& met : met_) {
      if (met.own == kNone) continue;
      own_[met.own].id = met.item.id;
      taken.insert(met.item.id);
    }
    for (Own& own : own_) {
      if (own.met != kNone || !taken.contains(own.id)) continue;
      const Item& item = own.stored.item;
      for (std::uint32_t number = 0; met_ids_.contains(own.id) || own_by_id_.contains(own.id); ++number) {
        own.id = natural_item_id(context_.environment, type_of(item), own.stored.view.parent, natural_values(item), number);
      }
      own_by_id_.emplace(own.id, kNone);
    }
  }

  ItemId new_id(const ItemId& id) const {
    const auto found = own_by_id_.find(id);
    return found == own_by_id_.end() || found->second == kNone ? id : own_[found->second].id;
  }

  void order_children(const ItemId& folder, const std::vector<std::size_t>& met_children) {
    const std::vector<std::size_t>& children = own_children(folder);
    std::vector<std::size_t> ours;
    std::vector<Sibling> siblings;
    for (const std::size_t child : children) {
      Sibling sibling{own_[child].id, {}, {}, false};
      if (is_in(folder, own_[child].met)) {
        ours.push_back(child);
        sibling.position = order_of(met_[own_[child].met].item).first;
      }
      siblings.push_back(std::move(sibling));
    }
    std::vector<std::size_t> theirs;
    for (const std::size_t met : met_children) {
      const std::size_t own = met_[met].own;
      if (own != kNone && own_[own].stored.view.parent == own_folder(folder)) theirs.push_back(own);
    }
    const bool one_has_all = ours.size() == children.size() || theirs.size() == met_children.size();
    if (ours.empty() || ours != theirs || !one_has_all) return;
    const SiblingOrder order = order_siblings(std::move(siblings), {});
    for (std::size_t place = 0; place < children.size(); ++place) {
      // No room between theirs.
      if (order.positions[place].is_new && is_in(folder, own_[children[place]].met)) return;
    }
    for (std::size_t place = 0; place < children.size(); ++place)
      take_position(own_[children[place]], order.positions[place]);
  }

  bool is_in(const ItemId& folder, std::size_t met) const { return met != kNone && met_parent(met_[met].item) == folder; }

  void take_position(Own& own, const SiblingPosition& given) const {
    const Unit* unit = type_of(own.stored.item).find_role(UnitRole::kPosition);
    if (unit == nullptr) return;
    Register& position = own.stored.item.at(unit->id);
    if (!given.is_new) {
      const Register* theirs = met_[own.met].item.find(unit->id);
      if (theirs->value == position.value) return;
      if (theirs->version < position.version) position.version.tick = kOldestTick;
    }
    position.value = Value::bytes(given.position);
    own.stored.shown->position = given.position;
    own.edited = true;
  }

  Status write() {
    for (Own& own : own_) {
      if (own.id == own.stored.item.id) continue;
      HARMONICA_RETURN_IF_ERROR(transaction_.remove(own.stored.item.id));
      own.edited = true;
    }
    for (Own& own : own_) {
      // Nobody has heard of what is deleted.
      if (!own.stored.item.alive() && own.id != own.stored.item.id) continue;
      rename(own);
      if (!own.edited) continue;
      const StoredItem& stored = own.stored;
      const WrittenState written =
          desired_shown(context_, stored, StoreKey()) == stored.shown ? WrittenState::kWritten : WrittenState::kUnwritten;
      HARMONICA_RETURN_IF_ERROR(transaction_.put(stored, entries_of(context_, stored, written)));
    }
    return {};
  }

  void rename(Own& own) const {
    const auto replace = [&](ItemId& id) {
      const ItemId now = new_id(id);
      if (now == id) return;
      id = now;
      own.edited = true;
    };
    StoredItem& stored = own.stored;
    stored.item.id = own.id;
    replace(stored.view.parent);
    if (stored.shown) replace(stored.shown->parent);
    const ItemType* type = context_.schema().find_type(stored.item.type);
    if (type == nullptr) return;
    for (const Unit& unit : type->units) {
      if (unit.role != UnitRole::kParent && unit.role != UnitRole::kReference) continue;
      Register* held = stored.item.find(unit.id);
      if (held == nullptr || held->value.if_ids() == nullptr) continue;
      Value::Ids ids = *held->value.if_ids();
      for (ItemId& id : ids) replace(id);
      if (ids != *held->value.if_ids()) held->value = Value::ids(std::move(ids));
    }
  }

  ReplicaContext& context_;
  MetadataTransaction& transaction_;
  std::vector<Own> own_;
  ById<std::size_t> own_by_id_;  // kNone: an id that is given now
  ById<std::vector<std::size_t>> own_children_;
  std::vector<Met> met_;
  ById<std::size_t> met_by_id_;
  ById<std::vector<std::size_t>> met_children_;
  std::unordered_set<ItemId, IdHash> met_ids_;  // of what is deleted too
};

bool ids_decide_views(const Schema& schema) {
  return any_unit_has(schema, UnitRole::kName) || any_unit_has(schema, UnitRole::kKey);
}

}  // namespace

Result<FirstContactState> settle_first_contact(ReplicaContext& context, std::span<const ReceivedBatch> batches) {
  if (context.store.write_unit() != WriteUnit::kWholeStore || batches.empty() || ids_decide_views(context.schema())) {
    return FirstContactState::kAsBefore;
  }
  HARMONICA_ASSIGN_OR_RETURN(const auto transaction, context.metadata.begin(TransactionMode::kWrite));
  HARMONICA_ASSIGN_OR_RETURN(ReplicaState state, transaction->state());
  if (!has_told_nobody(state)) return FirstContactState::kAsBefore;
  HARMONICA_ASSIGN_OR_RETURN(const FirstContactState contact, FirstContact(context, *transaction).run(batches));
  if (contact != FirstContactState::kChanged) return contact;
  // So that a backup of the state before is known as one when it is restored.
  state.reserved_tick = context.clock.next();
  HARMONICA_RETURN_IF_ERROR(commit(context, *transaction, state));
  return contact;
}

}  // namespace harmonica::kernel
