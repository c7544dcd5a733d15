// The checksum that Chromium keeps in its bookmarks file.
#pragma once

#include <string>
#include <string_view>

#include "harmonica/platform/crypto.h"

namespace harmonica::providers {

// Which checksums a file has, or will have when it is written.
enum class ChromiumChecksums { kMd5, kSha256, kBoth };

// Chromium's checksum over a tree; entries come depth first. Titles must be valid UTF-8. A digest that was not asked for is
// empty.
class ChromiumChecksum {
 public:
  explicit ChromiumChecksum(ChromiumChecksums wanted) : wanted_(wanted) {}

  void bookmark(std::string_view id, std::string_view title, std::string_view url);
  void folder(std::string_view id, std::string_view title);
  struct Digests {
    std::string md5;
    std::string sha256;
  };
  // Once, at the end.
  Digests finish();

 private:
  void add(std::string_view bytes);
  void add_utf16(std::string_view title);
  void flush();

  ChromiumChecksums wanted_;
  std::string pending_;
  platform::Md5 md5_;
  platform::Sha256Hasher sha256_;
};

}  // namespace harmonica::providers
