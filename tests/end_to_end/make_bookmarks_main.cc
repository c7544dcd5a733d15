// Writes a Chromium `Bookmarks` file of any size to stdout: make_bookmarks BOOKMARKS SEED

#include <cstdio>
#include <cstdlib>
#include <string>

#include "support/make_bookmarks.h"

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: make_bookmarks BOOKMARKS SEED\n");
    return 2;
  }
  const std::string text =
      harmonica::testing::make_bookmarks(std::strtoull(argv[1], nullptr, 10), std::strtoull(argv[2], nullptr, 10));
  return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() ? 0 : 1;
}
