#include "end_to_end/favorites_files.h"

#include <rapidjson/document.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <functional>

#include "harmonica/assert.h"
#include "harmonica/bytes.h"
#include "harmonica/platform/crypto.h"

namespace harmonica::testing {
namespace {

struct RootNames {
  std::string_view name;      // of the schema
  std::string_view chromium;  // member of "roots"; empty: none
  std::string_view html_attribute;
};
constexpr std::array<RootNames, 4> kRoots = {{{"toolbar", "bookmark_bar", "PERSONAL_TOOLBAR_FOLDER"},
                                              {"menu", "", "BOOKMARKS_MENU"},
                                              {"other", "other", "UNFILED_BOOKMARKS_FOLDER"},
                                              {"mobile", "synced", "MOBILE_BOOKMARKS_FOLDER"}}};

// How Chromium holds the root that it does not have.
constexpr std::string_view kMenuGuid = "e9c4aafe-0c4e-5e55-8121-b39c1ac7dc6b";

constexpr std::int64_t kFrom1601To1970 = 11'644'473'600;
constexpr std::int64_t kAddedDefault = 1'655'526'400;

// In seconds since 1970-01-01 UTC.
std::int64_t added(const Entry& entry) { return entry.added_s != 0 ? entry.added_s : kAddedDefault; }

Entry folder_of(std::string name, std::vector<Entry> children) {
  Entry folder;
  folder.title = name;
  folder.name = std::move(name);
  folder.is_folder = true;
  folder.children = std::move(children);
  return folder;
}

const RootNames* find_root(std::string_view name) {
  const auto found = std::find_if(kRoots.begin(), kRoots.end(), [&](const RootNames& root) { return root.name == name; });
  return found == kRoots.end() ? nullptr : &*found;
}

std::string url_of(std::string_view text) {
  if (text.find(':') != std::string_view::npos) return std::string(text);
  std::string url = "https://" + std::string(text) + ".example/";
  std::transform(url.begin(), url.end(), url.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return url;
}

class Parser {
 public:
  Parser(std::string_view text, const KnownEntries& known) : text_(text), known_(known) {}

  Tree parse() {
    Tree tree;
    for (Entry& root : entries()) {
      HARMONICA_ASSERT(find_root(root.name) != nullptr && root.is_folder);
      if (!root.children.empty()) tree.roots[root.name] = std::move(root.children);
    }
    HARMONICA_ASSERT(text_.empty());
    return tree;
  }

 private:
  bool take(char c) {
    if (text_.empty() || text_.front() != c) return false;
    text_.remove_prefix(1);
    return true;
  }

  std::string until(char end) {
    const std::size_t at = text_.find(end);
    HARMONICA_ASSERT(at != std::string_view::npos);
    std::string part(text_.substr(0, at));
    text_.remove_prefix(at + 1);
    return part;
  }

  std::string word() {
    std::size_t length = 0;
    while (length < text_.size() && std::isalnum(static_cast<unsigned char>(text_[length])) != 0) ++length;
    std::string taken(text_.substr(0, length));
    text_.remove_prefix(length);
    return taken;
  }

  std::vector<Entry> entries() {
    std::vector<Entry> result;
    while (!text_.empty() && text_.front() != ')') {
      if (take(' ')) continue;
      if (take('~')) {
        static_cast<void>(word());
        continue;
      }
      result.push_back(entry());
    }
    return result;
  }

  Entry entry() {
    Entry entry;
    entry.name = word();
    HARMONICA_ASSERT(!entry.name.empty());
    if (const auto known = known_.find(entry.name); known != known_.end()) {
      entry.title = known->second.title;
      entry.url = known->second.url;
    } else {
      entry.title = entry.name;
      entry.url = url_of(entry.name);
    }
    while (true) {
      if (take('*')) continue;
      if (take('@')) {
        static_cast<void>(word());
      } else if (take('"')) {
        entry.title = until('"');
      } else if (take('<')) {
        entry.url = url_of(until('>'));
      } else if (take('(')) {
        entry.is_folder = true;
        entry.children = entries();
        HARMONICA_ASSERT(take(')'));
        break;
      } else {
        break;
      }
    }
    if (!entry.is_folder) return entry;
    entry.url.clear();
    if (entry.name == "bar" || entry.name == "root") entry.name = "toolbar";
    if (entry.name == "unfiled") entry.name = "other";
    return entry;
  }

  std::string_view text_;
  const KnownEntries& known_;
};

std::string to_text(const std::vector<Entry>& entries, Siblings siblings) {
  std::vector<std::string> texts;
  for (const Entry& entry : entries) {
    const bool is_plain = !entry.title.empty() && std::all_of(entry.title.begin(), entry.title.end(),
                                                              [](unsigned char c) { return std::isalnum(c) != 0; });
    std::string text = is_plain ? entry.title : "\"" + entry.title + "\"";
    if (entry.is_folder) {
      text += "(" + to_text(entry.children, siblings) + ")";
    } else if (entry.url != url_of(entry.title)) {
      text += "<" + entry.url + ">";
    }
    texts.push_back(std::move(text));
  }
  if (siblings == Siblings::kAsSet) std::sort(texts.begin(), texts.end());
  std::string joined;
  for (const std::string& text : texts) joined += (joined.empty() ? "" : " ") + text;
  return joined;
}

void for_each(const std::vector<Entry>& entries, const std::function<void(const Entry&)>& visit) {
  for (const Entry& entry : entries) {
    visit(entry);
    for_each(entry.children, visit);
  }
}

void for_each(const Tree& tree, const std::function<void(const Entry&)>& visit) {
  for (const auto& [root, entries] : tree.roots) for_each(entries, visit);
}

std::string key_from(std::string_view prefix, std::uint64_t number) {
  std::string digits = std::to_string(number);
  digits.insert(0, 12 - digits.size(), '0');
  return std::string(prefix) + digits;
}

std::uint64_t number_of(std::string_view name) {
  std::uint64_t number = 0;
  for (const char c : name) number = (number * 61 + static_cast<unsigned char>(c)) % 1'000'000'000'000;
  return number;
}

class ChromiumWriter {
 public:
  explicit ChromiumWriter(const Tree& tree) : tree_(tree) {
    for_each(tree, [&](const Entry& entry) { next_id_ = std::max(next_id_, entry.id + 1); });
  }

  std::string write(const std::string& other_roots) {
    std::string text = "{ \"checksum\": \"\", \"roots\": { " + other_roots;
    for (const RootNames& root : kRoots) {
      if (root.chromium.empty()) continue;
      Entry folder = folder_of(std::string(root.name), {});
      folder.id = root.name == "toolbar" ? 1 : root.name == "other" ? 2 : 3;
      if (const auto found = tree_.roots.find(std::string(root.name)); found != tree_.roots.end()) {
        folder.children = found->second;
      }
      if (const auto menu = tree_.roots.find("menu"); root.name == "other" && menu != tree_.roots.end()) {
        Entry menu_folder = folder_of("Bookmarks menu", menu->second);
        menu_folder.id = kMenuId;
        menu_folder.key = kMenuGuid;
        folder.children.push_back(std::move(menu_folder));
      }
      text += (root.name == "toolbar" ? "\"" : ", \"") + std::string(root.chromium) + "\": ";
      node(text, folder);
    }
    text += " }, \"version\": 1 }";
    const std::string empty = "\"checksum\": \"\"";
    return text.replace(text.find(empty), empty.size(), "\"checksum\": \"" + chromium_checksum(text) + "\"");
  }

 private:
  static constexpr std::int64_t kMenuId = 4;

  void node(std::string& text, const Entry& entry) {
    const std::int64_t id = entry.id != 0 ? entry.id : next_id_++;
    text += "{ ";
    if (entry.is_folder || !entry.children.empty()) {
      text += "\"children\": [ ";
      for (const Entry& child : entry.children) {
        if (&child != &entry.children.front()) text += ", ";
        node(text, child);
      }
      text += " ], ";
    }
    text += "\"date_added\": \"" + std::to_string(added(entry) + kFrom1601To1970) + "000000\", ";
    const std::string guid =
        entry.key.empty() ? key_from("00000000-0000-4000-a000-", static_cast<std::uint64_t>(id)) : entry.key;
    text += "\"guid\": \"" + guid + "\", \"id\": \"" + std::to_string(id) + "\", \"name\": \"" + entry.title + "\", ";
    text += entry.is_folder ? "\"type\": \"folder\" }" : "\"type\": \"url\", \"url\": \"" + entry.url + "\" }";
  }

  const Tree& tree_;
  std::int64_t next_id_ = 10;
};

void write_html(std::string& text, const std::vector<Entry>& entries) {
  text += "<DL><p>\n";
  for (const Entry& entry : entries) {
    const RootNames* root = entry.is_folder ? find_root(entry.name) : nullptr;
    std::string attributes = " ADD_DATE=\"" + std::to_string(added(entry)) + "\"";
    if (root != nullptr) attributes += " " + std::string(root->html_attribute) + "=\"true\"";
    if (!entry.key.empty()) attributes += " HARMONICA_ID=\"" + entry.key + "\"";
    if (entry.is_folder) {
      text += "<DT><H3" + attributes + ">" + entry.title + "</H3>\n";
      write_html(text, entry.children);
    } else {
      text += "<DT><A HREF=\"" + entry.url + "\"" + attributes + ">" + entry.title + "</A>\n";
    }
  }
  text += "</DL><p>\n";
}

// Of an attribute in a line of HTML; empty if it is not there.
std::string attribute(std::string_view line, std::string_view name) {
  const std::string start = " " + std::string(name) + "=\"";
  const std::size_t at = line.find(start);
  if (at == std::string_view::npos) return {};
  line.remove_prefix(at + start.size());
  return std::string(line.substr(0, line.find('"')));
}

class HtmlReader {
 public:
  Tree read(std::string_view text) {
    while (!text.empty()) {
      const std::size_t end = std::min(text.find('\n'), text.size() - 1);
      std::string_view line = text.substr(0, end);
      text.remove_prefix(end + 1);
      line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
      take(line);
    }
    if (!open_.empty()) tree_.damage += "a list is not closed; ";
    return std::move(tree_);
  }

 private:
  void take(std::string_view line) {
    if (line.starts_with("<DL>")) {
      open_.push_back(std::move(pending_));
      pending_ = Entry();
    } else if (line.starts_with("</DL>")) {
      close();
    } else if (line.starts_with("<DT><H3") || line.starts_with("<DT><A")) {
      Entry entry;
      entry.is_folder = line.starts_with("<DT><H3");
      entry.key = attribute(line, "HARMONICA_ID");
      entry.added_s = std::strtoll(attribute(line, "ADD_DATE").c_str(), nullptr, 10);
      const std::size_t title = line.find('>', 4) + 1;
      entry.title = std::string(line.substr(title, line.rfind("</") - title));
      if (entry.is_folder) {
        for (const RootNames& root : kRoots) {
          if (!attribute(line, root.html_attribute).empty()) entry.name = root.name;
        }
        pending_ = std::move(entry);
      } else {
        entry.url = attribute(line, "HREF");
        open_.back().children.push_back(std::move(entry));
      }
    }
  }

  void close() {
    Entry folder = std::move(open_.back());
    open_.pop_back();
    if (open_.empty()) folder.name = "other";  // what stands outside of the roots' folders
    if (folder.name.empty()) {
      open_.back().children.push_back(std::move(folder));
    } else if (!folder.children.empty()) {
      std::vector<Entry>& root = tree_.roots[folder.name];
      std::move(folder.children.begin(), folder.children.end(), std::back_inserter(root));
    }
  }

  Tree tree_;
  Entry pending_;
  std::vector<Entry> open_;
};

std::vector<Entry> read_nodes(const rapidjson::Value& nodes) {
  std::vector<Entry> entries;
  for (const rapidjson::Value& node : nodes.GetArray()) {
    Entry entry;
    entry.title = node["name"].GetString();
    entry.is_folder = std::string_view(node["type"].GetString()) == "folder";
    entry.id = std::strtoll(node["id"].GetString(), nullptr, 10);
    entry.key = node["guid"].GetString();
    entry.added_s = std::strtoll(node["date_added"].GetString(), nullptr, 10) / 1'000'000 - kFrom1601To1970;
    if (entry.is_folder) {
      entry.children = read_nodes(node["children"]);
    } else {
      entry.url = node["url"].GetString();
    }
    entries.push_back(std::move(entry));
  }
  return entries;
}

// UTF-16, little endian, of valid UTF-8.
void append_utf16(std::string& bytes, std::string_view text) {
  const auto append = [&](std::uint32_t unit) {
    bytes += static_cast<char>(unit & 0xFF);
    bytes += static_cast<char>(unit >> 8);
  };
  while (!text.empty()) {
    const auto first = static_cast<unsigned char>(text.front());
    const std::size_t length = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    std::uint32_t point = length == 1 ? first : first & (0xFFU >> (length + 1));
    for (std::size_t i = 1; i < length; ++i) point = point << 6 | (static_cast<unsigned char>(text[i]) & 0x3F);
    text.remove_prefix(length);
    if (point < 0x10000) {
      append(point);
    } else {
      append(0xD800 + ((point - 0x10000) >> 10));
      append(0xDC00 + ((point - 0x10000) & 0x3FF));
    }
  }
}

void append_checksum_input(std::string& bytes, const rapidjson::Value& node) {
  bytes += node["id"].GetString();
  append_utf16(bytes, node["name"].GetString());
  if (std::string_view(node["type"].GetString()) == "url") {
    bytes += "url";
    bytes += node["url"].GetString();
    return;
  }
  bytes += "folder";
  for (const rapidjson::Value& child : node["children"].GetArray()) append_checksum_input(bytes, child);
}

}  // namespace

Tree parse_tree(std::string_view text, const KnownEntries& known) { return Parser(text, known).parse(); }

std::string to_text(const Tree& tree, Siblings siblings) {
  std::string text;
  for (const RootNames& root : kRoots) {
    const auto found = tree.roots.find(std::string(root.name));
    if (found == tree.roots.end()) continue;
    text += (text.empty() ? "" : " ") + std::string(root.name) + "(" + to_text(found->second, siblings) + ")";
  }
  return text;
}

std::multiset<std::string> titles_of(const Tree& tree) {
  std::multiset<std::string> titles;
  for_each(tree, [&](const Entry& entry) { titles.insert(entry.title); });
  return titles;
}

std::size_t size_of(const Tree& tree) { return titles_of(tree).size(); }

std::string chromium_file(const Tree& tree, const std::string& other_roots) {
  return ChromiumWriter(tree).write(other_roots);
}

std::string html_file(const Tree& tree) {
  std::string text =
      "<!DOCTYPE NETSCAPE-Bookmark-file-1>\n<META HTTP-EQUIV=\"Content-Type\" CONTENT=\"text/html; charset=UTF-8\">\n"
      "<TITLE>Bookmarks</TITLE>\n<H1>Bookmarks</H1>\n";
  std::vector<Entry> roots;
  for (const RootNames& root : kRoots) {
    if (const auto found = tree.roots.find(std::string(root.name)); found != tree.roots.end()) {
      roots.push_back(folder_of(std::string(root.name), found->second));
    }
  }
  write_html(text, roots);
  return text;
}

Tree read_chromium_file(const std::string& text) {
  Tree tree;
  rapidjson::Document document;
  if (document.Parse(text.data(), text.size()).HasParseError()) return {{}, "is no JSON"};
  for (const RootNames& root : kRoots) {
    if (root.chromium.empty()) continue;
    std::vector<Entry> entries = read_nodes(document["roots"][root.chromium.data()]["children"]);
    const auto menu =
        std::find_if(entries.begin(), entries.end(), [](const Entry& entry) { return entry.key == kMenuGuid; });
    if (menu != entries.end()) {
      if (!menu->children.empty()) tree.roots["menu"] = std::move(menu->children);
      entries.erase(menu);
    }
    if (!entries.empty()) tree.roots[std::string(root.name)] = std::move(entries);
  }
  std::set<std::int64_t> ids;
  std::set<std::string> guids;
  for_each(tree, [&](const Entry& entry) {
    if (entry.id == 0 || !ids.insert(entry.id).second) tree.damage += "id of " + entry.title + "; ";
    if (entry.key.empty() || !guids.insert(entry.key).second) tree.damage += "guid of " + entry.title + "; ";
  });
  if (document["checksum"].GetString() != chromium_checksum(text)) tree.damage += "checksum; ";
  return tree;
}

Tree read_html_file(const std::string& text) {
  Tree tree = HtmlReader().read(text);
  std::set<std::string> keys;
  for_each(tree, [&](const Entry& entry) {
    if (!entry.key.empty() && !keys.insert(entry.key).second) tree.damage += "key of " + entry.title + "; ";
  });
  return tree;
}

std::string harmonica_key(std::string_view name) { return key_from("11111111-1111-8111-a111-", number_of(name)); }
std::string chromium_key(std::string_view name) { return key_from("22222222-2222-4222-a222-", number_of(name)); }

std::string chromium_checksum_input(const std::string& text) {
  rapidjson::Document document;
  HARMONICA_ASSERT(!document.Parse(text.data(), text.size()).HasParseError());
  std::string bytes;
  for (const RootNames& root : kRoots) {
    if (!root.chromium.empty()) append_checksum_input(bytes, document["roots"][root.chromium.data()]);
  }
  return bytes;
}

std::string chromium_checksum(const std::string& text) {
  platform::Md5 md5;
  md5.update(as_bytes(chromium_checksum_input(text)));
  return to_hex(md5.finish());
}

}  // namespace harmonica::testing
