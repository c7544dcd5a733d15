#include <algorithm>
#include <set>
#include <utility>

#include "harmonica/assert.h"
#include "harmonica/providers/memory.h"

namespace harmonica::providers {
namespace {

WriteOutcome has_changed() { return {WriteState::kChanged, {}}; }

constexpr std::uint64_t kHashOffset = 0xcbf29ce484222325u;  // FNV-1a
constexpr std::uint64_t kHashPrime = 0x100000001b3u;

bool same_content(const StoreItem& a, const StoreItem& b) {
  return a.type == b.type && a.parent == b.parent && a.values == b.values;
}

std::string line_of(const StoreItem& item) {
  std::string line = item.key + " " + std::to_string(item.type);
  for (const UnitValue& value : item.values) line += " " + std::to_string(value.unit) + "=" + value.value.to_text();
  return line;
}

std::string named(const StoreKey& key) { return "item \"" + key + "\""; }

}  // namespace

MemoryItemStore::MemoryItemStore(Schema schema, WriteUnit write_unit)
    : schema_(std::move(schema)), write_unit_(write_unit) {}

bool MemoryItemStore::is_root(const StoreKey& key) const {
  return std::any_of(schema_.roots.begin(), schema_.roots.end(), [&](const Root& root) { return root.name == key; });
}

Status MemoryItemStore::check(const StoreItem& item) const {
  if (item.key.empty()) return Status(StatusCode::kInvalidArgument, "an item needs a key");
  if (is_root(item.key)) return Status(StatusCode::kInvalidArgument, named(item.key) + ": the key names a root");
  const ItemType* type = schema_.find_type(item.type);
  if (type == nullptr) {
    return Status(StatusCode::kInvalidArgument, named(item.key) + ": no type " + std::to_string(item.type));
  }
  if (item.parent.empty()) return {};
  if (type->find_role(UnitRole::kParent) == nullptr) {
    return Status(StatusCode::kInvalidArgument, named(item.key) + ": items of type " + type->name + " have no parent");
  }
  for (StoreKey ancestor = item.parent; !ancestor.empty() && !is_root(ancestor);) {
    if (ancestor == item.key) {
      return Status(StatusCode::kInvalidArgument, named(item.key) + ": its parent is below itself");
    }
    const StoreItem* found = find(ancestor);
    if (found == nullptr) return Status(StatusCode::kNotFound, named(item.key) + ": no parent \"" + ancestor + "\"");
    ancestor = found->parent;
  }
  return {};
}

void MemoryItemStore::detach(const StoreItem& item) {
  const auto siblings = children_.find(item.parent);
  HARMONICA_ASSERT(siblings != children_.end());
  std::erase(siblings->second, item.key);
  if (siblings->second.empty()) children_.erase(siblings);
}

StoreKey MemoryItemStore::predecessor(const StoreItem& item) const {
  const std::vector<StoreKey>& siblings = children_.at(item.parent);
  const auto place = std::find(siblings.begin(), siblings.end(), item.key);
  return place == siblings.begin() ? StoreKey() : *std::prev(place);
}

// `previous` is empty or a child of the item's parent, and not the item itself.
void MemoryItemStore::place(StoreItem item, const StoreKey& previous) {
  record_edit("put " + line_of(item) + " " + item.parent + " " + previous);
  if (const auto old = items_.find(item.key); old != items_.end()) detach(old->second);
  std::vector<StoreKey>& siblings = children_[item.parent];
  auto position = siblings.begin();
  if (!previous.empty()) {
    // From the back: stores grow at their ends.
    position = std::find(siblings.rbegin(), siblings.rend(), previous).base();
    HARMONICA_ASSERT(position != siblings.begin());
  }
  siblings.insert(position, item.key);
  StoreKey key = item.key;
  items_.insert_or_assign(std::move(key), std::move(item));
}

Status MemoryItemStore::put(StoreItem item, const StoreKey& previous) {
  HARMONICA_RETURN_IF_ERROR(check(item));
  if (!previous.empty()) {
    const StoreItem* sibling = find(previous);
    if (sibling == nullptr || sibling->parent != item.parent || previous == item.key) {
      return Status(StatusCode::kNotFound, named(item.key) + ": no sibling \"" + previous + "\"");
    }
  }
  place(std::move(item), previous);
  return {};
}

Status MemoryItemStore::put(StoreItem item) {
  HARMONICA_RETURN_IF_ERROR(check(item));
  const auto old = items_.find(item.key);
  if (old != items_.end() && old->second.parent == item.parent) {
    record_edit("put " + line_of(item));
    old->second = std::move(item);
    return {};
  }
  const auto siblings = children_.find(item.parent);
  const StoreKey last = siblings == children_.end() ? StoreKey() : siblings->second.back();
  place(std::move(item), last);
  return {};
}

Status MemoryItemStore::remove(const StoreKey& key) {
  const StoreItem* item = find(key);
  if (item == nullptr) return Status(StatusCode::kNotFound, "no " + named(key));
  record_edit("remove " + key);
  detach(*item);
  std::vector<StoreKey> doomed = {key};
  while (!doomed.empty()) {
    const StoreKey next = std::move(doomed.back());
    doomed.pop_back();
    if (const auto below = children_.find(next); below != children_.end()) {
      doomed.insert(doomed.end(), below->second.begin(), below->second.end());
      children_.erase(below);
    }
    items_.erase(next);
  }
  return {};
}

const StoreItem* MemoryItemStore::find(const StoreKey& key) const {
  const auto found = items_.find(key);
  return found == items_.end() ? nullptr : &found->second;
}

std::vector<StoreKey> MemoryItemStore::children(const StoreKey& parent) const {
  const auto found = children_.find(parent);
  return found == children_.end() ? std::vector<StoreKey>() : found->second;
}

std::string MemoryItemStore::to_text() const {
  struct Pending {
    StoreKey key;
    std::size_t depth;
  };
  std::string text;
  std::vector<Pending> pending;
  const auto push_children = [&](const StoreKey& parent, std::size_t depth) {
    const std::vector<StoreKey> keys = children(parent);
    for (auto key = keys.rbegin(); key != keys.rend(); ++key) pending.push_back({*key, depth});
  };
  const auto print_below = [&](const StoreKey& root, std::size_t depth) {
    push_children(root, depth);
    while (!pending.empty()) {
      const Pending next = std::move(pending.back());
      pending.pop_back();
      text += std::string(2 * next.depth, ' ') + line_of(items_.at(next.key)) + "\n";
      push_children(next.key, next.depth + 1);
    }
  };
  print_below("", 0);
  for (const Root& root : schema_.roots) {
    text += root.name + "\n";
    print_below(root.name, 1);
  }
  return text;
}

Result<Enumeration> MemoryItemStore::enumerate(const Bytes& since, const ShownItems& /*shown*/, EnumerationSink& sink) {
  if (since == anchor()) return Enumeration{EnumerationKind::kUnchanged, since};
  std::vector<StoreKey> pending;
  const auto push_children = [&](const StoreKey& parent) {
    const std::vector<StoreKey> keys = children(parent);
    pending.insert(pending.end(), keys.rbegin(), keys.rend());
  };
  for (auto root = schema_.roots.rbegin(); root != schema_.roots.rend(); ++root) push_children(root->name);
  push_children("");
  while (!pending.empty()) {
    const StoreKey next = std::move(pending.back());
    pending.pop_back();
    HARMONICA_RETURN_IF_ERROR(sink.item(items_.at(next)));
    push_children(next);
  }
  return Enumeration{EnumerationKind::kEverything, anchor()};
}

StoreKey MemoryItemStore::key_for(const ItemId& item) const {
  StoreKey key = item.to_text();
  while (is_root(key)) key += '-';
  return key;
}

// `unwritten` holds every put of this call that was not written.
WriteOutcome MemoryItemStore::apply_put(const StoreWrite& write, const std::map<StoreKey, const StoreWrite*>& unwritten) {
  const StoreItem* held = find(write.item.key);
  const bool as_expected =
      held == nullptr ? !write.expected.has_value() : write.expected.has_value() && same_content(*held, *write.expected);
  if (!as_expected && !(held != nullptr && same_content(*held, write.item))) return has_changed();

  if (Status status = check(write.item); !status.ok()) {
    const bool parent_removed = status.code() == StatusCode::kNotFound && !unwritten.contains(write.item.parent);
    if (parent_removed) return has_changed();
    return {WriteState::kFailed, std::move(status)};
  }

  // A sibling that was to come here and was not written is not there; its own predecessor takes its part.
  StoreKey previous = write.previous;
  std::set<StoreKey> passed;
  while (!previous.empty()) {
    const StoreItem* sibling = find(previous);
    const bool is_here = sibling != nullptr && sibling->parent == write.item.parent && previous != write.item.key;
    const auto skipped = unwritten.find(previous);
    if (is_here && (skipped == unwritten.end() || !skipped->second->moves)) break;
    if (skipped == unwritten.end() || !passed.insert(previous).second) return has_changed();
    previous = skipped->second->previous;
  }
  if (held == nullptr || !same_content(*held, write.item) || predecessor(*held) != previous) place(write.item, previous);
  return {};
}

WriteOutcome MemoryItemStore::apply_remove(const StoreWrite& write) {
  const StoreItem* held = find(write.item.key);
  if (held == nullptr) return {};
  const bool as_expected = write.expected.has_value() && same_content(*held, *write.expected);
  if (!as_expected || children_.contains(write.item.key)) return {WriteState::kChanged, {}};
  record_edit("remove " + write.item.key);
  detach(*held);
  items_.erase(write.item.key);
  return {};
}

Result<Written> MemoryItemStore::apply(std::span<const StoreWrite> writes, const Bytes& since) {
  const bool current = since == anchor();
  Written written;
  written.outcomes.reserve(writes.size());
  const auto nothing_written = [&] {
    written.outcomes.assign(writes.size(), {WriteState::kChanged, {}});
    written.anchor = since;
    return written;
  };
  const bool whole = write_unit_ == WriteUnit::kWholeStore;
  if (whole && !current) return nothing_written();

  std::optional<MemoryItemStore> before;
  if (whole) before = *this;
  std::map<StoreKey, const StoreWrite*> unwritten;
  for (const StoreWrite& write : writes) {
    WriteOutcome outcome = write.kind == WriteKind::kPut ? apply_put(write, unwritten) : apply_remove(write);
    if (whole && outcome.state == WriteState::kChanged) {
      *this = *std::move(before);
      return nothing_written();
    }
    if (outcome.state != WriteState::kWritten) unwritten.emplace(write.item.key, &write);
    written.outcomes.push_back(std::move(outcome));
  }
  // With an older anchor the current one would hide what a user did since.
  written.anchor = current ? anchor() : since;
  return written;
}

// Chained over the edits, so that two stores restored from one backup and edited apart never share an anchor.
void MemoryItemStore::record_edit(std::string_view what) {
  std::uint64_t hash = kHashOffset ^ revision_;
  for (const char c : what) hash = (hash ^ static_cast<std::uint8_t>(c)) * kHashPrime;
  revision_ = hash;
}

Bytes MemoryItemStore::anchor() const {
  Bytes bytes;
  for (int shift = 56; shift >= 0; shift -= 8) bytes.push_back(static_cast<std::uint8_t>(revision_ >> shift));
  return bytes;
}

}  // namespace harmonica::providers
