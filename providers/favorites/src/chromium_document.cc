#include "chromium_document.h"

#include <algorithm>
#include <utility>

#include "chromium_json.h"

namespace harmonica::providers {
namespace {

constexpr std::size_t kGuidLength = 36;
constexpr std::array<std::size_t, 4> kGuidDashes = {8, 13, 18, 23};
constexpr std::size_t kNamedBytesMax = 80;

// A hexadecimal digit in lower case; a null character for any other byte.
constexpr std::array<char, 256> kLowerDigits = [] {
  std::array<char, 256> digits{};
  for (char c = '0'; c <= '9'; ++c) digits[static_cast<std::uint8_t>(c)] = c;
  for (char c = 'a'; c <= 'f'; ++c) digits[static_cast<std::uint8_t>(c)] = c;
  for (char c = 'A'; c <= 'F'; ++c) digits[static_cast<std::uint8_t>(c)] = static_cast<char>(c - 'A' + 'a');
  return digits;
}();

constexpr std::array<std::string_view, 5> kBlankedInTitles = {"\n", "\r", "\t", "\u2028", "\u2029"};

// Writes one document.
class ChromiumWriter {
 public:
  explicit ChromiumWriter(const ChromiumDocument& document)
      : document_(document), id_max_(document.id_max), checksum_(document.checksums) {}

  Result<Bytes> write() {
    std::size_t added = 0;
    for (const FavoritesTree::Root& root : document_.tree().roots) added += added_bytes(root.children);
    json_.reserve(document_.size_read + added + (document_.size_read + added) / 16 + 4096);
    json_.begin_object();
    Members file(*this, document_.members);
    std::size_t md5_at = 0;
    std::size_t sha256_at = 0;
    if (document_.checksums != ChromiumChecksums::kSha256) {
      file.name("checksum");
      md5_at = json_.size() + 1;
      json_.plain_text(std::string(32, '0'));
    }
    if (document_.checksums != ChromiumChecksums::kMd5) {
      file.name("checksum_sha256");
      sha256_at = json_.size() + 1;
      json_.plain_text(std::string(64, '0'));
    }
    file.name("roots");
    write_roots();
    file.name("version");
    json_.value("1");
    file.rest();
    json_.end_object();
    json_.end_line();
    if (too_deep_) {
      return Status(StatusCode::kLimitExceeded, "more than " + std::to_string(kChromiumFoldersMax) +
                                                    " folders inside each other, which Chromium cannot read");
    }
    if (json_.size() > kFavoritesBytesMax) {
      return Status(StatusCode::kLimitExceeded,
                    "would have more than the " + std::to_string(kFavoritesBytesMax) + " bytes that are read");
    }
    const ChromiumChecksum::Digests digests = checksum_.finish();
    if (md5_at != 0) json_.overwrite(md5_at, digests.md5);
    if (sha256_at != 0) json_.overwrite(sha256_at, digests.sha256);
    return std::move(json_).take();
  }

 private:
  // Puts the kept members of an object between the modelled ones, by name.
  class Members {
   public:
    Members(ChromiumWriter& writer, std::string_view packed) : json_(writer.json_), kept_(packed) {}

    void name(std::string_view name) {
      for (; !kept_.at_end() && kept_.name() < name; kept_.next()) write_kept();
      if (!kept_.at_end() && kept_.name() == name) kept_.next();
      json_.name(name);
    }
    void rest() {
      for (; !kept_.at_end(); kept_.next()) write_kept();
    }

   private:
    void write_kept() {
      json_.name(kept_.name());
      json_.value(kept_.value());
    }

    ChromiumJsonWriter& json_;
    PackedJsonMembers kept_;
  };

  using Children = std::vector<std::unique_ptr<Favorite>>;

  // What entries that are new to the file take in it, about.
  static std::size_t added_bytes(const Children& children) {
    constexpr std::size_t kMembersBytes = 320;
    std::size_t bytes = 0;
    for (const std::unique_ptr<Favorite>& child : children) {
      if (child->origin == 0) bytes += kMembersBytes + child->title.size() + child->url.size();
      bytes += added_bytes(child->children);
    }
    return bytes;
  }

