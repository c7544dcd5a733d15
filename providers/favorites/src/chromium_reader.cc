#include <rapidjson/error/en.h>
#include <rapidjson/reader.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <utility>

#include "chromium_document.h"
#include "chromium_identities.h"
#include "chromium_json.h"
#include "chromium_url.h"
#include "harmonica/utf8.h"
#include "json_text.h"

namespace harmonica::providers {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

// Ids beyond this leave no room for new ones, so they count as bad.
constexpr std::int64_t kIdMax = std::numeric_limits<std::int64_t>::max() - (std::int64_t{1} << 40);

std::optional<std::int64_t> parse_number(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// Whether the number is written as we would write it.
bool is_plain_number(std::string_view text) {
  const std::optional<std::int64_t> number = parse_number(text);
  return number && *number >= 0 && (text.front() != '0' || text.size() == 1);
}

// A member of a node that the tree models.
enum class Member { kOther, kChildren, kDateAdded, kDateLastUsed, kDateModified, kGuid, kId, kName, kType, kUrl };

Member member_of(std::string_view name) {
  struct Named {
    std::string_view name;
    Member member;
  };
  constexpr std::array<Named, 9> kNamed = {{{"children", Member::kChildren},
                                            {"date_added", Member::kDateAdded},
                                            {"date_last_used", Member::kDateLastUsed},
                                            {"date_modified", Member::kDateModified},
                                            {"guid", Member::kGuid},
                                            {"id", Member::kId},
                                            {"name", Member::kName},
                                            {"type", Member::kType},
                                            {"url", Member::kUrl}}};
  for (const Named& named : kNamed) {
    if (named.name == name) return named.member;
  }
  return Member::kOther;
}

bool is_between_values(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t' || c == ':' || c == ','; }

// Makes a document of the events of the parser. A handler that answers false stops it.
class TreeBuilder {
 public:
  TreeBuilder(std::string_view content, const JsonText& stream, ChromiumDocument& document)
      : content_(content), stream_(stream), document_(document) {}

  bool Null() { return scalar(std::nullopt); }
  bool Bool(bool) { return scalar(std::nullopt); }
  bool Int(int) { return scalar(std::nullopt); }
  bool Uint(unsigned) { return scalar(std::nullopt); }
  bool Int64(std::int64_t) { return scalar(std::nullopt); }
  bool Uint64(std::uint64_t) { return scalar(std::nullopt); }
  bool Double(double) { return scalar(std::nullopt); }
  // The stream does not say where the number began.
  bool RawNumber(const char*, rapidjson::SizeType, bool) {
    if (depth_ != 0 && top().where == Where::kFile && top().name == "version") {
      version_ = compact_json(value_since(top().value_from));
      return true;
    }
    return scalar(std::nullopt);
  }
  bool String(const char* text, rapidjson::SizeType length, bool) { return scalar(std::string_view(text, length)); }
  bool Key(const char* text, rapidjson::SizeType length, bool) {
    Frame& frame = top();
    frame.name.assign(text, length);
    if (frame.where == Where::kNode) frame.member = member_of(frame.name);
    frame.value_from = stream_.Tell();
    return true;
  }

  bool StartObject() {
    const std::size_t start = stream_.Tell() - 1;
    if (depth_ == 0) {
      is_object_ = true;
      return push(Where::kFile, start);
    }
    Frame& parent = top();
    if (parent.where == Where::kFile && parent.name == "roots") {
      has_roots_ = true;
      for (bool& has_root : has_root_) has_root = false;
      root_members_.clear();
      return push(Where::kRoots, start);
    }
    const bool is_root = parent.where == Where::kRoots && root_number(parent.name) < kChromiumRoots.size();
    if (is_root || parent.where == Where::kChildren) {
      if (!push(Where::kNode, start)) return false;
      top().favorite = std::make_unique<Favorite>();
      return true;
    }
    return push(Where::kOpaque, start);
  }

  bool StartArray() {
    const std::size_t start = stream_.Tell() - 1;
    if (depth_ == 0) return push(Where::kOpaque, start);
    Frame& parent = top();
    if (parent.where == Where::kNode && parent.member == Member::kChildren) {
      parent.favorite->children.clear();
      if (!push(Where::kChildren, start)) return false;
      top().value_from = stream_.Tell();
      return true;
    }
    return push(Where::kOpaque, start);
  }

  bool EndObject(rapidjson::SizeType) { return end(); }
  bool EndArray(rapidjson::SizeType) { return end(); }

  bool too_deep() const { return too_deep_; }

  // After the last event: whether Chromium would read the file, and what could not be filled in along the way.
  Status finish() {
    if (!is_object_) return Status(StatusCode::kUnsupported, "is JSON, but not a Chromium Bookmarks file");
    if (is_firefox_backup_) {
      return Status(StatusCode::kUnsupported, "is a Firefox backup, which is not supported; export the favorites as HTML");
    }
    if (!has_roots_) {
      return Status(StatusCode::kUnsupported,
                    "has no bookmark roots, so it is not a Chromium Bookmarks file; Chromium would show none");
    }
    if (version_ != "1") {
      return Status(StatusCode::kUnsupported, "has the version " + (version_.empty() ? "(none)" : version_) +
                                                  ", not 1: Chromium would show no bookmarks and then overwrite it; "
                                                  "export them as HTML from the browser that wrote it");
    }
    if (bad_checksum_) {
      return Status(
          StatusCode::kUnsupported,
          "has a checksum that is not text: Chromium would show no bookmarks and then overwrite it; remove the checksum");
    }
    for (std::size_t i = 0; i < kChromiumRoots.size(); ++i) {
      if (has_root_[i]) continue;
      return Status(StatusCode::kUnsupported,
                    "has no whole root \"" + std::string(kChromiumRoots[i].name) +
                        "\": Chromium would show no bookmarks and then overwrite it; export them as HTML from the "
                        "browser that wrote it, or add the root");
    }
    document_.members = members_.pack();
    document_.root_members = root_members_.pack();
    return {};
  }

  const std::optional<std::string>& md5() const { return md5_; }
  const std::optional<std::string>& sha256() const { return sha256_; }

 private:
  enum class Where { kFile, kRoots, kNode, kChildren, kOpaque };
  enum class Kind { kNone, kUnknown, kUrl, kFolder };

  struct Frame {
    Where where = Where::kOpaque;
    std::size_t start = 0;       // of the object or list
    std::size_t value_from = 0;  // somewhere before the value that comes next, behind the last token
    std::string name;            // of the member that comes next
    // Nodes only.
    std::unique_ptr<Favorite> favorite;
    ChromiumDocument::Entry entry;
    JsonMembers members;
    Member member = Member::kOther;  // that comes next
    Kind kind = Kind::kNone;
    bool has_children = false;
    bool has_url = false;
    std::pair<std::size_t, std::size_t> children_at;
  };

  Frame& top() { return frames_[depth_ - 1]; }
  Frame& below_top() { return frames_[depth_ - 2]; }

  bool push(Where where, std::size_t start) {
    if (depth_ == kChromiumJsonDepthMax) {
      too_deep_ = true;
      return false;
    }
    if (depth_ == frames_.size()) frames_.emplace_back();
    Frame& frame = frames_[depth_++];
    frame.members.clear();
    frame.entry = {};
    frame.kind = Kind::kNone;
    frame.has_children = false;
    frame.has_url = false;
    frame.where = where;
    frame.start = start;
    return true;
  }

  static std::size_t root_number(std::string_view name) {
    std::size_t number = 0;
    while (number < kChromiumRoots.size() && kChromiumRoots[number].name != name) ++number;
    return number;
  }

  // The value that has just ended, and began after `from`.
  std::string_view value_since(std::size_t from) const {
    std::size_t begin = from;
    while (is_between_values(content_[begin])) ++begin;
    return content_.substr(begin, stream_.Tell() - begin);
  }

  bool scalar(std::optional<std::string_view> text) {
    if (depth_ == 0) return true;
    Frame& frame = top();
    switch (frame.where) {
      case Where::kFile:
        file_member(frame, text);
        break;
      case Where::kRoots:
        root_member(frame);
        break;
      case Where::kNode:
        node_member(frame, text);
        break;
      case Where::kChildren:
        keep_stray(frame);
        break;
      case Where::kOpaque:
        break;
    }
    return true;
  }

  void file_member(const Frame& frame, std::optional<std::string_view> text) {
    if (frame.name == "checksum") {
      bad_checksum_ = !text;
      if (text) md5_ = std::string(*text);
    } else if (frame.name == "checksum_sha256") {
      sha256_ = std::string(text.value_or(""));
    } else if (frame.name == "roots") {
      has_roots_ = false;
    } else if (frame.name == "version") {
      version_ = "(not a number)";
    } else {
      if (frame.name == "typeCode") is_firefox_backup_ = true;
      members_.put(frame.name, value_since(frame.value_from));
    }
  }

  void root_member(const Frame& frame) {
    const std::size_t number = root_number(frame.name);
    if (number < kChromiumRoots.size()) {
      has_root_[number] = false;
    } else {
      root_members_.put(frame.name, value_since(frame.value_from));
    }
  }

  void node_member(Frame& frame, std::optional<std::string_view> text) {
    Favorite& favorite = *frame.favorite;
    const bool is_root = below_top().where == Where::kRoots;
    // All of a root but its children, id and date stays as it is: Chromium fills that in from its own knowledge.
    bool is_kept = is_root && frame.member != Member::kId && frame.member != Member::kDateModified;
    switch (frame.member) {
      case Member::kName:
        favorite.title = text.value_or("");
        break;
      case Member::kUrl:
        if (text) favorite.url = *text;
        frame.has_url = frame.has_url || text;
        is_kept = is_kept || !text;
        break;
      case Member::kGuid:
        favorite.key = parse_chromium_guid(text.value_or(""));
        break;
      case Member::kId: {
        const std::int64_t id = parse_number(text.value_or("")).value_or(0);
        frame.entry.id = id > 0 && id <= kIdMax ? id : 0;
        break;
      }
      case Member::kType:
        frame.kind = text == "url" ? Kind::kUrl : text == "folder" ? Kind::kFolder : Kind::kUnknown;
        break;
      case Member::kDateAdded: {
        const std::int64_t date = parse_number(text.value_or("")).value_or(0);
        if (date > 0) favorite.added_us = date - kChromiumEpochUs;
        is_kept = is_kept || date <= 0;
        break;
      }
      case Member::kDateModified:
        frame.entry.modified = std::max(parse_number(text.value_or("")).value_or(0), std::int64_t{0});
        if (frame.entry.modified > 0) favorite.changed_us = frame.entry.modified - kChromiumEpochUs;
        break;
      case Member::kDateLastUsed:
        if (!is_root && is_plain_number(text.value_or(""))) {
          frame.entry.used = *parse_number(*text);
        } else {
          is_kept = true;
        }
        break;
      case Member::kChildren:
      case Member::kOther:
        is_kept = true;
        break;
    }
    if (is_kept) frame.members.put(frame.name, value_since(frame.value_from));
  }

  // Something among the children of a folder that is no object.
  void keep_stray(Frame& list) {
    Frame& folder = below_top();
    auto kept = std::make_unique<Favorite>();
    kept->kind = FavoriteKind::kKept;
    kept->origin = keep(compact_json(value_since(list.value_from)));
    folder.favorite->children.push_back(std::move(kept));
    document_.tree().skipped.push_back(
        {{}, "something that is neither a bookmark nor a folder, in a folder: left as it is"});
    list.value_from = stream_.Tell();
  }

  std::uint32_t keep(std::string_view whole) {
    ChromiumDocument::Entry entry;
    entry.text = document_.intern(whole);
    return document_.add(entry);
  }

  bool end() {
    Frame& ended = frames_[--depth_];
    if (depth_ == 0) return true;
    Frame& parent = top();
    switch (ended.where) {
      case Where::kFile:
      case Where::kRoots:
        break;
      case Where::kChildren:
        parent.has_children = true;
        parent.children_at = {ended.start, stream_.Tell()};
        break;
      case Where::kNode:
        parent.where == Where::kRoots ? end_root(ended, parent.name) : end_node(ended);
        break;
      case Where::kOpaque:
        if (parent.where != Where::kOpaque) scalar(std::nullopt);
        break;
    }
    if (parent.where == Where::kChildren) parent.value_from = stream_.Tell();
    return true;
  }

  void end_root(Frame& ended, std::string_view name) {
    const std::size_t number = root_number(name);
    has_root_[number] = ended.kind == Kind::kFolder && ended.has_children;
    Favorite& favorite = *ended.favorite;
    ended.entry.text = document_.intern(ended.members.pack());
    document_.roots[number] = {favorite.title, ended.entry};
    document_.id_max = std::max(document_.id_max, ended.entry.id);
    document_.tree().roots[kChromiumRoots[number].root].children = std::move(favorite.children);
  }

  void end_node(Frame& ended) {
    Frame& folder = below_top();
    Favorite& favorite = *ended.favorite;
    document_.id_max = std::max(document_.id_max, ended.entry.id);
    favorite.kind = ended.kind == Kind::kFolder ? FavoriteKind::kFolder : FavoriteKind::kBookmark;
    if (const std::string fault = fault_of(ended); !fault.empty()) {
      skip_below(favorite);
      document_.tree().skipped.push_back(
          {favorite.key, (ended.kind == Kind::kFolder ? "folder " : "entry ") + quoted(favorite.title) + ": " + fault});
      const std::string_view whole = content_.substr(ended.start, stream_.Tell() - ended.start);
      favorite.kind = FavoriteKind::kKept;
      favorite.children.clear();
      favorite.origin = keep(compact_json(whole));
    } else {
      if (ended.kind == Kind::kUrl && ended.has_children) {
        const auto [from, to] = ended.children_at;
        skip_below(favorite);
        favorite.children.clear();
        ended.members.put("children", content_.substr(from, to - from));
      }
      if (ended.kind == Kind::kUrl && ended.entry.modified >= 0) {
        ended.members.put("date_modified", "\"" + std::to_string(ended.entry.modified) + "\"");
        favorite.changed_us.reset();
      }
      if (ended.kind == Kind::kFolder && ended.has_url) {
        ended.members.put("url", json_text(favorite.url));
        favorite.url.clear();
      }
      ended.entry.text = document_.intern(ended.members.pack());
      favorite.origin = document_.add(ended.entry);
    }
    folder.favorite->children.push_back(std::move(ended.favorite));
  }

  static std::string fault_of(const Frame& node) {
    switch (node.kind) {
      case Kind::kNone:
        return "it has no type, and a browser leaves it out";
      case Kind::kUnknown:
        return "it has a type that is neither url nor folder, and a browser leaves it out";
      case Kind::kUrl:
        if (!node.has_url) return "it has no address, and a browser leaves it out";
        if (!chromium_loads_url(node.favorite->url)) {
          return "its address " + quoted(node.favorite->url) + " is not valid, and a browser leaves it out";
        }
        return {};
      case Kind::kFolder:
        if (!node.has_children) return "it has no list of children, and a browser leaves it out";
        return {};
    }
    return {};
  }

  // What was below an entry that is kept as a whole was items before, perhaps.
  void skip_below(const Favorite& favorite) {
    for (const std::unique_ptr<Favorite>& child : favorite.children) {
      if (child->kind == FavoriteKind::kKept) continue;
      document_.tree().skipped.push_back({child->key, quoted(child->title) + ": the entry that it is in cannot be synced"});
      skip_below(*child);
    }
  }

  static std::string json_text(std::string_view text) {
    ChromiumJsonWriter json;
    json.text(text);
    return std::string(as_text(std::move(json).take()));
  }

  const std::string_view content_;
  const JsonText& stream_;
  ChromiumDocument& document_;
  std::vector<Frame> frames_;  // more than are open: they are used again, with the memory that they hold
  std::size_t depth_ = 0;      // how many are open
  JsonMembers members_;
  JsonMembers root_members_;
  std::array<bool, kChromiumRoots.size()> has_root_{};
  std::string version_;
  std::optional<std::string> md5_;
  std::optional<std::string> sha256_;
  bool is_object_ = false;
  bool has_roots_ = false;
  bool bad_checksum_ = false;
  bool is_firefox_backup_ = false;
  bool too_deep_ = false;
};

Status parse(std::string_view content, TreeBuilder& builder, JsonText& stream) {
  constexpr unsigned kFlags = rapidjson::kParseNumbersAsStringsFlag | rapidjson::kParseInsituFlag;
  rapidjson::Reader reader;
  const rapidjson::ParseResult result = reader.Parse<kFlags>(stream, builder);
  if (builder.too_deep()) {
    return Status(StatusCode::kUnsupported,
                  "has more than " + std::to_string(kChromiumFoldersMax) +
                      " folders inside each other: Chromium would show no bookmarks and then overwrite "
                      "it; move the deepest folders up");
  }
  std::string reason;
  std::size_t at = stream.Tell();
  if (result.IsError()) {
    reason = rapidjson::GetParseError_En(result.Code());
    at = result.Offset();
  } else if (stream.Tell() < content.size()) {
    reason = "A null character.";
  }
  if (reason.empty()) return {};
  if (reason.ends_with('.')) reason.pop_back();
  return Status(StatusCode::kCorruption, "is damaged at byte " + std::to_string(at) + " of " +
                                             std::to_string(content.size()) + " (" + reason +
                                             "); restore it from a copy, such as the .bak beside it");
}

void compare_checksums(const TreeBuilder& builder, const ChromiumChecksum::Digests& digests, ChromiumDocument& document) {
  const auto compare = [&](const std::optional<std::string>& stored, const std::string& computed, std::string_view name) {
    if (stored && *stored != computed) document.tree().mended.push_back("the " + std::string(name) + " was wrong");
  };
  compare(builder.md5(), digests.md5, "checksum");
  compare(builder.sha256(), digests.sha256, "checksum_sha256");
  if (!builder.md5() && !builder.sha256()) document.tree().mended.emplace_back("the checksum was missing");
}

}  // namespace

Result<std::unique_ptr<FavoritesDocument>> read_chromium_bookmarks(std::string_view content) {
  if (content.starts_with(kByteOrderMark)) content.remove_prefix(kByteOrderMark.size());
  std::string mended;
  std::vector<std::string> damage;
  if (!is_valid_utf8(content)) {
    mended = repaired_utf8(content);
    content = mended;
    damage.emplace_back("text that is not UTF-8 was replaced");
  }
  // Half a surrogate pair is an error to the parser, or nothing that it notices, and a replaced character to a browser.
  const bool any_surrogates =
      content.find("\\uD") != std::string_view::npos || content.find("\\ud") != std::string_view::npos;
  if (any_surrogates) {
    if (std::string whole = without_lone_surrogates(content); whole != content) {
      mended = std::move(whole);
      content = mended;
      damage.emplace_back("half a surrogate pair was replaced");
    }
  }
  auto document = std::make_unique<ChromiumDocument>();
  JsonText stream(content);
  TreeBuilder builder(content, stream, *document);
  HARMONICA_RETURN_IF_ERROR(parse(content, builder, stream));
  HARMONICA_RETURN_IF_ERROR(builder.finish());
  document->size_read = content.size();
  document->tree().mended = std::move(damage);
  document->checksums = ChromiumChecksums::kMd5;
  if (builder.sha256()) document->checksums = builder.md5() ? ChromiumChecksums::kBoth : ChromiumChecksums::kSha256;
  compare_checksums(builder, settle_identities(*document, document->checksums), *document);
  return std::unique_ptr<FavoritesDocument>(std::move(document));
}

}  // namespace harmonica::providers
