#include "tidy/house_check.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <set>
#include <sstream>

namespace harmonica::tidy {
namespace {

// Words that this file must not contain itself are put together here.
const std::array<std::string, 4> kLeftForLater{std::string("TO") + "DO", std::string("FIX") + "ME", std::string("X") + "XX",
                                               std::string("HA") + "CK"};
const std::array<std::string, 2> kSwitchedOff{std::string("GTEST_") + "SKIP", std::string("DISABLED") + "_"};
const std::string kMachinePath = std::string("/wo") + "rk/";
const std::string kNetworkAddress = std::string(":/") + "/";

bool is_word_character(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

bool contains_word(std::string_view line, std::string_view word) {
  for (std::size_t at = line.find(word); at != std::string_view::npos; at = line.find(word, at + 1)) {
    const bool starts = at == 0 || !is_word_character(line[at - 1]);
    const std::size_t end = at + word.size();
    if (starts && (end == line.size() || !is_word_character(line[end]))) return true;
  }
  return false;
}

// "/x/" as the beginning of an absolute path, not inside a longer one.
bool contains_absolute_path(std::string_view line, std::string_view path) {
  for (std::size_t at = line.find(path); at != std::string_view::npos; at = line.find(path, at + 1)) {
    if (at == 0 || !(is_word_character(line[at - 1]) || line[at - 1] == '.' || line[at - 1] == '}')) return true;
  }
  return false;
}

std::string at_line(const std::string& path, std::size_t number) { return path + ":" + std::to_string(number) + ": "; }

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

// The last word of a PascalCase name: "StoreProvider" -> "provider".
std::string last_word(std::string_view name) {
  std::size_t first = name.size();
  while (first > 0 && std::isupper(static_cast<unsigned char>(name[first - 1])) == 0) --first;
  return lower(name.substr(first == 0 ? 0 : first - 1));
}

bool says_nothing(std::string_view word) {
  constexpr std::array<std::string_view, 12> kWords{"manager", "managers", "helper", "helpers", "util", "utils",
                                                    "common",  "commons",  "impl",   "impls",   "info", "infos"};
  return std::ranges::find(kWords, word) != kWords.end();
}

// The name of the type that a line declares, defines or gives to another.
std::optional<std::string_view> declared_type(std::string_view line) {
  line = trimmed(line);
  for (const std::string_view keyword : {"enum class ", "class ", "struct ", "using "}) {
    if (!line.starts_with(keyword)) continue;
    const std::string_view rest = line.substr(keyword.size());
    const auto end = std::ranges::find_if_not(rest, is_word_character);
    const std::string_view name(rest.begin(), end);
    if (!name.empty()) return name;
  }
  return std::nullopt;
}

bool is_forward_declaration(std::string_view line) {
  return line.ends_with(';') && line.find_first_of("{=") == std::string_view::npos;
}

struct Fence {
  std::string_view info;
  std::size_t first_line = 0;  // of the content, from 1
  std::vector<std::string_view> content;
};

// The code blocks of a document, and its other lines with code blanked out.
struct Document {
  std::vector<Fence> fences;
  std::vector<std::string> prose;
};

Document read_document(std::string_view text) {
  Document document;
  bool in_fence = false;
  std::size_t number = 0;
  for (const std::string_view line : lines_of(text)) {
    ++number;
    document.prose.emplace_back();
    if (trimmed(line).starts_with("```")) {
      if (!in_fence) document.fences.push_back({trimmed(trimmed(line).substr(3)), number + 1, {}});
      in_fence = !in_fence;
    } else if (in_fence) {
      document.fences.back().content.push_back(line);
    } else {
      bool in_code = false;
      for (const char c : line) {
        if (c == '`') in_code = !in_code;
        document.prose.back() += in_code ? ' ' : c;
      }
    }
  }
  return document;
}

// As a heading's anchor is made: lower case, punctuation away, blanks to '-'.
std::string anchor_of(std::string_view heading) {
  std::string anchor;
  for (const char c : lower(trimmed(heading))) {
    if (c == ' ' || c == '-') {
      anchor += '-';
    } else if (is_word_character(c) || (static_cast<unsigned char>(c) & 0x80) != 0) {
      anchor += c;
    }
  }
  return anchor;
}

std::set<std::string> anchors_of(std::string_view text) {
  std::set<std::string> anchors;
  bool in_fence = false;
  for (const std::string_view line : lines_of(text)) {
    if (trimmed(line).starts_with("```")) in_fence = !in_fence;
    if (!in_fence && line.starts_with('#')) anchors.insert(anchor_of(line.substr(line.find_first_not_of('#'))));
  }
  return anchors;
}

bool folder_exists(const SourceTree& tree, const std::string& folder) {
  if (folder.empty()) return true;
  const auto after = tree.lower_bound(folder + "/");
  return after != tree.end() && after->first.starts_with(folder + "/");
}

void check_link(const SourceTree& tree, const std::string& path, std::size_t number, std::string_view target,
                std::vector<std::string>& findings) {
  if (target.find(kNetworkAddress) != std::string_view::npos || target.starts_with("mailto:")) return;
  const std::size_t hash = target.find('#');
  const std::string_view file_part = target.substr(0, hash);
  const std::string file =
      file_part.empty() ? path : normalized(std::string(folder_of(path)) + "/" + std::string(file_part));
  const auto found = tree.find(file);
  if (found == tree.end()) {
    if (hash != std::string_view::npos || !folder_exists(tree, file)) {
      findings.push_back(at_line(path, number) + "the link to " + std::string(target) + " leads nowhere");
    }
  } else if (hash != std::string_view::npos && !anchors_of(found->second).contains(std::string(target.substr(hash + 1)))) {
    findings.push_back(at_line(path, number) + file + " has no heading for " + std::string(target.substr(hash)));
  }
}

// Every run of white space as one blank, so that only the words count.
std::string words_of(std::string_view text) {
  std::string words;
  for (const char c : text) {
    const bool blank = std::isspace(static_cast<unsigned char>(c)) != 0;
    if (!blank) {
      words += c;
    } else if (!words.empty() && words.back() != ' ') {
      words += ' ';
    }
  }
  return words;
}

// Whether the lines stand in `source` in one piece, or in several in order where they say "...".
bool stands_in(const std::vector<std::string_view>& lines, std::string_view source) {
  std::vector<std::string> pieces(1);
  for (const std::string_view line : lines) {
    if (trimmed(line) == "...") {
      pieces.emplace_back();
    } else {
      pieces.back() += std::string(line) + "\n";
    }
  }
  const std::string text = words_of(source);
  std::size_t from = 0;
  for (const std::string& piece : pieces) {
    const std::string words = words_of(piece);
    from = text.find(words, from);
    if (from == std::string::npos) return false;
    from += words.size();
  }
  return true;
}

// The arguments of each call of a CMake command in `text`, with the line that it begins on.
struct Call {
  std::size_t line = 0;
  std::string arguments;
};

std::vector<Call> calls_of(std::string_view text, std::string_view command) {
  std::string code;
  for (const std::string_view line : lines_of(text)) {
    code += line.substr(0, line.find('#'));
    code += '\n';
  }
  std::vector<Call> calls;
  const std::string start = std::string(command) + "(";
  for (std::size_t at = code.find(start); at != std::string::npos; at = code.find(start, at + 1)) {
    if (at > 0 && is_word_character(code[at - 1])) continue;
    std::size_t end = at + start.size();
    for (int depth = 1; end < code.size() && depth > 0; ++end) depth += code[end] == '(' ? 1 : code[end] == ')' ? -1 : 0;
    calls.push_back(
        {static_cast<std::size_t>(std::count(code.begin(), code.begin() + static_cast<std::ptrdiff_t>(at), '\n')) + 1,
         code.substr(at + start.size(), end - at - start.size())});
  }
  return calls;
}

bool is_public_header(std::string_view path) {
  return path.ends_with(".h") && path.find("/include/") != std::string_view::npos && !path.starts_with("tests/");
}

}  // namespace

std::vector<std::string> check_names(const SourceTree& tree) {
  std::set<std::string> findings;
  for (const auto& [path, content] : tree) {
    std::string so_far;
    for (const std::string_view name : split(path, '/')) {
      so_far += (so_far.empty() ? "" : "/") + std::string(name);
      std::string words(name);
      std::ranges::replace_if(
          words, [](char c) { return c == '.' || c == '-'; }, '_');
      for (const std::string_view word : split(words, '_')) {
        if (says_nothing(lower(word))) findings.insert(so_far + ": \"" + std::string(word) + "\" says nothing");
      }
    }
    if (!is_code(path)) continue;
    std::size_t number = 0;
    for (const std::string_view line : lines_of(content)) {
      ++number;
      const auto type = declared_type(line);
      if (type && says_nothing(last_word(*type))) {
        findings.insert(at_line(path, number) + "the type " + std::string(*type) + " says nothing");
      }
    }
  }
  return {findings.begin(), findings.end()};
}

std::vector<std::string> check_leftovers(const SourceTree& tree) {
  std::vector<std::string> findings;
  for (const auto& [path, content] : tree) {
    const bool code = is_code(path) || is_build_script(path);
    std::size_t number = 0;
    for (const std::string_view line : lines_of(content)) {
      ++number;
      const auto complain = [&, &path = path](const std::string& what) {
        findings.push_back(at_line(path, number) + what);
      };
      if (contains_absolute_path(line, kMachinePath)) complain("a path of one machine");
      // The name of an XML namespace looks like an address and is none.
      if (is_build_script(path) && line.find(kNetworkAddress) != std::string_view::npos && !contains_word(line, "xmlns")) {
        complain("an address in a network");
      }
      if (!code) continue;
      for (const std::string& word : kLeftForLater) {
        if (contains_word(line, word)) complain(word);
      }
      for (const std::string& mark : kSwitchedOff) {
        if (line.find(mark) != std::string_view::npos) complain("a test that does not run");
      }
    }
  }
  return findings;
}

std::vector<std::string> check_components(const SourceTree& tree) {
  std::set<std::string> components{"core", "platform"};
  for (const auto& [path, content] : tree) {
    const auto names = split(path, '/');
    if (names.size() == 2 && (names[0] == "cli" || names[0] == "bench" || names[0] == "conformance"))
      components.emplace(names[0]);
    if (names.size() < 3) continue;
    if (names[0] == "providers" || names[0] == "transports" || names[0] == "bindings" || names[0] == "examples") {
      components.insert(std::string(names[0]) + "/" + std::string(names[1]));
    }
  }
  std::vector<std::string> findings;
  for (const std::string& component : components) {
    for (const std::string_view file : {"README.md", "CMakeLists.txt"}) {
      const std::string path = component + "/" + std::string(file);
      if (!tree.contains(path)) findings.push_back(path + ": missing");
    }
    const bool is_library = !component.starts_with("examples/") && component != "cli" && component != "bench";
    if (is_library && !folder_exists(tree, component + "/include")) findings.push_back(component + "/include: missing");
  }
  return findings;
}

std::vector<std::string> check_links(const SourceTree& tree) {
  std::vector<std::string> findings;
  for (const auto& [path, content] : tree) {
    if (!path.ends_with(".md")) continue;
    std::size_t number = 0;
    for (const std::string& line : read_document(content).prose) {
      ++number;
      for (std::size_t at = line.find("]("); at != std::string::npos; at = line.find("](", at + 1)) {
        const std::size_t end = line.find(')', at);
        if (end != std::string::npos) check_link(tree, path, number, line.substr(at + 2, end - at - 2), findings);
      }
    }
  }
  return findings;
}

std::vector<std::string> check_snippets(const SourceTree& tree) {
  std::vector<std::string> findings;
  for (const auto& [path, content] : tree) {
    if (!path.ends_with(".md")) continue;
    for (const Fence& fence : read_document(content).fences) {
      const std::size_t blank = fence.info.find(' ');
      if (blank == std::string_view::npos) continue;
      const std::string source_path(trimmed(fence.info.substr(blank)));
      const auto source = tree.find(source_path);
      if (source == tree.end()) {
        findings.push_back(at_line(path, fence.first_line) + "no file " + source_path);
      } else if (!stands_in(fence.content, source->second)) {
        findings.push_back(at_line(path, fence.first_line) + "does not stand in " + source_path);
      }
    }
  }
  return findings;
}

std::vector<std::string> check_time_limits(const SourceTree& tree) {
  std::vector<std::string> findings;
  for (const auto& [path, content] : tree) {
    if (!path.ends_with("CMakeLists.txt") && !path.ends_with(".cmake")) continue;
    for (const Call& call : calls_of(content, "gtest_discover_tests")) {
      if (!contains_word(call.arguments, "TIMEOUT") && call.arguments.find("${properties}") == std::string::npos) {
        findings.push_back(at_line(path, call.line) + "tests without a TIMEOUT");
      }
    }
    for (const Call& call : calls_of(content, "add_test")) {
      std::istringstream words(call.arguments);
      std::string name;
      words >> name;
      if (name == "NAME") words >> name;
      const auto limits = [&](const Call& properties) {
        return properties.arguments.find(name) != std::string::npos && contains_word(properties.arguments, "TIMEOUT");
      };
      if (!std::ranges::any_of(calls_of(content, "set_tests_properties"), limits)) {
        findings.push_back(at_line(path, call.line) + "the test " + name + " has no TIMEOUT");
      }
    }
  }
  return findings;
}

std::vector<std::string> check_glossary(const SourceTree& tree) {
  const auto glossary = tree.find("docs/glossary.md");
  if (glossary == tree.end()) return {"docs/glossary.md: missing"};
  std::vector<std::string> findings;
  for (const auto& [path, content] : tree) {
    if (!is_public_header(path) || path.starts_with("bindings/")) continue;
    std::size_t number = 0;
    for (const std::string_view line : lines_of(content)) {
      ++number;
      if (line.starts_with(' ') || is_forward_declaration(line)) continue;
      const auto type = declared_type(line);
      if (type && glossary->second.find("`" + std::string(*type) + "`") == std::string::npos) {
        findings.push_back(at_line(path, number) + std::string(*type) + " is not in the glossary");
      }
    }
  }
  return findings;
}

std::vector<std::string> list_large_files(const SourceTree& tree) {
  std::vector<std::string> found;
  for (const auto& [path, content] : tree) {
    if (!is_code(path)) continue;
    const auto lines = std::ranges::count(content, '\n');
    if (lines > (is_public_header(path) ? 250 : 600)) found.push_back(path + ": " + std::to_string(lines) + " lines");
  }
  return found;
}

}  // namespace harmonica::tidy