  std::string id_of(const ChromiumDocument::Entry& entry) { return std::to_string(entry.id != 0 ? entry.id : ++id_max_); }

  void write_roots() {
    const std::vector<FavoritesTree::Root>& tree = document_.tree().roots;
    json_.begin_object();
    Members members(*this, document_.root_members);
    for (std::size_t i = 0; i < kChromiumRoots.size(); ++i) {
      members.name(kChromiumRoots[i].name);
      const Children& children = tree[kChromiumRoots[i].root].children;
      const bool takes_menu = kChromiumRoots[i].root == kOtherRoot && document_.menu_origin == 0;
      const ChromiumDocument::Root& root = document_.roots[i];
      write_folder(children, root.entry, root.title, nullptr, takes_menu ? &tree[kMenuRoot].children : nullptr, 0);
    }
    members.rest();
    json_.end_object();
  }

  // `shown` is null for a root, whose own members are all kept ones. A `new_menu` that is not empty becomes the last child.
  void write_folder(const Children& children, const ChromiumDocument::Entry& entry, std::string_view title,
                    const Favorite* shown, const Children* new_menu, std::size_t depth) {
    const std::string id = id_of(entry);
    checksum_.folder(id, title);
    json_.begin_object();
    Members members(*this, document_.text(entry.text));
    members.name("children");
    json_.begin_list();
    std::int64_t modified = entry.modified;
    for (const std::unique_ptr<Favorite>& child : children) {
      json_.element();
      write_child(*child, depth + 1);
      if (child->origin == 0 && child->added_us) modified = std::max(modified, *child->added_us + kChromiumEpochUs);
    }
    if (new_menu != nullptr && !new_menu->empty()) {
      Favorite menu;
      menu.kind = FavoriteKind::kFolder;
      menu.key = kChromiumMenuGuid;
      menu.title = kChromiumMenuTitle;
      json_.element();
      write_folder(*new_menu, {}, menu.title, &menu, nullptr, depth + 1);
    }
    json_.end_list();
    if (shown != nullptr) {
      write_dates(members, *shown, entry);
      if (shown->origin == 0) modified = std::max(modified, std::int64_t{0});
    }
    if (modified >= 0) {
      members.name("date_modified");
      json_.plain_text(std::to_string(modified));
    }
    if (shown != nullptr) {
      members.name("guid");
      json_.plain_text(shown->key);
    }
    members.name("id");
    json_.plain_text(id);
    if (shown != nullptr) {
      members.name("name");
      json_.text(title);
      members.name("type");
      json_.plain_text("folder");
    }
    members.rest();
    json_.end_object();
  }

  void write_bookmark(const Favorite& bookmark) {
    const ChromiumDocument::Entry& entry = document_.entries[bookmark.origin];
    const std::string id = id_of(entry);
    checksum_.bookmark(id, bookmark.title, bookmark.url);
    json_.begin_object();
    Members members(*this, document_.text(entry.text));
    write_dates(members, bookmark, entry);
    members.name("guid");
    json_.plain_text(bookmark.key);
    members.name("id");
    json_.plain_text(id);
    members.name("name");
    json_.text(bookmark.title);
    members.name("type");
    json_.plain_text("url");
    members.name("url");
    json_.text(bookmark.url);
    members.rest();
    json_.end_object();
  }

  void write_dates(Members& members, const Favorite& favorite, const ChromiumDocument::Entry& entry) {
    const bool is_new = favorite.origin == 0;
    if (favorite.added_us || is_new) {
      members.name("date_added");
      json_.plain_text(std::to_string(favorite.added_us ? *favorite.added_us + kChromiumEpochUs : 0));
    }
    if (entry.used >= 0 || is_new) {
      members.name("date_last_used");
      json_.plain_text(std::to_string(std::max(entry.used, std::int64_t{0})));
    }
  }

