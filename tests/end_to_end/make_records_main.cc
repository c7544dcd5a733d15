// Makes a file of records of any size: make_records PATH ITEMS [EDITED], the last one being the number of an item that
// differs from that of other files.

#include <cstdio>
#include <cstdlib>

#include "support/make_records.h"

int main(int argc, char** argv) {
  if (argc != 3 && argc != 4) {
    std::fprintf(stderr, "usage: make_records PATH ITEMS [EDITED]\n");
    return 2;
  }
  harmonica::testing::RecordsWanted wanted;
  wanted.items = std::strtoull(argv[2], nullptr, 10);
  if (argc == 4) wanted.edited = std::strtoull(argv[3], nullptr, 10);
  const harmonica::Status made = harmonica::testing::make_records(argv[1], wanted);
  if (!made.ok()) std::fprintf(stderr, "make_records: %s\n", made.to_text().c_str());
  return made.ok() ? 0 : 1;
}
