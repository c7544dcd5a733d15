#include "simulation/ledger.h"

#include <algorithm>

namespace harmonica::simulation {
namespace {

// Whether `after` knows of the item nothing from other replicas that `before` did not know.
bool learned_nothing(const ClockVector& before, const ClockVector& after, const ReplicaId& self) {
  return std::all_of(after.entries().begin(), after.entries().end(), [&](const ClockVector::Entry& entry) {
    return entry.replica == self || before.at(entry.replica) >= entry.tick;
  });
}

std::string content_text(UnitId unit, const LedgerEntry& entry) {
  if (unit != kExistenceUnit) return entry.value.to_text();
  switch (entry.existence) {
    case Existence::kCreated:
      return "created";
    case Existence::kRestored:
      return "restored";
    case Existence::kDeleted:
      return "deleted";
    case Existence::kErased:
      return "erased";
  }
  return "?";
}

}  // namespace

void Ledger::name_replica(const ReplicaId& replica, std::string name) { replica_names_[replica] = std::move(name); }

std::optional<std::string> Ledger::commit(const Committed& committed) {
  minted_by_user_ = false;
  std::set<Tick> fresh;
  std::vector<std::pair<Version, std::string>> made;
  std::optional<std::string> broken;
  const auto fail = [&broken](std::string what) {
    if (!broken) broken = std::move(what);
  };

  const Withdrawn withdrawn = withdraw(committed);

  const auto note = [&](const Item& item, UnitId unit, LedgerEntry entry) {
    std::vector<LedgerEntry>& known = items_[item.id].registers[unit];
    const auto has_version = [&](const LedgerEntry& candidate) { return candidate.version == entry.version; };
    const auto has_content = [&](const LedgerEntry& candidate) {
      return has_version(candidate) && candidate.value == entry.value && candidate.existence == entry.existence;
    };
    if (std::any_of(known.begin(), known.end(), has_content)) return;
    const bool is_of_a_copy = is_ambiguous(entry.version) && entry.version.replica == committed.replica;
    if (const auto same = std::find_if(known.begin(), known.end(), has_version); same != known.end() && !is_of_a_copy) {
      if (!is_ambiguous(entry.version)) {
        fail("one version, two contents: " + text(item.id) + " unit " + std::to_string(unit) + " " + text(entry.version) +
             " was " + content_text(unit, *same) + ", is " + content_text(unit, entry) + " at " + text(committed.replica));
      }
      return;
    }
    if (!withdrawn.empty() && entry.version.replica == committed.replica &&
        entry.version.tick <= last_tick(committed.replica)) {
      const auto before = withdrawn.find({unit, entry.version});
      if (before != withdrawn.end()) {
        entry.by_user = before->second.by_user;
        entry.over = before->second.over;
      }
      entry.seen = committed.before.at(item.id);
      known.push_back(std::move(entry));
      return;
    }
    ++versions_;
    if (entry.version.replica == committed.replica) {
      fresh.insert(entry.version.tick);
      made.emplace_back(entry.version, text(item.id) + " unit " + std::to_string(unit));
      const ClockVector& before = committed.before.at(item.id);
      const ClockVector& after = committed.after.at(item.id);
      // Records are made and dropped by the way.
      entry.by_user = item.type != kConflictRecordType && learned_nothing(before, after, committed.replica);
      entry.seen = entry.by_user ? before : after;
      const Item& replaced = committed.replaced.at(item.id);
      if (unit == kExistenceUnit) {
        entry.over = replaced.existence.version;
      } else if (const Register* held = replaced.find(unit)) {
        entry.over = held->version;
      }
      const auto remade = std::find_if(known.begin(), known.end(), [&](const LedgerEntry& other) {
        return is_forked(other.version.replica) && other.value == entry.value && other.existence == entry.existence;
      });
      const auto same_before = std::find_if(known.begin(), known.end(), [&](const LedgerEntry& other) {
        return other.version == entry.over && other.value == entry.value && other.existence == entry.existence;
      });
      if (committed.is_another && same_before != known.end()) {
        // Made anew under the new id, it stands for what it was, over what that was made.
        entry.by_user = same_before->by_user;
        entry.former = same_before->version;
        entry.over = same_before->over;
      } else if (committed.is_another || (is_forked(committed.replica) && remade != known.end())) {
        // What a user has written stays that, under the version that it has now.
        entry.by_user = remade != known.end() && remade->by_user;
      } else {
        minted_by_user_ = minted_by_user_ || entry.by_user;
      }
    } else {
      fail("a version that nobody made: " + text(item.id) + " unit " + std::to_string(unit) + " " +
           entry.version.to_text() + " at " + text(committed.replica));
    }
    known.push_back(std::move(entry));
  };

  for (const StoredItem& put : committed.puts) {
    item_numbers_.try_emplace(put.item.id, item_numbers_.size() + 1);
    items_[put.item.id].type = put.item.type;
    note(put.item, kExistenceUnit, {put.item.existence.version, Value(), put.item.existence.value, false, {}, {}, {}});
    for (const UnitRegister& unit : put.item.units) {
      note(put.item, unit.unit, {unit.content.version, unit.content.value, Existence::kCreated, false, {}, {}, {}});
    }
  }

  const Tick last = last_tick(committed.replica);
  for (const Tick tick : fresh) {
    std::map<Tick, std::size_t>& numbers = tick_numbers_[committed.replica];
    numbers.try_emplace(tick, numbers.size() + 1);
  }
  for (const auto& [version, where] : made) {
    if (version.tick <= last && !is_forked(version.replica)) {
      fail("ticks must rise: " + where + " got " + version.to_text() + ", not greater than " + std::to_string(last) +
           " which " + text(committed.replica) + " had used before");
    }
  }
  return broken;
}

void Ledger::take_back(const ReplicaId& replica, Tick last) {
  if (is_forked(replica)) return;
  for (auto item = items_.begin(); item != items_.end();) {
    bool any_left = false;
    for (auto& [unit, entries] : item->second.registers) {
      std::erase_if(
          entries, [&](const LedgerEntry& entry) { return entry.version.replica == replica && entry.version.tick > last; });
      any_left = any_left || !entries.empty();
    }
    item = any_left ? std::next(item) : items_.erase(item);
  }
  std::map<Tick, std::size_t>& ticks = tick_numbers_[replica];
  ticks.erase(ticks.upper_bound(last), ticks.end());
}

Ledger::Withdrawn Ledger::withdraw(const Committed& committed) {
  Withdrawn withdrawn;
  if (!committed.had_told_nobody) return withdrawn;
  std::set<ItemId> rewritten(committed.removed.begin(), committed.removed.end());
  for (const StoredItem& put : committed.puts) {
    // Under another version of long ago; or names others by their new ids.
    const auto is_rewritten = [&](UnitId unit, const Version& version, const Value& value) {
      if (version.replica != committed.replica || version.tick > last_tick(committed.replica)) return false;
      const LedgerEntry* before = find(put.item.id, unit, version);
      return before == nullptr || before->value != value;
    };
    bool any = is_rewritten(kExistenceUnit, put.item.existence.version, Value());
    for (const UnitRegister& unit : put.item.units) {
      any = any || is_rewritten(unit.unit, unit.content.version, unit.content.value);
    }
    if (any) rewritten.insert(put.item.id);
  }
  for (const ItemId& item : rewritten) {
    const auto history = items_.find(item);
    if (history == items_.end()) continue;
    bool any_left = false;
    for (auto& [unit, entries] : history->second.registers) {
      for (const LedgerEntry& entry : entries) {
        if (entry.version.replica == committed.replica) withdrawn.emplace(std::pair(unit, entry.version), entry);
      }
      std::erase_if(entries, [&](const LedgerEntry& entry) { return entry.version.replica == committed.replica; });
      any_left = any_left || !entries.empty();
    }
    if (!any_left) items_.erase(history);
  }
  return withdrawn;
}

const LedgerEntry* Ledger::find(const ItemId& item, UnitId unit, const Version& version) const {
  const auto history = items_.find(item);
  if (history == items_.end()) return nullptr;
  const auto entries = history->second.registers.find(unit);
  if (entries == history->second.registers.end()) return nullptr;
  for (const LedgerEntry& entry : entries->second) {
    if (entry.version == version) return &entry;
  }
  return nullptr;
}

const LedgerEntry* Ledger::greatest(const ItemId& item, UnitId unit, const ClockVector& knowledge) const {
  const auto history = items_.find(item);
  if (history == items_.end()) return nullptr;
  const auto entries = history->second.registers.find(unit);
  if (entries == history->second.registers.end()) return nullptr;
  const LedgerEntry* best = nullptr;
  for (const LedgerEntry& entry : entries->second) {
    if (knowledge.contains(entry.version) && (best == nullptr || best->version < entry.version)) best = &entry;
  }
  return best;
}

Tick Ledger::last_tick(const ReplicaId& replica) const {
  const auto ticks = tick_numbers_.find(replica);
  return ticks == tick_numbers_.end() || ticks->second.empty() ? 0 : ticks->second.rbegin()->first;
}

std::string Ledger::text(const ItemId& item) const {
  if (item.is_zero()) return "root";
  const auto number = item_numbers_.find(item);
  return number == item_numbers_.end() ? item.to_text() : "i" + std::to_string(number->second);
}

std::string Ledger::text(const ReplicaId& replica) const {
  const auto name = replica_names_.find(replica);
  return name == replica_names_.end() ? replica.to_text() : name->second;
}

std::string Ledger::text(const Version& version) const {
  if (version.is_none()) return "none";
  const auto ticks = tick_numbers_.find(version.replica);
  if (ticks != tick_numbers_.end()) {
    if (const auto number = ticks->second.find(version.tick); number != ticks->second.end()) {
      return text(version.replica) + std::to_string(number->second);
    }
  }
  return text(version.replica) + "@" + std::to_string(version.tick);
}

std::string Ledger::text(const ClockVector& vector) const {
  std::string result = "{";
  for (const ClockVector::Entry& entry : vector.entries()) {
    if (result.size() > 1) result += ",";
    result += text(Version{entry.replica, entry.tick});
  }
  return result + "}";
}

std::string Ledger::text(const Item& item) const {
  LedgerEntry existence;
  existence.existence = item.existence.value;
  std::string result = text(item.id) + " type " + std::to_string(item.type) + " " +
                       content_text(kExistenceUnit, existence) + "@" + text(item.existence.version);
  for (const UnitRegister& unit : item.units) {
    result += " " + std::to_string(unit.unit) + "=";
    if (const Value::Ids* ids = unit.content.value.if_ids()) {
      result += "[";
      for (std::size_t index = 0; index < ids->size(); ++index) result += (index == 0 ? "" : " ") + text((*ids)[index]);
      result += "]";
    } else {
      result += unit.content.value.to_text();
    }
    result += "@" + text(unit.content.version);
  }
  return result;
}

}  // namespace harmonica::simulation