  // `depth` is that of the child: 1 directly in a root.
  void write_child(const Favorite& child, std::size_t depth) {
    if (depth > kChromiumFoldersMax + 1) {
      too_deep_ = true;
      json_.value("null");
      return;
    }
    switch (child.kind) {
      case FavoriteKind::kBookmark:
        write_bookmark(child);
        return;
      case FavoriteKind::kFolder:
        write_folder(child.children, document_.entries[child.origin], child.title, &child, nullptr, depth);
        return;
      case FavoriteKind::kKept:
        if (child.origin == document_.menu_origin) {
          write_folder(document_.tree().roots[kMenuRoot].children, document_.entries[child.origin], child.title, &child,
                       nullptr, depth);
        } else {
          json_.value(document_.text(document_.entries[child.origin].text));
        }
        return;
    }
  }

  const ChromiumDocument& document_;
  std::int64_t id_max_;
  ChromiumChecksum checksum_;
  ChromiumJsonWriter json_;
  bool too_deep_ = false;
};

}  // namespace

bool is_chromium_title(std::string_view title) {
  // All that is blanked begins with one of these bytes.
  const bool may_differ =
      std::any_of(title.begin(), title.end(), [](char c) { return c == '\n' || c == '\r' || c == '\t' || c == '\xE2'; });
  return !may_differ || std::none_of(kBlankedInTitles.begin(), kBlankedInTitles.end(), [&](std::string_view blanked) {
    return title.find(blanked) != std::string_view::npos;
  });
}

std::string chromium_title(std::string title) {
  if (is_chromium_title(title)) return title;
  for (const std::string_view blanked : kBlankedInTitles) {
    for (std::size_t at = title.find(blanked); at != std::string::npos; at = title.find(blanked, at)) {
      title.replace(at, blanked.size(), " ");
    }
  }
  return title;
}

std::string quoted(std::string_view text) {
  std::string shown;
  for (const char c : text.substr(0, kNamedBytesMax)) shown += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  if (text.size() > kNamedBytesMax) {
    while (!shown.empty() && (static_cast<unsigned char>(shown.back()) & 0xC0) == 0x80) shown.pop_back();
    if (!shown.empty() && static_cast<unsigned char>(shown.back()) >= 0xC0) shown.pop_back();
    shown += "...";
  }
  return "\"" + shown + "\"";
}

std::string parse_chromium_guid(std::string_view text) {
  if (text.size() != kGuidLength) return {};
  std::string guid(text);
  bool is_guid = true;
  for (const std::size_t dash : kGuidDashes) is_guid = is_guid && std::exchange(guid[dash], '0') == '-';
  for (char& c : guid) {
    c = kLowerDigits[static_cast<unsigned char>(c)];
    is_guid = is_guid && c != '\0';
  }
  if (!is_guid) return {};
  for (const std::size_t dash : kGuidDashes) guid[dash] = '-';
  return guid;
}

std::string chromium_guid(ByteView bytes) {
  std::string guid = to_hex(bytes);
  for (const std::size_t dash : kGuidDashes) guid.insert(dash, 1, '-');
  return guid;
}

ChromiumDocument::ChromiumDocument() {
  intern({});
  entries.emplace_back();
  tree_.roots.resize(kTreeRootCount);
  tree_.roots[kToolbarRoot].name = "toolbar";
  tree_.roots[kMenuRoot].name = "menu";
  tree_.roots[kOtherRoot].name = "other";
  tree_.roots[kMobileRoot].name = "mobile";
}

std::uint32_t ChromiumDocument::intern(std::string_view text) {
  if (const auto found = numbers_.find(text); found != numbers_.end()) return found->second;
  const auto place = numbers_.emplace(text, static_cast<std::uint32_t>(texts_.size())).first;
  texts_.push_back(&place->first);
  return place->second;
}

std::uint32_t ChromiumDocument::add(Entry entry) {
  entries.push_back(entry);
  return static_cast<std::uint32_t>(entries.size() - 1);
}

Result<Bytes> ChromiumDocument::write() const { return ChromiumWriter(*this).write(); }

}  // namespace harmonica::providers
