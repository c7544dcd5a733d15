#include "kernel/views.h"

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>

#include "kernel/id_hash.h"
#include "kernel/view_index.h"

namespace harmonica::kernel {
namespace {

// By unsigned value, as Bytes compare themselves; GCC 12 warns of their own operator in sets (a false alarm).
struct ByteOrder {
  bool operator()(const Bytes& a, const Bytes& b) const { return as_text(a) < as_text(b); }
};

constexpr std::uint8_t kSuffixDigitsStep = 4;
constexpr std::uint8_t kSuffixDigitsMax = 2 * ItemId::kSize;

enum class KeyState : std::uint8_t { kNotJudged, kFree, kTaken };

// An item that is loaded because its view may change.
struct Subject {
  StoredItem item;  // with the registers that hold now, and the view so far
  ItemView old_view;
  std::optional<StoredItem> before;  // inputs only; other items have the registers they had
  const ItemType* type = nullptr;    // null: not living
  bool input = false;
  KeyState key = KeyState::kNotJudged;
};

// What the walk upwards has to know of an item; most of those it passes are no subjects.
struct Glance {
  bool living = false;
  bool visible = false;
  bool has_parent = false;  // false: the top of its tree
  ItemId parent;
};

// Where a name is taken.
struct NamePlace {
  ItemId parent;
  std::string name;
  friend auto operator<=>(const NamePlace&, const NamePlace&) = default;
};

// The name without its suffix, if it looks like a suffixed one. A suffix that is given is never the plain name of the same
// group, so a group depends on the plain names one level below it and no further.
std::optional<std::string> base_of(const std::string& name) {
  constexpr std::size_t kBrackets = 3;
  if (name.size() < kBrackets + kSuffixDigitsStep || name.back() != ')') return std::nullopt;
  const std::size_t open = name.rfind(" (");
  if (open == std::string::npos) return std::nullopt;
  const std::string_view digits = std::string_view(name).substr(open + 2, name.size() - open - kBrackets);
  if (digits.empty() || digits.size() > kSuffixDigitsMax || digits.size() % kSuffixDigitsStep != 0) return std::nullopt;
  if (digits.find_first_not_of("0123456789abcdef") != std::string_view::npos) return std::nullopt;
  return name.substr(0, open);
}

// One call of update_views: parents first, then what is parked, then names, as each reads only what the one before settled.
class ViewUpdate {
 public:
  ViewUpdate(const Schema& schema, MetadataTransaction& transaction, std::size_t inputs)
      : schema_(schema), transaction_(transaction) {
    inputs_.reserve(inputs);
    subjects_.reserve(inputs);
  }

  void add(ViewInput input);
  Status settle_parents();
  Status settle_parking();
  Status settle_names();
  std::vector<StoredItem> take_results();

 private:
  using Ids = std::set<ItemId>;

  const ItemType* living_type(const Item& item) const {
    return is_living(schema_, item) ? schema_.find_type(item.type) : nullptr;
  }
  const ItemType* old_type(const Subject& subject) const {
    if (!subject.input) return subject.type;
    return subject.before ? living_type(subject.before->item) : nullptr;
  }
  static const Item& old_item(const Subject& subject) { return subject.before ? subject.before->item : subject.item.item; }
  bool came_or_went(const Subject& subject) const { return old_type(subject) != subject.type; }

  Result<Subject*> load(const ItemId& id);
  Result<Glance> glance(const ItemId& id);
  static Glance glance_at(const ItemType* type, const ItemView& view);
  Result<bool> is_living_place(const ItemId& id);
  Result<std::vector<ItemId>> find(IndexKind kind, Bytes key);

  bool parent_changed(const Subject& subject) const;
  Status place(Subject& subject, std::size_t first);
  Status break_cycles(const std::vector<ItemId>& starts);
  Result<ItemId> evict_from_cycle(const ItemId& member);

  std::vector<Bytes> keys_before(const Subject& subject) const;
  std::vector<Bytes> keys_after(const Subject& subject) const;
  bool references_changed(const Subject& subject) const;
  Result<Ids> judge_keys(const Ids& seeds);
  Result<Ids> find_dependents(const Ids& seeds);
  Status hide_dangling(const Ids& candidates);
  Result<bool> is_shown(const ItemId& id);

