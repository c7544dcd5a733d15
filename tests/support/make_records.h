// Files of records of any size, for tests and benchmarks.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "harmonica/status.h"

namespace harmonica::testing {

struct RecordsWanted {
  std::size_t items = 0;
  std::optional<std::size_t> edited;  // the number of an item that was edited there since
};

// Makes a file of records of the scope `notes` with so many notes, some 100 bytes each, all made by one replica that is no
// longer about. Two files of the same size have the same items, but for the edited one.
Status make_records(const std::string& path, const RecordsWanted& wanted);

}  // namespace harmonica::testing
