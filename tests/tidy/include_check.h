// Includes follow a table (include_table.txt).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tidy/source_tree.h"

namespace harmonica::tidy {

struct IncludeRule {
  std::string folder;                // '*' stands for one folder's name
  std::vector<std::string> allowed;  // as in the table
};

struct IncludeTable {
  std::vector<IncludeRule> rules;   // the first that matches counts
  std::vector<std::string> impure;  // standard headers that `pure` leaves out
};

IncludeTable parse_include_table(std::string_view text);

// "path:line: why" for each include that the table forbids or that names no file, and for code that no rule covers.
std::vector<std::string> check_includes(const SourceTree& tree, const IncludeTable& table);

}  // namespace harmonica::tidy
