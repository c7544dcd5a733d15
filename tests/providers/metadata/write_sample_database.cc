// Writes the sample database in the format of this build: how data/format_N.db came to be.
#include <cstdio>

#include "harmonica/providers/metadata.h"
#include "providers/metadata/sample_database.h"

int main(int argument_count, char** arguments) {
  if (argument_count != 2) {
    std::fprintf(stderr, "usage: %s NEW_DATABASE\n", arguments[0]);
    return 2;
  }
  const auto store = harmonica::providers::open_sqlite_metadata(arguments[1]);
  const harmonica::Status status = store.ok() ? harmonica::testing::write_sample(**store) : store.status();
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.to_text().c_str());
  return status.ok() ? 0 : 1;
}
