#include "favorites_anchor.h"

#include <algorithm>
#include <chrono>

namespace harmonica::providers {
namespace {

constexpr std::uint8_t kAnchorVersion = 1;
// File systems keep times to two seconds (FAT) or finer.
constexpr std::int64_t kRacyNs = 2'500'000'000;

void put_number(std::uint64_t number, Bytes& bytes) {
  for (int shift = 56; shift >= 0; shift -= 8) bytes.push_back(static_cast<std::uint8_t>(number >> shift));
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
};

}  // namespace

Bytes FavoritesAnchor::encode() const {
  Bytes bytes;
  bytes.reserve(96 + 24 * keys.size());
  bytes.push_back(kAnchorVersion);
  bytes.push_back(static_cast<std::uint8_t>(format));
  bytes.push_back(static_cast<std::uint8_t>((racy ? 1 : 0) | (incomplete ? 2 : 0)));
  put_number(stamp.device, bytes);
  put_number(stamp.inode, bytes);
  put_number(stamp.size, bytes);
  put_number(static_cast<std::uint64_t>(stamp.modified_ns), bytes);
  put_number(static_cast<std::uint64_t>(stamp.changed_ns), bytes);
  bytes.insert(bytes.end(), hash.begin(), hash.end());
  for (const StoreKey& key : keys) {
    // Keys are short; a length of 255 stands before a longer one's.
    if (key.size() < 255) {
      bytes.push_back(static_cast<std::uint8_t>(key.size()));
    } else {
      bytes.push_back(255);
      put_number(key.size(), bytes);
    }
    const ByteView view = as_bytes(key);
    bytes.insert(bytes.end(), view.begin(), view.end());
  }
  return bytes;
}

std::optional<FavoritesAnchor> FavoritesAnchor::decode(ByteView bytes) {
  Reader reader{bytes};
  FavoritesAnchor anchor;
  if (reader.byte() != kAnchorVersion) return std::nullopt;
  const std::uint8_t format = reader.byte();
  if (format > static_cast<std::uint8_t>(FavoritesFormat::kNetscapeHtml)) return std::nullopt;
  anchor.format = static_cast<FavoritesFormat>(format);
  const std::uint8_t flags = reader.byte();
  anchor.racy = (flags & 1) != 0;
  anchor.incomplete = (flags & 2) != 0;
  anchor.stamp.device = reader.number();
  anchor.stamp.inode = reader.number();
  anchor.stamp.size = reader.number();
  anchor.stamp.modified_ns = static_cast<std::int64_t>(reader.number());
  anchor.stamp.changed_ns = static_cast<std::int64_t>(reader.number());
  const ByteView hash = reader.take(anchor.hash.size());
  if (reader.failed) return std::nullopt;
  std::copy(hash.begin(), hash.end(), anchor.hash.begin());
  while (!reader.rest.empty()) {
    std::uint64_t size = reader.byte();
    if (size == 255) size = reader.number();
    anchor.keys.emplace_back(as_text(reader.take(size)));
    if (reader.failed) return std::nullopt;
  }
  return anchor;
}

bool is_racy(const platform::FileStamp& stamp) {
  using std::chrono::duration_cast, std::chrono::nanoseconds, std::chrono::system_clock;
  const std::int64_t now = duration_cast<nanoseconds>(system_clock::now().time_since_epoch()).count();
  return std::max(stamp.modified_ns, stamp.changed_ns) > now - kRacyNs;
}

}  // namespace harmonica::providers