  std::optional<NamePlace> place_before(const Subject& subject) const;
  std::optional<NamePlace> place_after(const Subject& subject) const;
  Result<std::vector<ItemId>> named(const NamePlace& place);
  Status settle_group(const NamePlace& place);
  Result<std::uint8_t> free_suffix(const NamePlace& place, const ItemId& item, std::set<std::string>& given);

  const Schema& schema_;
  MetadataTransaction& transaction_;
  std::vector<Subject*> inputs_;
  std::unordered_map<ItemId, Subject, IdHash> subjects_;
  std::unordered_map<ItemId, Glance, IdHash> glances_;
  std::pair<ItemId, bool> last_place_;  // and whether it lives; zero, a root place: none yet
  // The index kName still has these where they were.
  Ids renamed_;
  std::map<NamePlace, Ids> arrivals_;
};

void ViewUpdate::add(ViewInput input) {
  const ItemId id = input.after.item.id;
  Subject subject;
  subject.input = true;
  subject.item = std::move(input.after);
  subject.old_view = subject.item.view;
  subject.before = std::move(input.before);
  subject.type = living_type(subject.item.item);
  const auto [place, is_new] = subjects_.emplace(id, std::move(subject));
  HARMONICA_ASSERT(is_new);
  inputs_.push_back(&place->second);
}

Result<Subject*> ViewUpdate::load(const ItemId& id) {
  const auto known = subjects_.find(id);
  if (known != subjects_.end()) return &known->second;
  HARMONICA_ASSIGN_OR_RETURN(std::optional<StoredItem> item, transaction_.find(id));
  if (!item)
    return Status(StatusCode::kCorruption, "metadata: an index names item " + id.to_text() + ", which is not held");
  Subject subject;
  subject.item = *std::move(item);
  subject.old_view = subject.item.view;
  subject.type = living_type(subject.item.item);
  return &subjects_.emplace(id, std::move(subject)).first->second;
}

Glance ViewUpdate::glance_at(const ItemType* type, const ItemView& view) {
  if (type == nullptr) return {};
  return {true, view.visible, type->find_role(UnitRole::kParent) != nullptr, view.parent};
}

Result<Glance> ViewUpdate::glance(const ItemId& id) {
  const auto subject = subjects_.find(id);
  if (subject != subjects_.end()) return glance_at(subject->second.type, subject->second.item.view);
  const auto known = glances_.find(id);
  if (known != glances_.end()) return known->second;
  HARMONICA_ASSIGN_OR_RETURN(const std::optional<StoredItem> item, transaction_.find(id));
  const Glance glance = item ? glance_at(living_type(item->item), item->view) : Glance{};
  glances_.emplace(id, glance);
  return glance;
}

Result<bool> ViewUpdate::is_living_place(const ItemId& id) {
  if (is_root_place(schema_, id)) return true;
  // Siblings often come one after another, and who lives is settled before the update begins.
  if (id == last_place_.first) return last_place_.second;
  HARMONICA_ASSIGN_OR_RETURN(const Glance found, glance(id));
  last_place_ = {id, found.living};
  return found.living;
}

Result<std::vector<ItemId>> ViewUpdate::find(IndexKind kind, Bytes key) {
  IndexQuery query;
  query.kind = kind;
  query.prefix = std::move(key);
  HARMONICA_ASSIGN_OR_RETURN(const std::vector<IndexPosition> positions, transaction_.find_index(query));
  std::vector<ItemId> ids;
  ids.reserve(positions.size());
  for (const IndexPosition& position : positions) ids.push_back(position.item);
  return ids;
}

// Shown parents (rules R41 and R42)

// The version counts too: it decides who leaves a cycle.
bool ViewUpdate::parent_changed(const Subject& subject) const {
  if (came_or_went(subject)) return true;
  const UnitId unit = subject.type->find_role(UnitRole::kParent)->id;
  const Register* now = subject.item.item.find(unit);
  const Register* old = old_item(subject).find(unit);
  if (now == nullptr || old == nullptr) return now != old;
  return *now != *old;
}

// At the first living ancestor from the one with the number `first` on.
Status ViewUpdate::place(Subject& subject, std::size_t first) {
  const std::span<const ItemId> listed = counted_ancestors(*subject.type, subject.item.item);
  std::size_t index = first;
  for (; index < listed.size(); ++index) {
    HARMONICA_ASSIGN_OR_RETURN(const bool living, is_living_place(listed[index]));
    if (living) break;
  }
  subject.item.view.parent = index < listed.size() ? listed[index] : schema_.default_root();
  subject.item.view.ancestors_skipped = static_cast<std::uint16_t>(index);
  subject.item.view.evicted = first > 0;
  return {};
}

Status ViewUpdate::settle_parents() {
  if (!any_unit_has(schema_, UnitRole::kParent)) return {};
  IndexQuery query;
  query.kind = IndexKind::kSkippedAncestor;
  query.count_max = 1;
  HARMONICA_ASSIGN_OR_RETURN(const std::vector<IndexPosition> any_skipped, transaction_.find_index(query));
  std::vector<ItemId> moving;
  for (Subject* input : inputs_) {
    Subject& subject = *input;
    const ItemId& id = subject.item.item.id;
    const bool was_living = old_type(subject) != nullptr;
    if (was_living != (subject.type != nullptr) && !any_skipped.empty()) {
      HARMONICA_ASSIGN_OR_RETURN(const std::vector<ItemId> watching, find(IndexKind::kSkippedAncestor, item_index_key(id)));
      moving.insert(moving.end(), watching.begin(), watching.end());
    }
    if (was_living && subject.type == nullptr) {
      HARMONICA_ASSIGN_OR_RETURN(const std::vector<ItemId> children, find(IndexKind::kChild, item_index_key(id)));
      moving.insert(moving.end(), children.begin(), children.end());
    }
    if (subject.type != nullptr && subject.type->find_role(UnitRole::kParent) != nullptr) {
      if (parent_changed(subject)) moving.push_back(id);
    } else {
      subject.item.view.parent = {};
      subject.item.view.ancestors_skipped = 0;
      subject.item.view.evicted = false;
    }
  }
  if (moving.empty()) return {};

  // Everyone starts from the first living ancestor, as if no cycle had ever been resolved: the outcome must not depend on
  // the order of updates. A cycle that is left then has a member among those that move here.
  HARMONICA_ASSIGN_OR_RETURN(const std::vector<ItemId> evicted, find(IndexKind::kEvicted, {}));
  moving.insert(moving.end(), evicted.begin(), evicted.end());
  std::sort(moving.begin(), moving.end());
  moving.erase(std::unique(moving.begin(), moving.end()), moving.end());
  std::vector<ItemId> placed;
  for (const ItemId& id : moving) {
    HARMONICA_ASSIGN_OR_RETURN(Subject * subject, load(id));
    if (subject->type == nullptr || subject->type->find_role(UnitRole::kParent) == nullptr) continue;
    HARMONICA_RETURN_IF_ERROR(place(*subject, 0));
    placed.push_back(id);
  }
  return break_cycles(placed);
}

// Cycles are disjoint, and resolving one leaves the others as they are. So the order in which they are met does not matter,
// and the rule's "in id order" need not be followed. Each item is passed once, and once more for each cycle it is in.
Status ViewUpdate::break_cycles(const std::vector<ItemId>& starts) {
  // The walk that first passed an item. All that one walk has passed leads to its head, so to meet one of them again is a
  // cycle; what an earlier walk passed leads to the top.
  std::unordered_map<ItemId, std::size_t, IdHash> passed;
  passed.reserve(starts.size());
  for (std::size_t walk = 0; walk < starts.size(); ++walk) {
    ItemId head = starts[walk];
    while (!is_root_place(schema_, head)) {
      HARMONICA_ASSIGN_OR_RETURN(const Glance at_head, glance(head));
      if (!at_head.has_parent) break;
      const auto [place, is_new] = passed.emplace(head, walk);
      if (is_new) {
        head = at_head.parent;
      } else if (place->second == walk) {
        HARMONICA_ASSIGN_OR_RETURN(head, evict_from_cycle(head));
      } else {
        break;
      }
    }
  }
  return {};
}

// Moves on the member of the cycle through `member` whose parent register is the greatest, of equal ones the greatest id;
// returns its new parent.
Result<ItemId> ViewUpdate::evict_from_cycle(const ItemId& member) {
  std::pair<Version, ItemId> greatest;
  ItemId current = member;
  do {
    HARMONICA_ASSIGN_OR_RETURN(const Subject* passed, load(current));
    const Register* parent = passed->item.item.find(passed->type->find_role(UnitRole::kParent)->id);
    greatest = std::max(greatest, std::pair(parent == nullptr ? Version() : parent->version, current));
    current = passed->item.view.parent;
  } while (current != member);
  HARMONICA_ASSIGN_OR_RETURN(Subject * leaving, load(greatest.second));
  HARMONICA_RETURN_IF_ERROR(place(*leaving, std::size_t{leaving->item.view.ancestors_skipped} + 1));
  return leaving->item.view.parent;
}

// Unique values and references (rule R44)

std::vector<Bytes> ViewUpdate::keys_before(const Subject& subject) const {
  const ItemType* type = old_type(subject);
  return type == nullptr ? std::vector<Bytes>{} : unique_index_keys(*type, old_item(subject));
}

std::vector<Bytes> ViewUpdate::keys_after(const Subject& subject) const {
  return subject.type == nullptr ? std::vector<Bytes>{} : unique_index_keys(*subject.type, subject.item.item);
}

bool ViewUpdate::references_changed(const Subject& subject) const {
  if (came_or_went(subject)) return true;
  if (subject.type == nullptr) return false;
  return referenced_items(*subject.type, old_item(subject)) != referenced_items(*subject.type, subject.item.item);
}

Status ViewUpdate::settle_parking() {
  for (Subject* subject : inputs_) {
    ItemView& view = subject->item.view;
    if (subject->type == nullptr) view.parked = false;
    view.visible = subject->type != nullptr && !view.parked;
  }
  const bool has_keys = any_unit_has(schema_, UnitRole::kKey);
  const bool has_references = any_unit_has(schema_, UnitRole::kReference);
  if (!has_keys && !has_references) return {};

  Ids key_seeds;
  Ids reference_seeds;
  for (const Subject* subject : inputs_) {
    const ItemId& id = subject->item.item.id;
    if (has_keys && keys_before(*subject) != keys_after(*subject)) key_seeds.insert(id);
    if (references_changed(*subject)) reference_seeds.insert(id);
  }
  HARMONICA_ASSIGN_OR_RETURN(const Ids judged, judge_keys(key_seeds));
  for (const ItemId& id : judged) {
    const Subject& subject = subjects_.at(id);
    if (subject.old_view.visible == (subject.key == KeyState::kTaken)) reference_seeds.insert(id);
  }

  HARMONICA_ASSIGN_OR_RETURN(const Ids candidates, find_dependents(reference_seeds));
  // A view does not say which of the two reasons parked the item.
  Ids not_known;
  for (const ItemId& id : candidates) {
    const Subject& subject = subjects_.at(id);
    if (subject.key == KeyState::kNotJudged && subject.old_view.parked && !keys_after(subject).empty())
      not_known.insert(id);
  }
  HARMONICA_RETURN_IF_ERROR(judge_keys(not_known).status());
  return hide_dangling(candidates);
}

// Decides, for the seeds and all who share values with them over any number of steps, whose unique values are taken.
Result<ViewUpdate::Ids> ViewUpdate::judge_keys(const Ids& seeds) {
  Ids group;
  std::set<Bytes, ByteOrder> asked;
  std::vector<ItemId> waiting(seeds.begin(), seeds.end());
  while (!waiting.empty()) {
    const ItemId id = waiting.back();
    waiting.pop_back();
    if (!group.insert(id).second) continue;
    HARMONICA_ASSIGN_OR_RETURN(const Subject* subject, load(id));
    std::vector<Bytes> keys = keys_after(*subject);
    if (subject->input) {
      const std::vector<Bytes> old_keys = keys_before(*subject);
      keys.insert(keys.end(), old_keys.begin(), old_keys.end());
    }
    for (const Bytes& key : keys) {
      if (!asked.insert(key).second) continue;
      HARMONICA_ASSIGN_OR_RETURN(const std::vector<ItemId> rivals, find(IndexKind::kUniqueKey, key));
      waiting.insert(waiting.end(), rivals.begin(), rivals.end());
    }
  }

  std::set<Bytes, ByteOrder> taken;
  for (const ItemId& id : group) {
    Subject& subject = subjects_.at(id);
    std::vector<Bytes> keys = keys_after(subject);
    const bool parked = std::any_of(keys.begin(), keys.end(), [&](const Bytes& key) { return taken.contains(key); });
    subject.key = parked ? KeyState::kTaken : KeyState::kFree;
    if (!parked) taken.insert(keys.begin(), keys.end());
  }
  return group;
}

// The seeds and all that refer to them over any number of steps.
Result<ViewUpdate::Ids> ViewUpdate::find_dependents(const Ids& seeds) {
  Ids found;
  std::vector<ItemId> waiting(seeds.begin(), seeds.end());
  while (!waiting.empty()) {
    const ItemId id = waiting.back();
    waiting.pop_back();
    if (!found.insert(id).second) continue;
    HARMONICA_RETURN_IF_ERROR(load(id).status());
    HARMONICA_ASSIGN_OR_RETURN(const std::vector<ItemId> dependents, find(IndexKind::kReference, item_index_key(id)));
    waiting.insert(waiting.end(), dependents.begin(), dependents.end());
  }
  return found;
}

Result<bool> ViewUpdate::is_shown(const ItemId& id) {
  if (is_root_place(schema_, id)) return true;
  HARMONICA_ASSIGN_OR_RETURN(const Glance found, glance(id));
  return found.visible;
}

// The greatest fixpoint: all are shown whose unique values are free, then those go whose references do not hold. Items that
// are no candidates refer to no candidate, so they stand as they are.
Status ViewUpdate::hide_dangling(const Ids& candidates) {
  std::map<ItemId, std::vector<ItemId>> dependents;
  for (const ItemId& id : candidates) {
    Subject& subject = subjects_.at(id);
    const bool living = subject.type != nullptr;
    subject.item.view.visible = living && subject.key != KeyState::kTaken;
    subject.item.view.parked = living && !subject.item.view.visible;
    if (!living) continue;
    for (const ItemId& other : referenced_items(*subject.type, subject.item.item)) {
      if (candidates.contains(other)) dependents[other].push_back(id);
    }
  }

  std::vector<ItemId> hidden;
  const auto hide = [&](const ItemId& id) {
    ItemView& view = subjects_.at(id).item.view;
    if (!view.visible) return;
    view.visible = false;
    view.parked = true;
    hidden.push_back(id);
  };
  for (const ItemId& id : candidates) {
    const Subject& subject = subjects_.at(id);
    if (!subject.item.view.visible) continue;
    for (const ItemId& other : referenced_items(*subject.type, subject.item.item)) {
      HARMONICA_ASSIGN_OR_RETURN(const bool shown, is_shown(other));
      if (!shown) hide(id);
    }
  }
  while (!hidden.empty()) {
    const ItemId gone = hidden.back();
    hidden.pop_back();
    for (const ItemId& id : dependents[gone]) hide(id);
  }
  return {};
}

// Names (rule R43)

std::optional<NamePlace> ViewUpdate::place_before(const Subject& subject) const {
  const ItemType* type = old_type(subject);
  if (type == nullptr || !subject.old_view.visible) return std::nullopt;
  const std::string* name = plain_name(*type, old_item(subject));
  if (name == nullptr) return std::nullopt;
  return NamePlace{subject.old_view.parent, *name};
}

std::optional<NamePlace> ViewUpdate::place_after(const Subject& subject) const {
  if (subject.type == nullptr || !subject.item.view.visible) return std::nullopt;
  const std::string* name = plain_name(*subject.type, subject.item.item);
  if (name == nullptr) return std::nullopt;
  return NamePlace{subject.item.view.parent, *name};
}

Status ViewUpdate::settle_names() {
  if (!any_unit_has(schema_, UnitRole::kName)) return {};
  std::set<NamePlace> touched;
  for (auto& [id, subject] : subjects_) {
    std::optional<NamePlace> before = place_before(subject);
    std::optional<NamePlace> after = place_after(subject);
    if (before == after) continue;
    renamed_.insert(id);
    if (after) {
      arrivals_[*after].insert(id);
    } else {
      subject.item.view.name_suffix = 0;
    }
    for (std::optional<NamePlace>* place : {&before, &after}) {
      if (!*place) continue;
      if (std::optional<std::string> base = base_of((*place)->name)) touched.insert({(*place)->parent, *std::move(base)});
      touched.insert(**place);
    }
  }
  for (const NamePlace& place : touched) HARMONICA_RETURN_IF_ERROR(settle_group(place));
  return {};
}

// The shown items with that plain name, in id order.
Result<std::vector<ItemId>> ViewUpdate::named(const NamePlace& place) {
  HARMONICA_ASSIGN_OR_RETURN(std::vector<ItemId> ids, find(IndexKind::kName, name_index_key(place.parent, place.name)));
  std::erase_if(ids, [&](const ItemId& id) { return renamed_.contains(id); });
  const auto arrived = arrivals_.find(place);
  if (arrived == arrivals_.end()) return ids;
  ids.insert(ids.end(), arrived->second.begin(), arrived->second.end());
  std::sort(ids.begin(), ids.end());
  return ids;
}

Status ViewUpdate::settle_group(const NamePlace& place) {
  HARMONICA_ASSIGN_OR_RETURN(const std::vector<ItemId> ids, named(place));
  std::set<std::string> given;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    std::uint8_t digits = 0;
    if (i > 0) {
      HARMONICA_ASSIGN_OR_RETURN(digits, free_suffix(place, ids[i], given));
    }
    HARMONICA_ASSIGN_OR_RETURN(Subject * subject, load(ids[i]));
    subject->item.view.name_suffix = digits;
  }
  return {};
}

// The whole id is given even if it is taken: then siblings were named so on purpose, in all eight lengths.
Result<std::uint8_t> ViewUpdate::free_suffix(const NamePlace& place, const ItemId& item, std::set<std::string>& given) {
  for (std::uint8_t digits = kSuffixDigitsStep;; digits = static_cast<std::uint8_t>(digits + kSuffixDigitsStep)) {
    std::string name = shown_name(place.name, item, digits);
    if (given.contains(name)) continue;
    HARMONICA_ASSIGN_OR_RETURN(const std::vector<ItemId> plain, named({place.parent, name}));
    if (!plain.empty() && digits < kSuffixDigitsMax) continue;
    given.insert(std::move(name));
    return digits;
  }
}

std::vector<StoredItem> ViewUpdate::take_results() {
  std::vector<StoredItem> results;
  results.reserve(inputs_.size());
  for (Subject* subject : inputs_) results.push_back(std::move(subject->item));
  for (auto& [id, subject] : subjects_) {
    if (!subject.input && subject.item.view != subject.old_view) results.push_back(std::move(subject.item));
  }
  const auto others = results.begin() + static_cast<std::ptrdiff_t>(inputs_.size());
  std::sort(others, results.end(), [](const StoredItem& a, const StoredItem& b) { return a.item.id < b.item.id; });
  return results;
}

}  // namespace

Result<std::vector<StoredItem>> update_views(const Schema& schema, MetadataTransaction& transaction,
                                             std::vector<ViewInput> inputs) {
  ViewUpdate update(schema, transaction, inputs.size());
  for (ViewInput& input : inputs) update.add(std::move(input));
  HARMONICA_RETURN_IF_ERROR(update.settle_parents());
  HARMONICA_RETURN_IF_ERROR(update.settle_parking());
  HARMONICA_RETURN_IF_ERROR(update.settle_names());
  return update.take_results();
}

}  // namespace harmonica::kernel
