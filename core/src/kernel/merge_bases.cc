#include "kernel/merge_bases.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "harmonica/limits.h"

namespace harmonica::kernel {
namespace {

using Bases = std::vector<UnitRegister>;

bool comes_before(const UnitRegister& a, const UnitRegister& b) {
  return a.unit != b.unit ? a.unit < b.unit : a.content.version < b.content.version;
}

// Of more than two: not the oldest, which a peer that knows any of them knows, nor the youngest; of those between them, the
// one that stands closest to its neighbours. What was written between two sessions comes in a short time.
Bases::iterator least_needed(Bases::iterator first, Bases::iterator last) {
  const auto gap = [](auto base) { return std::next(base)->content.version.tick - std::prev(base)->content.version.tick; };
  auto least = std::next(first);
  for (auto base = least; std::next(base) != last; ++base) {
    if (gap(base) < gap(least)) least = base;
  }
  return least;
}

// Of the former texts of one unit, those that nobody will start from any more: everybody has a later one.
Bases::iterator drop_passed(Bases& bases, Bases::iterator first, UnitId unit, const ClockVector& passed) {
  auto youngest_passed = first;
  for (auto base = first; base != bases.end() && base->unit == unit; ++base) {
    if (passed.contains(base->content.version)) youngest_passed = base;
  }
  return bases.erase(first, youngest_passed);
}

}  // namespace

void keep_merge_bases(const ItemType& type, const Item& before, StoredItem& after, const ClockVector& passed) {
  Bases& bases = after.merge_bases;
  for (const Unit& unit : type.units) {
    if (type.rule_of(unit) != ConflictRule::kTextMerge) continue;
    const Register* former = before.find(unit.id);
    const Register* now = after.item.find(unit.id);
    if (former == nullptr || now == nullptr || former->version == now->version) continue;
    const std::string* text = former->value.if_text();
    if (text == nullptr || text->size() > limits::kTextMergeBytesMax) continue;
    const UnitRegister base{unit.id, *former};
    const auto place = std::lower_bound(bases.begin(), bases.end(), base, comes_before);
    if (place == bases.end() || comes_before(base, *place)) bases.insert(place, base);
    const auto of_unit = [&](const UnitRegister& one) { return one.unit == unit.id; };
    const auto first = drop_passed(bases, std::find_if(bases.begin(), bases.end(), of_unit), unit.id, passed);
    const auto last = std::find_if_not(first, bases.end(), of_unit);
    if (last - first > static_cast<std::ptrdiff_t>(limits::kMergeBasesMax)) bases.erase(least_needed(first, last));
  }
}

const Value* find_merge_base(std::span<const UnitRegister> bases, UnitId unit, const ClockVector& made_with) {
  const auto base = std::find_if(bases.rbegin(), bases.rend(), [&](const UnitRegister& one) {
    return one.unit == unit && made_with.contains(one.content.version);
  });
  return base == bases.rend() ? nullptr : &base->content.value;
}

}  // namespace harmonica::kernel
