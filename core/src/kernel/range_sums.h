// Fingerprints of what a replica holds in ranges of item ids.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "harmonica/extension/environment.h"
#include "harmonica/extension/metadata_store.h"
#include "harmonica/range_comparison.h"
#include "kernel/item_filter.h"

namespace harmonica::kernel {

// Adds digests modulo 2^128.
class FingerprintSum {
 public:
  void add(const Fingerprint& digest);
  void subtract(const FingerprintSum& other);
  Fingerprint value() const;

 private:
  std::uint64_t high_ = 0;
  std::uint64_t low_ = 0;
};

// What stands for one item: its id and the version of each register. One version has one content, so this is enough.
Fingerprint digest_of(Environment& environment, const Item& item);

enum class SummedItems : std::uint8_t {
  kAll,
  kLiving,  // without tombstones: one replica may have cleaned what the other has not
};

// Items in one snapshot. The first question about a range with many items walks over all that is held, once, and keeps a
// sum for every few hundred items (32 bytes for 256 items); after that a range costs two blocks, whatever its size. Small
// ranges are looked at directly. The transaction and the environment must outlive it.
class RangeSums {
 public:
  struct HeldItem {
    ItemId item;
    Fingerprint digest{};
  };

  RangeSums(MetadataTransaction& transaction, Environment& environment, SummedItems summed);

  // Only items that match both count, from the beginning on. They must outlive it.
  void narrow(const std::optional<ItemFilter>& first, const std::optional<ItemFilter>& second);

  // The first `count_max` items within `range`.
  Result<std::vector<HeldItem>> items(const ItemIdRange& range, std::size_t count_max);
  Result<Fingerprint> fingerprint(const ItemIdRange& range);
  // Cuts `range` into at most `parts_max` parts with about as many items each: the first id of each part but the first. At
  // least one, if it holds two items or more; none otherwise.
  Result<std::vector<ItemId>> cuts(const ItemIdRange& range, std::size_t parts_max);

 private:
  // Of all items before a place.
  struct Before {
    std::uint64_t count = 0;
    FingerprintSum sum;
  };
  struct Block {
    ItemId first;
    Before before;
  };

  // Visits the items that count.
  Status scan(const ItemIdRange& range, const std::function<Visit(const Item&)>& visit);
  Status build();
  // Nothing: past the last id, so of all items.
  Result<Before> before(const std::optional<ItemId>& place);
  Result<ItemId> item_at(std::uint64_t rank);

  MetadataTransaction& transaction_;
  Environment& environment_;
  const SummedItems summed_;
  std::vector<const ItemFilter*> filters_;
  bool built_ = false;
  std::vector<Block> blocks_;
  Before all_;
  // The last place that was asked for: neighbouring ranges share it.
  std::optional<std::pair<ItemId, Before>> last_place_;
};

}  // namespace harmonica::kernel
