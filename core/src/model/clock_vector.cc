#include "harmonica/clock_vector.h"

#include <algorithm>
#include <utility>

#include "harmonica/limits.h"
#include "model/decimal.h"

namespace harmonica {
namespace {

// "REPLICA:TICK"
std::optional<ClockVector::Entry> parse_entry(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const auto replica = ReplicaId::parse(text.substr(0, colon));
  const auto tick = parse_decimal(text.substr(colon + 1));
  if (!replica || !tick) return std::nullopt;
  return ClockVector::Entry{*replica, *tick};
}

}  // namespace

ClockVector::ClockVector(std::vector<Entry> entries) : entries_(std::move(entries)) {
  std::erase_if(entries_, [](const Entry& entry) { return entry.tick == 0; });
  std::sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) {
    if (a.replica != b.replica) return a.replica < b.replica;
    return a.tick > b.tick;
  });
  const auto same_replica = [](const Entry& a, const Entry& b) { return a.replica == b.replica; };
  entries_.erase(std::unique(entries_.begin(), entries_.end(), same_replica), entries_.end());
}

Tick ClockVector::at(const ReplicaId& replica) const {
  if (entries_.empty()) return 0;
  // A search without unpredictable branches: `candidate` is the last entry known not to stand behind `replica`, if any.
  const Entry* candidate = entries_.data();
  for (std::size_t count = entries_.size(); count > 1;) {
    const std::size_t half = count / 2;
    candidate = candidate[half].replica <= replica ? candidate + half : candidate;
    count -= half;
  }
  return candidate->replica == replica ? candidate->tick : 0;
}

bool ClockVector::contains(const ClockVector& other) const {
  if (other.entries_.size() > entries_.size()) return false;
  auto mine = entries_.begin();
  for (const Entry& theirs : other.entries_) {
    while (mine != entries_.end() && mine->replica < theirs.replica) ++mine;
    if (mine == entries_.end() || mine->replica != theirs.replica || mine->tick < theirs.tick) return false;
    ++mine;
  }
  return true;
}

void ClockVector::raise(const Version& version) {
  if (version.is_none()) return;
  const auto place = std::lower_bound(entries_.begin(), entries_.end(), version.replica,
                                      [](const Entry& entry, const ReplicaId& id) { return entry.replica < id; });
  if (place == entries_.end() || place->replica != version.replica) {
    entries_.insert(place, Entry{version.replica, version.tick});
  } else {
    place->tick = std::max(place->tick, version.tick);
  }
}

void ClockVector::cap(const Version& version) {
  const auto place = std::lower_bound(entries_.begin(), entries_.end(), version.replica,
                                      [](const Entry& entry, const ReplicaId& id) { return entry.replica < id; });
  if (place == entries_.end() || place->replica != version.replica) return;
  place->tick = std::min(place->tick, version.tick);
  if (place->tick == 0) entries_.erase(place);
}

void ClockVector::merge(const ClockVector& other) {
  if (contains(other)) return;
  std::vector<Entry> merged;
  merged.reserve(entries_.size() + other.entries_.size());
  auto mine = entries_.begin();
  for (const Entry& theirs : other.entries_) {
    while (mine != entries_.end() && mine->replica < theirs.replica) merged.push_back(*mine++);
    merged.push_back(theirs);
    if (mine != entries_.end() && mine->replica == theirs.replica) {
      merged.back().tick = std::max(mine->tick, theirs.tick);
      ++mine;
    }
  }
  merged.insert(merged.end(), mine, entries_.end());
  entries_ = std::move(merged);
}

Tick ClockVector::greatest_tick() const {
  Tick greatest = 0;
  for (const Entry& entry : entries_) greatest = std::max(greatest, entry.tick);
  return greatest;
}

std::string ClockVector::to_text() const {
  std::string text = "{";
  for (const Entry& entry : entries_) {
    if (text.size() > 1) text += ',';
    text += entry.replica.to_text() + ':' + std::to_string(entry.tick);
  }
  return text += '}';
}

std::optional<ClockVector> ClockVector::parse(std::string_view text) {
  if (text.size() < 2 || text.front() != '{' || text.back() != '}') return std::nullopt;
  text = text.substr(1, text.size() - 2);
  std::vector<Entry> entries;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    const auto entry = parse_entry(text.substr(0, comma));
    if (!entry || entries.size() == limits::kReplicasMax) return std::nullopt;
    entries.push_back(*entry);
    if (comma == std::string_view::npos) break;
    text.remove_prefix(comma + 1);
    if (text.empty()) return std::nullopt;
  }
  return ClockVector(std::move(entries));
}

ClockVector common(const ClockVector& a, const ClockVector& b) {
  std::vector<ClockVector::Entry> entries;
  for (const ClockVector::Entry& entry : a.entries()) {
    const Tick tick = std::min(entry.tick, b.at(entry.replica));
    if (tick != 0) entries.push_back({entry.replica, tick});
  }
  return ClockVector(std::move(entries));
}

}  // namespace harmonica
