#include "tidy/source_tree.h"

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace harmonica::tidy {
namespace {

bool ends_with_one_of(std::string_view path, auto&& endings) {
  for (const std::string_view ending : endings) {
    if (path.ends_with(ending)) return true;
  }
  return false;
}

// What is no source: builds, and what git keeps (in a work tree of its own that is a file).
bool is_skipped(const std::string& name) {
  return name == ".git" || name == ".cache" || name == "build" || name.starts_with("cmake-build");
}

}  // namespace

SourceTree read_source_tree(const std::string& root) {
  namespace fs = std::filesystem;
  SourceTree tree;
  for (auto entry = fs::recursive_directory_iterator(root); entry != fs::recursive_directory_iterator(); ++entry) {
    if (is_skipped(entry->path().filename().string())) {
      entry.disable_recursion_pending();
      continue;
    }
    if (!entry->is_regular_file()) continue;
    std::ifstream file(entry->path(), std::ios::binary);
    std::string content{std::istreambuf_iterator<char>(file), {}};
    if (content.find('\0') != std::string::npos) continue;
    tree.emplace(fs::relative(entry->path(), root).generic_string(), std::move(content));
  }
  return tree;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::vector<std::string_view> lines_of(std::string_view text) { return split(text, '\n'); }

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r";
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) + 1 - first);
}

std::string_view folder_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view{} : path.substr(0, slash);
}

std::string_view file_name_of(std::string_view path) { return path.substr(path.rfind('/') + 1); }

std::string normalized(std::string_view path) {
  std::vector<std::string_view> kept;
  for (const std::string_view part : split(path, '/')) {
    if (part.empty() || part == ".") continue;
    if (part == ".." && !kept.empty() && kept.back() != "..") {
      kept.pop_back();
    } else {
      kept.push_back(part);
    }
  }
  std::string joined;
  for (const std::string_view part : kept) {
    if (!joined.empty()) joined += '/';
    joined += part;
  }
  return joined;
}

bool is_code(std::string_view path) { return ends_with_one_of(path, std::array{".h", ".cc", ".proto"}); }

bool is_build_script(std::string_view path) {
  return ends_with_one_of(path, std::array{"CMakeLists.txt", ".cmake", ".cmake.in", ".sh", "CMakePresets.json"}) ||
         path.starts_with(".ci/");
}

}  // namespace harmonica::tidy
