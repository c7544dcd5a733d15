// The house rules that a program can check. Each check returns its findings, a line each: "path:line: what is wrong".
#pragma once

#include <string>
#include <vector>

#include "tidy/source_tree.h"

namespace harmonica::tidy {

// No file, folder or type is named after nothing in particular (the card, rule 5).
std::vector<std::string> check_names(const SourceTree& tree);

// Nothing is left for later, no test is switched off, no path of one machine; build scripts name no address in a network.
std::vector<std::string> check_leftovers(const SourceTree& tree);

// Every component has the same shape.
std::vector<std::string> check_components(const SourceTree& tree);

// Every relative link of a document leads to a file, and to a heading if it names one.
std::vector<std::string> check_links(const SourceTree& tree);

// Code in documents that names its source (```cpp PATH) stands there word for word; "..." on a line
// of its own stands for what was left out.
std::vector<std::string> check_snippets(const SourceTree& tree);

// Every test that CMake registers has a time limit.
std::vector<std::string> check_time_limits(const SourceTree& tree);

// Every type of the public headers stands in docs/glossary.md.
std::vector<std::string> check_glossary(const SourceTree& tree);

// Public headers above 250 lines and sources above 600: worth a look whether two ideas live in them. Not an error.
std::vector<std::string> list_large_files(const SourceTree& tree);

}  // namespace harmonica::tidy
