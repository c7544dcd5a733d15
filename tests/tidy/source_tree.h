// The project's files, as the checks of tests/tidy see them.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace harmonica::tidy {

// Content by path, relative to the top folder, with '/' between names.
using SourceTree = std::map<std::string, std::string>;

// Every text file below `root` but those of build folders and of version control.
SourceTree read_source_tree(const std::string& root);

std::vector<std::string_view> lines_of(std::string_view text);
std::vector<std::string_view> split(std::string_view text, char separator);
std::string_view trimmed(std::string_view text);

std::string_view folder_of(std::string_view path);
std::string_view file_name_of(std::string_view path);
// With "." and ".." resolved; a path that leaves the top folder keeps its "..".
std::string normalized(std::string_view path);

bool is_code(std::string_view path);          // C++ and protobuf
bool is_build_script(std::string_view path);  // CMake, shell, CI

}  // namespace harmonica::tidy
