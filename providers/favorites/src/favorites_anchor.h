// What a favorites store remembers of a file between two enumerations.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "favorites_digest.h"
#include "favorites_document.h"
#include "harmonica/platform/file_system.h"

namespace harmonica::providers {

struct FavoritesAnchor {
  FavoritesFormat format = FavoritesFormat::kChromium;
  platform::FileStamp stamp;
  // Written so shortly before it was looked at that a later write may have left the same stamp.
  bool racy = false;
  // What was skipped and mended has to be told each time, and is not known here: the file is read again.
  bool read_again = false;
  std::array<std::uint8_t, 32> hash{};   // SHA-256 of the content
  std::vector<SkippedFavorite> skipped;  // of this content
  std::vector<std::string> mended;
  FavoritesDigest digest;      // of the tree; formats with keys only
  std::vector<StoreKey> keys;  // of the tree's entries in their order; formats without keys only

  // Remembers what was skipped and mended, unless that takes too much room: then it is to be read again.
  void remember_lines(const FavoritesTree& tree);

  Bytes encode() const;
  // Nothing for bytes that are none, or that another version wrote. Without what there is of each entry it takes no time.
  enum class Entries : std::uint8_t { kDecoded, kPassedOver };
  static std::optional<FavoritesAnchor> decode(ByteView bytes, Entries entries = Entries::kDecoded);
};

// Whether a file with this stamp may be written again without a change of its stamp.
bool is_racy(const platform::FileStamp& stamp);

}  // namespace harmonica::providers
