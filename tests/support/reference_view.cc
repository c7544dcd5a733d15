#include "support/reference_view.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "harmonica/limits.h"

namespace harmonica::testing {
namespace {

constexpr int kDigitsMax = 32;

std::string suffixed(const std::string& name, const ItemId& id, int digits) {
  return name + " (" + id.to_text().substr(0, static_cast<std::size_t>(digits)) + ")";
}

std::optional<std::string> name_in(const ItemType& type, const Item& item) {
  for (const Unit& unit : type.units) {
    const std::string* text = item.value_of(unit.id).if_text();
    if (unit.role == UnitRole::kName && text != nullptr) return *text;
  }
  return std::nullopt;
}

class ReferenceView {
 public:
  ReferenceView(const Schema& schema, std::span<const Item> items) : schema_(schema) {
    for (const Item& item : items) {
      views_[item.id] = ItemView{};
      if (!item.alive() || item.id.is_zero() || is_root(item.id)) continue;
      if (schema.find_type(item.type) != nullptr) living_[item.id] = &item;
    }
  }

  std::map<ItemId, ItemView> compute() {
    resolve_parents();
    park();
    give_names();
    return views_;
  }

 private:
  // A place where an item could be shown: the number of that ancestor in its list, and the ancestor.
  struct Place {
    std::size_t number;
    ItemId parent;
  };
  struct Climb {
    std::vector<Place> places;  // all the living ancestors in order, then the default root
    std::size_t taken = 0;
    Version version;
  };

  bool is_root(const ItemId& id) const {
    const auto is_it = [&](const Root& root) { return root.id == id; };
    return schema_.roots.empty() ? id.is_zero() : std::any_of(schema_.roots.begin(), schema_.roots.end(), is_it);
  }

  const ItemType& type_of(const Item& item) const { return *schema_.find_type(item.type); }

  // R41, R42
  void resolve_parents() {
    for (const auto& [id, item] : living_) {
      for (const Unit& unit : type_of(*item).units) {
        if (unit.role == UnitRole::kParent) climbs_[id] = climb_of(*item, unit.id);
      }
    }
    while (true) {
      const std::vector<ItemId> cycle = first_cycle();
      if (cycle.empty()) break;
      ItemId mover = cycle.front();
      for (const ItemId& member : cycle) {
        const auto rank = [&](const ItemId& id) { return std::pair(climbs_[id].version, id); };
        if (rank(mover) < rank(member)) mover = member;
      }
      ++climbs_[mover].taken;
    }
    for (const auto& [id, climb] : climbs_) {
      const Place& place = climb.places[climb.taken];
      views_[id].parent = place.parent;
      views_[id].ancestors_skipped = static_cast<std::uint16_t>(place.number);
      views_[id].evicted = climb.taken > 0;
    }
  }

  Climb climb_of(const Item& item, UnitId unit) const {
    Climb climb;
    if (const Register* content = item.find(unit); content != nullptr) climb.version = content->version;
    const Value::Ids* listed = item.value_of(unit).if_ids();
    const std::size_t count = listed == nullptr ? 0 : std::min(listed->size(), limits::kAncestorsMax);
    for (std::size_t i = 0; i < count; ++i) {
      const ItemId& ancestor = (*listed)[i];
      if (is_root(ancestor) || living_.contains(ancestor)) climb.places.push_back({i, ancestor});
    }
    climb.places.push_back({count, schema_.roots.empty() ? ItemId{} : schema_.roots.front().id});
    return climb;
  }

  // The cycle with the smallest member, or nothing.
  std::vector<ItemId> first_cycle() const {
    for (const auto& [id, unused] : climbs_) {
      if (std::vector<ItemId> cycle = around(id); !cycle.empty()) return cycle;
    }
    return {};
  }

  // The cycle that `member` is in, or nothing.
  std::vector<ItemId> around(const ItemId& member) const {
    std::vector<ItemId> cycle;
    ItemId current = member;
    for (std::size_t steps = 0; steps <= climbs_.size(); ++steps) {
      const auto climb = climbs_.find(current);
      if (climb == climbs_.end()) return {};
      cycle.push_back(current);
      current = climb->second.places[climb->second.taken].parent;
      if (current == member) return cycle;
    }
    return {};
  }

  // R44
  void park() {
    std::vector<std::pair<std::pair<TypeId, UnitId>, Value>> taken;
    for (const auto& [id, item] : living_) {
      std::vector<std::pair<std::pair<TypeId, UnitId>, Value>> own;
      for (const Unit& unit : type_of(*item).units) {
        const Value& value = item->value_of(unit.id);
        if (unit.role == UnitRole::kKey && !has_null(value)) own.push_back({{item->type, unit.id}, value});
      }
      const bool free = std::none_of(own.begin(), own.end(), [&](const auto& one) {
        return std::find(taken.begin(), taken.end(), one) != taken.end();
      });
      views_[id].visible = free;
      if (free) taken.insert(taken.end(), own.begin(), own.end());
    }
    for (bool changed = true; changed;) {
      changed = false;
      for (const auto& [id, item] : living_) {
        if (!views_[id].visible || references_hold(*item)) continue;
        views_[id].visible = false;
        changed = true;
      }
    }
    for (const auto& [id, item] : living_) views_[id].parked = !views_[id].visible;
  }

  static bool has_null(const Value& value) {
    if (value.is_null()) return true;
    const Value::List* list = value.if_list();
    return list != nullptr && std::any_of(list->begin(), list->end(), [](const Value& one) { return one.is_null(); });
  }

  bool references_hold(const Item& item) const {
    for (const Unit& unit : type_of(item).units) {
      const Value::Ids* ids = item.value_of(unit.id).if_ids();
      if (unit.role != UnitRole::kReference || ids == nullptr) continue;
      for (const ItemId& id : *ids) {
        const auto view = views_.find(id);
        if (!is_root(id) && (view == views_.end() || !view->second.visible)) return false;
      }
    }
    return true;
  }

  // R43
  void give_names() {
    std::map<ItemId, std::vector<std::pair<ItemId, std::string>>> folders;
    for (const auto& [id, item] : living_) {
      if (!views_[id].visible) continue;
      if (std::optional<std::string> name = name_in(type_of(*item), *item)) {
        folders[views_[id].parent].emplace_back(id, *std::move(name));
      }
    }
    for (const auto& [parent, children] : folders) {
      std::set<std::string> shown;
      std::vector<std::pair<ItemId, std::string>> losers;
      for (const auto& child : children) {
        if (!shown.insert(child.second).second) losers.push_back(child);
      }
      for (const auto& [id, name] : losers) {
        int digits = 4;
        while (digits < kDigitsMax && shown.contains(suffixed(name, id, digits))) digits += 4;
        shown.insert(suffixed(name, id, digits));
        views_[id].name_suffix = static_cast<std::uint8_t>(digits);
      }
    }
  }

  const Schema& schema_;
  std::map<ItemId, const Item*> living_;
  std::map<ItemId, Climb> climbs_;
  std::map<ItemId, ItemView> views_;
};

}  // namespace

std::map<ItemId, ItemView> reference_views(const Schema& schema, std::span<const Item> items) {
  return ReferenceView(schema, items).compute();
}

std::string reference_name(const Schema& schema, const Item& item, const ItemView& view) {
  const ItemType* type = schema.find_type(item.type);
  const std::optional<std::string> name = type == nullptr ? std::nullopt : name_in(*type, item);
  if (!name) return {};
  return view.name_suffix == 0 ? *name : suffixed(*name, item.id, view.name_suffix);
}

}  // namespace harmonica::testing
