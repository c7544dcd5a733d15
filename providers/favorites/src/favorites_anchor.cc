#include "favorites_anchor.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>

namespace harmonica::providers {
namespace {

constexpr std::uint8_t kAnchorVersion = 3;
// How long a file may change without a change of its stamp. Times of whole seconds are those of a file system that may
// count in two seconds (FAT); others count at least in hundredths.
constexpr std::int64_t kSecondNs = 1'000'000'000;
constexpr std::int64_t kRacyCoarseNs = 2'500'000'000;
constexpr std::int64_t kRacyFineNs = 100'000'000;

constexpr std::size_t kDigestBytes = 24;  // of one entry

// Some hundreds of lines: beyond that parsing the file again is cheaper than keeping them in every anchor.
constexpr std::size_t kLinesBytesMax = 64 * 1024;

void put_number(std::uint64_t number, Bytes& bytes) {
  for (int shift = 56; shift >= 0; shift -= 8) bytes.push_back(static_cast<std::uint8_t>(number >> shift));
}

// Most texts are short; a length of 255 stands before a longer one's.
void put_text(std::string_view text, Bytes& bytes) {
  if (text.size() < 255) {
    bytes.push_back(static_cast<std::uint8_t>(text.size()));
  } else {
    bytes.push_back(255);
    put_number(text.size(), bytes);
  }
  const ByteView view = as_bytes(text);
  bytes.insert(bytes.end(), view.begin(), view.end());
}

// Takes from the front; `failed` once there is too little.
struct Reader {
  ByteView rest;
  bool failed = false;

  ByteView take(std::uint64_t size) {
    if (failed || size > rest.size()) {
      failed = true;
      return {};
    }
    const ByteView taken = rest.first(static_cast<std::size_t>(size));
    rest = rest.subspan(static_cast<std::size_t>(size));
    return taken;
  }
  std::uint8_t byte() {
    const ByteView taken = take(1);
    return taken.empty() ? std::uint8_t{0} : taken[0];
  }
  std::uint64_t number() {
    std::uint64_t result = 0;
    for (const std::uint8_t byte : take(8)) result = result << 8 | byte;
    return result;
  }
  std::string_view text() {
    std::uint64_t size = byte();
    if (size == 255) size = number();
    return as_text(take(size));
  }
};

}  // namespace

Bytes FavoritesAnchor::encode() const {
  Bytes bytes;
  bytes.reserve(128 + 24 * (digest.entries.size() + keys.size()));
  bytes.push_back(kAnchorVersion);
  bytes.push_back(static_cast<std::uint8_t>(format));
  bytes.push_back(static_cast<std::uint8_t>((racy ? 1 : 0) | (read_again ? 2 : 0)));
  put_number(stamp.device, bytes);
  put_number(stamp.inode, bytes);
  put_number(stamp.size, bytes);
  put_number(static_cast<std::uint64_t>(stamp.modified_ns), bytes);
  put_number(static_cast<std::uint64_t>(stamp.changed_ns), bytes);
  bytes.insert(bytes.end(), hash.begin(), hash.end());
  put_number(skipped.size(), bytes);
  for (const SkippedFavorite& one : skipped) {
    put_text(one.key, bytes);
    put_text(one.what, bytes);
  }
  put_number(mended.size(), bytes);
  for (const std::string& what : mended) put_text(what, bytes);
  put_number(digest.roots.size(), bytes);
  for (const std::uint64_t root : digest.roots) put_number(root, bytes);
  put_number(digest.entries.size(), bytes);
  for (const FavoriteDigest& entry : digest.entries) {
    bytes.insert(bytes.end(), entry.key.begin(), entry.key.end());
    put_number(entry.content, bytes);
  }
  for (const StoreKey& key : keys) put_text(key, bytes);
  return bytes;
}

std::optional<FavoritesAnchor> FavoritesAnchor::decode(ByteView bytes, Entries entries) {
  Reader reader{bytes};
  FavoritesAnchor anchor;
  if (reader.byte() != kAnchorVersion) return std::nullopt;
  const std::uint8_t format = reader.byte();
  if (format > static_cast<std::uint8_t>(FavoritesFormat::kNetscapeHtml)) return std::nullopt;
  anchor.format = static_cast<FavoritesFormat>(format);
  const std::uint8_t flags = reader.byte();
  anchor.racy = (flags & 1) != 0;
  anchor.read_again = (flags & 2) != 0;
  anchor.stamp.device = reader.number();
  anchor.stamp.inode = reader.number();
  anchor.stamp.size = reader.number();
  anchor.stamp.modified_ns = static_cast<std::int64_t>(reader.number());
  anchor.stamp.changed_ns = static_cast<std::int64_t>(reader.number());
  const ByteView hash = reader.take(anchor.hash.size());
  if (reader.failed) return std::nullopt;
  std::copy(hash.begin(), hash.end(), anchor.hash.begin());
  for (std::uint64_t left = reader.number(); left > 0 && !reader.failed; --left) {
    const std::string_view key = reader.text();
    anchor.skipped.push_back({std::string(key), std::string(reader.text())});
  }
  for (std::uint64_t left = reader.number(); left > 0 && !reader.failed; --left) anchor.mended.emplace_back(reader.text());
  if (reader.failed) return std::nullopt;
  if (entries == Entries::kPassedOver) return anchor;
  for (std::uint64_t left = reader.number(); left > 0 && !reader.failed; --left) {
    anchor.digest.roots.push_back(reader.number());
  }
  const std::uint64_t digests = reader.number();
  if (digests <= reader.rest.size() / kDigestBytes) anchor.digest.entries.reserve(static_cast<std::size_t>(digests));
  for (std::uint64_t left = digests; left > 0 && !reader.failed; --left) {
    FavoriteDigest& entry = anchor.digest.entries.emplace_back();
    const ByteView key = reader.take(entry.key.size());
    std::copy(key.begin(), key.end(), entry.key.begin());
    entry.content = reader.number();
  }
  while (!reader.rest.empty() && !reader.failed) anchor.keys.emplace_back(reader.text());
  if (reader.failed) return std::nullopt;
  return anchor;
}

void FavoritesAnchor::remember_lines(const FavoritesTree& tree) {
  std::size_t size = 0;
  for (const SkippedFavorite& one : tree.skipped) size += one.key.size() + one.what.size();
  for (const std::string& what : tree.mended) size += what.size();
  read_again = size > kLinesBytesMax;
  skipped.clear();
  mended.clear();
  if (read_again) return;
  skipped = tree.skipped;
  mended = tree.mended;
}

bool is_racy(const platform::FileStamp& stamp) {
  using std::chrono::duration_cast, std::chrono::nanoseconds, std::chrono::system_clock;
  const std::int64_t now = duration_cast<nanoseconds>(system_clock::now().time_since_epoch()).count();
  const bool is_fine = stamp.modified_ns % kSecondNs != 0 && stamp.changed_ns % kSecondNs != 0;
  return std::max(stamp.modified_ns, stamp.changed_ns) > now - (is_fine ? kRacyFineNs : kRacyCoarseNs);
}

}  // namespace harmonica::providers
