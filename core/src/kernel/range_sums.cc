#include "kernel/range_sums.h"

#include <algorithm>
#include <utility>

namespace harmonica::kernel {
namespace {

constexpr std::uint64_t kItemsInBlock = 256;

// Up to so many items are summed up each time they are asked for.
constexpr std::size_t kItemsSummedDirectly = 512;

std::uint64_t word_of(const Fingerprint& fingerprint, std::size_t offset) {
  std::uint64_t word = 0;
  for (std::size_t index = 0; index < 8; ++index) word = word << 8 | fingerprint[offset + index];
  return word;
}

void append(Bytes& out, const Version& version) {
  out.insert(out.end(), version.replica.bytes.begin(), version.replica.bytes.end());
  for (int shift = 56; shift >= 0; shift -= 8) out.push_back(static_cast<std::uint8_t>(version.tick >> shift));
}

}  // namespace

void FingerprintSum::add(const Fingerprint& digest) {
  const std::uint64_t low = word_of(digest, 8);
  low_ += low;
  high_ += word_of(digest, 0) + (low_ < low ? 1 : 0);
}

void FingerprintSum::subtract(const FingerprintSum& other) {
  high_ -= other.high_ + (low_ < other.low_ ? 1 : 0);
  low_ -= other.low_;
}

Fingerprint FingerprintSum::value() const {
  Fingerprint fingerprint{};
  for (std::size_t index = 0; index < 8; ++index) {
    fingerprint[index] = static_cast<std::uint8_t>(high_ >> (56 - 8 * index));
    fingerprint[8 + index] = static_cast<std::uint8_t>(low_ >> (56 - 8 * index));
  }
  return fingerprint;
}

Fingerprint digest_of(Environment& environment, const Item& item) {
  Bytes content;
  content.reserve(ItemId::kSize + (item.units.size() + 1) * 26);
  content.insert(content.end(), item.id.bytes.begin(), item.id.bytes.end());
  append(content, item.existence.version);
  for (const UnitRegister& unit : item.units) {
    content.push_back(static_cast<std::uint8_t>(unit.unit >> 8));
    content.push_back(static_cast<std::uint8_t>(unit.unit));
    append(content, unit.content.version);
  }
  const Sha256 hash = environment.sha256(content);
  Fingerprint digest{};
  std::copy_n(hash.begin(), digest.size(), digest.begin());
  return digest;
}

RangeSums::RangeSums(MetadataTransaction& transaction, Environment& environment, SummedItems summed)
    : transaction_(transaction), environment_(environment), summed_(summed) {}

void RangeSums::narrow(const std::optional<ItemFilter>& first, const std::optional<ItemFilter>& second) {
  for (const std::optional<ItemFilter>* filter : {&first, &second}) {
    if (*filter) filters_.push_back(&**filter);
  }
}

Status RangeSums::scan(const ItemIdRange& range, const std::function<Visit(const Item&)>& visit) {
  return transaction_.scan(range, [&](const StoredItem& stored) -> Result<Visit> {
    const bool counts = (summed_ == SummedItems::kAll || stored.item.alive()) &&
                        std::all_of(filters_.begin(), filters_.end(),
                                    [&](const ItemFilter* filter) { return filter->matches(stored.item); });
    return counts ? visit(stored.item) : Visit::kContinue;
  });
}

Result<std::vector<RangeSums::HeldItem>> RangeSums::items(const ItemIdRange& range, std::size_t count_max) {
  std::vector<HeldItem> found;
  HARMONICA_RETURN_IF_ERROR(scan(range, [&](const Item& item) {
    if (found.size() == count_max) return Visit::kStop;
    found.push_back({item.id, digest_of(environment_, item)});
    return Visit::kContinue;
  }));
  return found;
}

Result<Fingerprint> RangeSums::fingerprint(const ItemIdRange& range) {
  if (!built_) {
    HARMONICA_ASSIGN_OR_RETURN(const std::vector<HeldItem> few, items(range, kItemsSummedDirectly + 1));
    if (few.size() <= kItemsSummedDirectly) {
      FingerprintSum sum;
      for (const HeldItem& item : few) sum.add(item.digest);
      return sum.value();
    }
  }
  HARMONICA_RETURN_IF_ERROR(build());
  HARMONICA_ASSIGN_OR_RETURN(const Before first, before(range.first));
  HARMONICA_ASSIGN_OR_RETURN(Before last, before(next(range.last)));
  last.sum.subtract(first.sum);
  return last.sum.value();
}

Result<std::vector<ItemId>> RangeSums::cuts(const ItemIdRange& range, std::size_t parts_max) {
  HARMONICA_RETURN_IF_ERROR(build());
  HARMONICA_ASSIGN_OR_RETURN(const Before first, before(range.first));
  HARMONICA_ASSIGN_OR_RETURN(const Before last, before(next(range.last)));
  const std::uint64_t count = last.count - first.count;
  // Cuts between blocks need no look at items; they are used where that makes no part much larger than another.
  const bool between_blocks = count >= 2 * kItemsInBlock * parts_max;
  std::vector<ItemId> firsts;
  for (std::size_t part = 1; part < parts_max; ++part) {
    std::uint64_t rank = first.count + count * part / parts_max;
    if (between_blocks) rank = rank / kItemsInBlock * kItemsInBlock;
    if (rank <= first.count || rank >= last.count) continue;
    HARMONICA_ASSIGN_OR_RETURN(const ItemId id, item_at(rank));
    if (firsts.empty() ? range.first < id : firsts.back() < id) firsts.push_back(id);
  }
  return firsts;
}

Status RangeSums::build() {
  if (built_) return {};
  HARMONICA_RETURN_IF_ERROR(scan(ItemIdRange::all(), [&](const Item& item) {
    if (all_.count % kItemsInBlock == 0) blocks_.push_back({item.id, all_});
    all_.sum.add(digest_of(environment_, item));
    ++all_.count;
    return Visit::kContinue;
  }));
  built_ = true;
  return {};
}

Result<RangeSums::Before> RangeSums::before(const std::optional<ItemId>& place) {
  if (!place) return all_;
  if (last_place_ && last_place_->first == *place) return last_place_->second;
  const auto behind = std::upper_bound(blocks_.begin(), blocks_.end(), *place,
                                       [](const ItemId& id, const Block& block) { return id < block.first; });
  if (behind == blocks_.begin()) return Before();
  const Block& block = *(behind - 1);
  Before result = block.before;
  if (block.first < *place) {
    HARMONICA_RETURN_IF_ERROR(scan({block.first, *place}, [&](const Item& item) {
      if (!(item.id < *place)) return Visit::kStop;
      result.sum.add(digest_of(environment_, item));
      ++result.count;
      return Visit::kContinue;
    }));
  }
  last_place_ = {*place, result};
  return result;
}

Result<ItemId> RangeSums::item_at(std::uint64_t rank) {
  const Block& block = blocks_[static_cast<std::size_t>(rank / kItemsInBlock)];
  std::uint64_t left = rank % kItemsInBlock;
  ItemId found = block.first;
  if (left == 0) return found;
  HARMONICA_RETURN_IF_ERROR(scan({block.first, last_item_id()}, [&](const Item& item) {
    found = item.id;
    return left-- == 0 ? Visit::kStop : Visit::kContinue;
  }));
  return found;
}

}  // namespace harmonica::kernel
