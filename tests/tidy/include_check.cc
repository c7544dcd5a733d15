#include "tidy/include_check.h"

#include <algorithm>
#include <optional>
#include <set>

namespace harmonica::tidy {
namespace {

// The part of `path` that `folder` matches, or nothing.
std::optional<std::string> matched_prefix(std::string_view folder, std::string_view path) {
  const auto wanted = split(folder, '/');
  const auto given = split(path, '/');
  if (given.size() <= wanted.size()) return std::nullopt;
  std::string prefix;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i] != "*" && wanted[i] != given[i]) return std::nullopt;
    if (i > 0) prefix += '/';
    prefix += given[i];
  }
  return prefix;
}

struct Include {
  std::string_view name;
  bool quoted = false;
};

std::optional<Include> parse_include(std::string_view line) {
  line = trimmed(line);
  if (!line.starts_with('#')) return std::nullopt;
  line = trimmed(line.substr(1));
  if (!line.starts_with("include")) return std::nullopt;
  line = trimmed(line.substr(std::string_view("include").size()));
  if (line.size() < 2 || (line.front() != '"' && line.front() != '<')) return std::nullopt;
  const bool quoted = line.front() == '"';
  const std::size_t end = line.find(quoted ? '"' : '>', 1);
  return Include{line.substr(1, end - 1), quoted};
}

// Where quoted includes are looked for.
class IncludePaths {
 public:
  explicit IncludePaths(const SourceTree& tree) : tree_(tree) {
    for (const auto& [path, content] : tree) {
      for (const std::string_view part : {"/include/", "/src/"}) {
        if (const std::size_t at = path.find(part); at != std::string::npos) {
          (part == "/src/" ? source_roots_ : include_roots_).insert(path.substr(0, at + part.size()));
        }
      }
    }
  }

  // The file that an include means; for generated code, what it is generated from.
  std::optional<std::string> find(std::string_view from, std::string_view name) const {
    std::vector<std::string> candidates{normalized(std::string(folder_of(from)) + "/" + std::string(name))};
    for (const std::string& root : include_roots_) candidates.push_back(normalized(root + std::string(name)));
    for (const std::string& root : source_roots_) {
      // A component's sources see their own; tests see everyone's.
      if (from.starts_with(root) || from.starts_with("tests/")) candidates.push_back(normalized(root + std::string(name)));
    }
    if (from.starts_with("tests/") || from.starts_with("bench/"))
      candidates.push_back(normalized("tests/" + std::string(name)));
    if (from.starts_with("tests/")) candidates.push_back(normalized("examples/" + std::string(name)));
    for (const std::string& candidate : candidates) {
      if (tree_.contains(candidate)) return candidate;
    }
    return name.ends_with(".pb.h") ? find_generated(name) : std::nullopt;
  }

 private:
  std::optional<std::string> find_generated(std::string_view name) const {
    const std::string_view stem = file_name_of(name.substr(0, name.size() - std::string_view(".pb.h").size()));
    for (const auto& [path, content] : tree_) {
      if (file_name_of(path) == std::string(stem) + ".proto") return path;
    }
    return std::nullopt;
  }

  const SourceTree& tree_;
  std::set<std::string> include_roots_;
  std::set<std::string> source_roots_;
};

bool is_standard(std::string_view name) { return name.find_first_of("/.") == std::string_view::npos; }

bool allows_bracketed(const IncludeTable& table, const std::string& allowed, std::string_view name) {
  if (allowed == "any") return true;
  if (allowed == "protobuf") return name.starts_with("google/protobuf/");
  if (allowed == "std") return is_standard(name);
  if (allowed == "pure") return is_standard(name) && std::ranges::find(table.impure, name) == table.impure.end();
  return false;
}

}  // namespace

IncludeTable parse_include_table(std::string_view text) {
  IncludeTable table;
  for (std::string_view line : lines_of(text)) {
    line = trimmed(line.substr(0, line.find('#')));
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    IncludeRule rule{std::string(trimmed(line.substr(0, colon))), {}};
    for (const std::string_view word : split(line.substr(colon + 1), ' ')) {
      if (!word.empty()) rule.allowed.emplace_back(word);
    }
    if (rule.folder == "impure") {
      table.impure.insert(table.impure.end(), rule.allowed.begin(), rule.allowed.end());
    } else {
      table.rules.push_back(std::move(rule));
    }
  }
  return table;
}

std::vector<std::string> check_includes(const SourceTree& tree, const IncludeTable& table) {
  std::vector<std::string> findings;
  const IncludePaths paths(tree);
  for (const auto& [path, content] : tree) {
    if (!path.ends_with(".h") && !path.ends_with(".cc")) continue;
    std::optional<std::string> self;
    const auto rule = std::ranges::find_if(table.rules, [&, &path = path](const IncludeRule& candidate) {
      self = matched_prefix(candidate.folder, path);
      return self.has_value();
    });
    if (rule == table.rules.end()) {
      findings.push_back(path + ": no line of the include table covers it");
      continue;
    }
    std::size_t number = 0;
    for (const std::string_view line : lines_of(content)) {
      ++number;
      const std::optional<Include> include = parse_include(line);
      if (!include) continue;
      const std::string where = path + ":" + std::to_string(number) + ": ";
      if (!include->quoted) {
        const auto allows = [&](const std::string& allowed) { return allows_bracketed(table, allowed, include->name); };
        if (!std::ranges::any_of(rule->allowed, allows)) {
          findings.push_back(where + rule->folder + " may not include <" + std::string(include->name) + ">");
        }
        continue;
      }
      const std::optional<std::string> target = paths.find(path, include->name);
      if (!target) {
        findings.push_back(where + "no file \"" + std::string(include->name) + "\"");
        continue;
      }
      const auto allows = [&](const std::string& allowed) {
        return matched_prefix(allowed == "self" ? *self : allowed, *target).has_value();
      };
      if (!std::ranges::any_of(rule->allowed, allows)) {
        findings.push_back(where + rule->folder + " may not include " + *target);
      }
    }
  }
  return findings;
}

}  // namespace harmonica::tidy
