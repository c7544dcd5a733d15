#include <algorithm>
#include <array>
#include <unordered_set>

#include "harmonica/limits.h"
#include "html_element.h"
#include "html_kept.h"
#include "netscape_html.h"

namespace harmonica::providers {
namespace {

// Entries, separators and texts of a file; far beyond what people have, and bounds the memory that a file of tiny ones
// takes.
constexpr std::size_t kPartsMax = 1'000'000;

// Lists inside lists, those that are no folders included. Only a hostile file has more; each takes memory while it is open.
constexpr std::size_t kOpenListsMax = 10'000;

bool is_blank(std::string_view text) { return std::ranges::all_of(text, is_html_space); }

std::size_t without_trailing_space(std::string_view text, std::size_t end) {
  while (end > 0 && is_html_space(text[end - 1])) --end;
  return end;
}

HtmlSlice slice(std::size_t begin, std::size_t end) {
  return {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(std::max(begin, end))};
}

Status not_bookmarks(std::string why) { return Status(StatusCode::kUnsupported, "is no bookmark file: " + std::move(why)); }

Status cut_off(std::string where) { return Status(StatusCode::kCorruption, "is cut off: it ends " + std::move(where)); }

}  // namespace

class NetscapeHtmlReader {
 public:
  NetscapeHtmlReader(ByteView content, DecodedHtml decoded) : document_(std::make_unique<NetscapeHtmlDocument>()) {
    if (decoded.text != as_text(content)) document_->original_.emplace(content.begin(), content.end());
    document_->text_ = std::move(decoded.text);
    document_->mark_ = decoded.mark;
    document_->tree_.mended = std::move(decoded.mended);
  }

  Result<std::unique_ptr<NetscapeHtmlDocument>> read() {
    HtmlTokenizer tokenizer(document_->text_);
    tokenizer_ = &tokenizer;
    lists_.push_back({&outer_, 0, HtmlElement::kList});
    while (advance()) {
      if (in_header_ && take_header()) continue;
      HARMONICA_RETURN_IF_ERROR(take_body());
      if (document_->origins_.size() > kPartsMax) {
        return Status(StatusCode::kLimitExceeded, "has more than " + std::to_string(kPartsMax) + " entries");
      }
    }
    finish_text();
    HARMONICA_RETURN_IF_ERROR(check());
    place_roots();
    return std::move(document_);
  }

 private:
  using Entries = std::vector<std::unique_ptr<Favorite>>;

  struct OpenList {
    Entries* entries;
    std::size_t depth;  // of its entries
    HtmlElement element;
  };

  // Text, comments and unknown elements that follow each other.
  struct Run {
    enum class Kind : std::uint8_t { kNone, kNote, kKept } kind = Kind::kNone;
    std::size_t begin = 0;
    std::size_t end = 0;
    std::size_t open_lists = 0;  // inside the run
  };

  std::string_view text() const { return document_->text_; }
  std::string_view token() const { return text().substr(tokenizer_->begin(), tokenizer_->end() - tokenizer_->begin()); }
  HtmlOrigin& origin(std::uint32_t number) { return document_->origins_[number]; }

  bool is_comment_here() const { return is_comment_in_text(text(), *tokenizer_); }

  bool advance() {
    if (again_) {
      again_ = false;
      return true;
    }
    return tokenizer_->next();
  }

  // Whether the token belongs to what stands before the bookmarks.
  bool take_header() {
    if (tokenizer_->kind() == HtmlToken::kComment) {
      constexpr std::string_view kType = "<!DOCTYPE NETSCAPE-Bookmark";
      is_netscape_ = is_netscape_ || equals_ignoring_case(token().substr(0, kType.size()), kType);
    }
    if (tokenizer_->kind() != HtmlToken::kTag) return true;
    const HtmlTag tag = tokenizer_->tag();
    switch (element_of(tag.name)) {
      case HtmlElement::kHeading:
        if (has_main_heading_ || !equals_ignoring_case(tag.name, "h1") || tag.side == HtmlTag::Side::kEnd) {
          if (tag.side == HtmlTag::Side::kEnd) return true;
          break;
        }
        take_main_heading(tag);
        return true;
      case HtmlElement::kUnknown:
        note_unknown(tag);
        return true;
      case HtmlElement::kPage:
        note_page(tag);
        return true;
      case HtmlElement::kParagraph:
      case HtmlElement::kDescription:
        return true;
      default:
        if (tag.side == HtmlTag::Side::kEnd) return true;
        break;
    }
    in_header_ = false;
    document_->header_ = slice(0, tokenizer_->begin());
    return false;
  }

  void take_main_heading(const HtmlTag& tag) {
    has_main_heading_ = true;
    for (HtmlAttributes attributes(tag); const std::optional<HtmlAttribute> attribute = attributes.next();) {
      if (equals_ignoring_case(attribute->name, "PLACES_ROOT")) is_firefox_ = true;
    }
    if (html_title(document_->view(take_title())) == "Bookmarks Menu") is_firefox_ = true;
  }

  void note_unknown(const HtmlTag& tag) {
    constexpr std::array<std::string_view, 6> kOfPages = {"div", "script", "style", "link", "nav", "table"};
    for (const std::string_view name : kOfPages) {
      if (equals_ignoring_case(tag.name, name)) looks_like_page_ = true;
    }
    if (!in_header_ || !equals_ignoring_case(tag.name, "meta")) return;
    for (HtmlAttributes attributes(tag); const std::optional<HtmlAttribute> attribute = attributes.next();) {
      if (equals_ignoring_case(attribute->value, "Content-Security-Policy")) is_firefox_ = true;
    }
  }

  void note_page(const HtmlTag& tag) {
    if (!equals_ignoring_case(tag.name, "html")) return;
    (tag.side == HtmlTag::Side::kStart ? page_opened_ : page_closed_) = true;
  }

  Status take_body() {
    if (tokenizer_->kind() == HtmlToken::kText) {
      if (!is_blank(token())) take_loose();
      return {};
    }
    if (tokenizer_->kind() == HtmlToken::kComment) {
      if (run_.kind == Run::Kind::kNote && !is_comment_here()) tokenizer_->read_as_text();
      take_loose();
      return {};
    }
    const HtmlTag tag = tokenizer_->tag();
    return tag.side == HtmlTag::Side::kStart ? take_start(tag) : take_end(tag);
  }

  Status take_start(const HtmlTag& tag) {
    const HtmlElement element = element_of(tag.name);
    switch (element) {
      case HtmlElement::kAnchor:
        take_bookmark(tag);
        return {};
      case HtmlElement::kHeading:
        take_folder(tag);
        return {};
      case HtmlElement::kRule:
        finish_run();
        open_term();
        add_kept(HtmlOrigin::Role::kSeparator, slice(tokenizer_->begin(), tokenizer_->end()));
        return {};
      case HtmlElement::kListItem:
        if (run_.open_lists > 0) {
          take_loose();
          return {};
        }
        [[fallthrough]];
      case HtmlElement::kTerm:
        finish_run();
        open_term();
        return {};
      case HtmlElement::kOtherList:
        if (run_.kind == Run::Kind::kNote) {
          ++run_.open_lists;
          take_loose();
          return {};
        }
        [[fallthrough]];
      case HtmlElement::kList:
        return open_list(element);
      case HtmlElement::kDescription:
        if (run_.kind == Run::Kind::kNote) {
          take_loose();
          return {};
        }
        finish_run();
        begin_run(annotated_ != 0 ? Run::Kind::kNote : Run::Kind::kKept);
        return {};
      case HtmlElement::kParagraph:
        if (run_.kind != Run::Kind::kNone) take_loose();
        return {};
      case HtmlElement::kPage:
      case HtmlElement::kUnknown:
        note_unknown(tag);
        take_loose();
        return {};
    }
    return {};
  }

  Status take_end(const HtmlTag& tag) {
    const HtmlElement element = element_of(tag.name);
    if (element == HtmlElement::kOtherList && run_.open_lists > 0) {
      --run_.open_lists;
      take_loose();
    } else if (element == HtmlElement::kList || element == HtmlElement::kOtherList) {
      close_list(element);
    } else if (element == HtmlElement::kPage) {
      note_page(tag);
      // Belongs to the end of the file, not to the last entry.
      if (run_.kind == Run::Kind::kNote) finish_run();
      open_term();
      take_loose();
    } else if (element == HtmlElement::kUnknown || run_.kind != Run::Kind::kNone) {
      take_loose();
    }
    return {};
  }

  void take_bookmark(const HtmlTag& tag) {
    finish_run();
    open_term();
    const std::size_t begin = tokenizer_->begin();
    const std::uint32_t number = add_origin(HtmlOrigin::Role::kEntry);
    origin(number).attributes = attributes_of(tag);
    origin(number).title = take_title();
    HtmlEntry entry = document_->entry_of(origin(number));
    const std::string_view why = entry.url.empty() ? "has no address" : unsynced(entry);
    if (!why.empty()) {
      leave_out("bookmark", entry, why, slice(begin, without_trailing_space(text(), title_end_)));
      return;
    }
    Favorite& favorite = add(FavoriteKind::kBookmark, number);
    favorite.url = std::move(entry.url);
    fill(favorite, entry);
  }

  void take_folder(const HtmlTag& tag) {
    finish_run();
    open_term();
    const std::size_t begin = tokenizer_->begin();
    const std::uint32_t number = add_origin(HtmlOrigin::Role::kEntry);
    origin(number).attributes = attributes_of(tag);
    origin(number).title = take_title();
    if (const std::optional<HtmlRoot> root = root_of(origin(number))) {
      document_->root_folders_[static_cast<std::size_t>(*root)] = number;
      origin(number).role = HtmlOrigin::Role::kRootFolder;
      origin(number).root = *root;
      add(FavoriteKind::kKept, number);
      pending_ = {Pending::Kind::kRoot, &root_entries_[static_cast<std::size_t>(*root)]};
      return;
    }
    HtmlEntry entry = document_->entry_of(origin(number));
    if (const std::string_view why = unsynced(entry); !why.empty()) {
      leave_out("folder", entry, why, slice(begin, without_trailing_space(text(), title_end_)));
      pending_ = {Pending::Kind::kUnsynced, nullptr};
      return;
    }
    Favorite& favorite = add(FavoriteKind::kFolder, number);
    fill(favorite, entry);
    pending_ = {Pending::Kind::kFolder, &favorite.children};
  }

  // The root that the folder stands for, if it is the first to do so.
  std::optional<HtmlRoot> root_of(const HtmlOrigin& folder) const {
    for (HtmlAttributes attributes(document_->tag_of(folder));
         const std::optional<HtmlAttribute> attribute = attributes.next();) {
      for (std::size_t root = 0; root < kHtmlRoots; ++root) {
        if (!equals_ignoring_case(attribute->name, kHtmlRootAttributes[root])) continue;
        if (document_->root_folders_[root] == 0) return static_cast<HtmlRoot>(root);
      }
    }
    return std::nullopt;
  }

  // Why the entry at this place cannot be an item; empty if it can.
  std::string_view unsynced(const HtmlEntry& entry) const {
    if (lists_.back().depth >= kFavoritesDepthMax) return "is nested too deep";
    if (std::max(entry.title.size(), entry.url.size()) > limits::kValueBytesMax) return "is too long";
    return {};
  }

  void leave_out(std::string_view what, const HtmlEntry& entry, std::string_view why, HtmlSlice whole) {
    const std::uint32_t number = last_origin();
    origin(number).role = HtmlOrigin::Role::kUnsynced;
    origin(number).whole = whole;
    add(FavoriteKind::kKept, number);
    skip(entry.key, left_out_line(what, entry, why));
  }

  static std::string left_out_line(std::string_view what, const HtmlEntry& entry, std::string_view why) {
    return std::string(what) + " \"" + excerpt(entry.title) + "\" " + std::string(why) + ": kept in the file, not synced";
  }

  void skip(const std::string& key, std::string what) {
    const bool is_its_own = !key.empty() && keys_.insert(key).second;
    document_->tree_.skipped.push_back({is_its_own ? key : std::string(), std::move(what)});
  }

  void fill(Favorite& favorite, HtmlEntry& entry) {
    favorite.title = std::move(entry.title);
    favorite.added_us = entry.added_us;
    favorite.changed_us = entry.changed_us;
    if (entry.key.empty()) return;
    if (keys_.insert(entry.key).second) {
      favorite.key = std::move(entry.key);
    } else {
      document_->tree_.mended.push_back("\"" + excerpt(favorite.title) + "\" has the " + std::string(kHtmlKeyAttribute) +
                                        " of another entry");
    }
  }

  Status open_list(HtmlElement element) {
    finish_run();
    const Pending pending = pending_;
    const std::uint32_t heading = annotated_;
    open_term();
    if (pending.kind == Pending::Kind::kUnsynced) {
      pass_list(heading);
      return {};
    }
    if (lists_.size() == kOpenListsMax) {
      return Status(StatusCode::kLimitExceeded,
                    "has more than " + std::to_string(kOpenListsMax) + " lists inside each other");
    }
    OpenList list = {lists_.back().entries, lists_.back().depth, element};
    if (pending.kind == Pending::Kind::kFolder) list = {pending.entries, list.depth + 1, element};
    if (pending.kind == Pending::Kind::kRoot) list = {pending.entries, 0, element};
    lists_.push_back(list);
    return {};
  }

  // The list of a folder that is not synced stays part of it.
  void pass_list(std::uint32_t heading) {
    std::size_t open = 1;
    const std::size_t begin = tokenizer_->begin();
    while (open > 0 && advance()) {
      if (tokenizer_->kind() != HtmlToken::kTag) continue;
      const HtmlTag tag = tokenizer_->tag();
      const HtmlElement element = element_of(tag.name);
      if ((element == HtmlElement::kAnchor || element == HtmlElement::kHeading) && tag.side == HtmlTag::Side::kStart) {
        HtmlOrigin inner;
        inner.attributes = attributes_of(tag);
        inner.title = slice(tokenizer_->end(), std::min(text().find('<', tokenizer_->end()), text().size()));
        const HtmlEntry entry = document_->entry_of(inner);
        const std::string_view what = element == HtmlElement::kAnchor ? "bookmark" : "folder";
        if (!entry.key.empty()) skip(entry.key, left_out_line(what, entry, "is nested too deep"));
      }
      if (element != HtmlElement::kList && element != HtmlElement::kOtherList) continue;
      open = tokenizer_->tag().side == HtmlTag::Side::kStart ? open + 1 : open - 1;
    }
    passed_open_lists_ = open;
    origin(heading).list = slice(begin, tokenizer_->end());
  }

  void close_list(HtmlElement element) {
    finish_run();
    open_term();
    std::size_t last = lists_.size();
    if (element == HtmlElement::kOtherList) {
      if (lists_.back().element == element) --last;
    } else {
      while (last > 1 && lists_[last - 1].element != element) --last;
      if (last > 1) --last;
    }
    if (last == lists_.size() || last == 0) return;
    lists_.resize(std::max<std::size_t>(last, 1));
    has_closed_list_ = true;
  }

  // The text up to the end of a link or heading, or to what ends it because its own end is missing.
  HtmlSlice take_title() {
    const std::size_t begin = tokenizer_->end();
    const HtmlElement own = element_of(tokenizer_->tag().name);
    while (advance()) {
      if (tokenizer_->kind() == HtmlToken::kComment && !is_comment_here()) tokenizer_->read_as_text();
      if (tokenizer_->kind() != HtmlToken::kTag) continue;
      const HtmlElement element = element_of(tokenizer_->tag().name);
      const bool ends = tokenizer_->tag().side == HtmlTag::Side::kEnd;
      if (ends && element == own) {
        title_end_ = tokenizer_->end();
        return slice(begin, tokenizer_->begin());
      }
      if (!ends_titles(element, ends)) continue;
      again_ = true;
      title_end_ = std::max(begin, without_trailing_space(text(), tokenizer_->begin()));
      return slice(begin, title_end_);
    }
    title_open_ = true;
    title_end_ = text().size();
    return slice(begin, title_end_);
  }

  bool ends_titles(HtmlElement element, bool is_end_tag) const {
    switch (element) {
      case HtmlElement::kList:
        return true;
      case HtmlElement::kOtherList:
      case HtmlElement::kListItem:
        return lists_.back().element == HtmlElement::kOtherList;
      case HtmlElement::kPage:
      case HtmlElement::kParagraph:
      case HtmlElement::kUnknown:
        return false;
      default:
        return !is_end_tag;
    }
  }

  // What comes now is not about the entry before it.
  void open_term() {
    pending_ = {};
    annotated_ = 0;
  }

  void begin_run(Run::Kind kind) { run_ = {kind, tokenizer_->begin(), tokenizer_->end(), 0}; }

  // A token that means nothing to us.
  void take_loose() {
    if (run_.kind == Run::Kind::kNone) {
      begin_run(is_in_note() ? Run::Kind::kNote : Run::Kind::kKept);
      while (is_html_space(text()[run_.begin])) ++run_.begin;
    }
    run_.end = tokenizer_->end();
  }

  // Whether a token that means nothing to us belongs to the entry before it.
  bool is_in_note() const {
    if (run_.kind != Run::Kind::kNone) return run_.kind == Run::Kind::kNote;
    return annotated_ != 0 && continues_line();
  }

  // Whether the token begins on the line on which the last entry ends.
  bool continues_line() const {
    const std::string_view between =
        text().substr(title_end_, tokenizer_->begin() - std::min(title_end_, tokenizer_->begin()));
    if (between.find('\n') != std::string_view::npos) return false;
    const std::string_view blanks = token().substr(0, token().find_first_not_of(" \t\r\n\f"));
    return blanks.find('\n') == std::string_view::npos;
  }

  void finish_run() {
    const Run run = run_;
    run_ = {};
    if (run.kind == Run::Kind::kNone) return;
    const std::size_t end = without_trailing_space(text(), run.end);
    if (run.kind == Run::Kind::kKept) {
      add_kept(HtmlOrigin::Role::kText, slice(run.begin, end));
      return;
    }
    HtmlSlice& note = origin(annotated_).note;
    if (note.empty()) note.begin = static_cast<std::uint32_t>(run.begin);
    note.end = static_cast<std::uint32_t>(end);
  }

  // What stands after the last list is the end of the page and not an entry's.
  void finish_text() {
    if (in_header_) document_->header_ = slice(0, text().size());
    if (lists_.size() == 1 && run_.kind == Run::Kind::kKept) {
      document_->footer_ = slice(run_.begin, without_trailing_space(text(), run_.end));
      return;
    }
    finish_run();
  }

  HtmlSlice attributes_of(const HtmlTag& tag) const {
    const auto begin = static_cast<std::size_t>(tag.attributes.data() - text().data());
    return slice(begin, begin + tag.attributes.size());
  }

  std::uint32_t last_origin() const { return static_cast<std::uint32_t>(document_->origins_.size() - 1); }

  std::uint32_t add_origin(HtmlOrigin::Role role) {
    document_->origins_.emplace_back().role = role;
    return last_origin();
  }

  Favorite& add(FavoriteKind kind, std::uint32_t number) {
    auto favorite = std::make_unique<Favorite>();
    favorite->kind = kind;
    favorite->origin = number;
    lists_.back().entries->push_back(std::move(favorite));
    const HtmlOrigin::Role role = origin(number).role;
    if (role != HtmlOrigin::Role::kSeparator && role != HtmlOrigin::Role::kText) {
      annotated_ = number;
      has_entries_ = true;
    }
    return *lists_.back().entries->back();
  }

  void add_kept(HtmlOrigin::Role role, HtmlSlice whole) {
    const std::uint32_t number = add_origin(role);
    origin(number).whole = whole;
    add(FavoriteKind::kKept, number);
  }

  Status check() const {
    if (text().empty()) return not_bookmarks("it is empty");
    if (!has_entries_ && !is_netscape_ && !(has_main_heading_ && has_closed_list_)) {
      return not_bookmarks("it has neither bookmarks nor the heading of a bookmark file");
    }
    if (!is_netscape_ && looks_like_page_ && !has_closed_list_) return not_bookmarks("it is a web page");
    if (tokenizer_->cut_off()) return cut_off("inside a tag");
    if (title_open_) return cut_off("inside a title");
    if (const std::size_t open = lists_.size() - 1 + passed_open_lists_; open > 0) {
      return cut_off("inside " + std::to_string(open) + (open == 1 ? " list" : " lists"));
    }
    if (page_opened_ && !page_closed_) return cut_off("before </HTML>");
    if (!has_entries_ && !has_closed_list_ && !page_closed_) return cut_off("before its first list");
    return {};
  }

  void place_roots() {
    if (document_->root_folders_[static_cast<std::size_t>(HtmlRoot::kOther)] != 0) is_firefox_ = true;
    document_->outer_root_ = is_firefox_ ? HtmlRoot::kMenu : HtmlRoot::kOther;
    const auto outer_root = static_cast<std::size_t>(document_->outer_root_);
    if (document_->root_folders_[outer_root] == 0) {
      root_entries_[outer_root] = std::move(outer_);
    } else {
      Entries items;
      for (auto& entry : outer_) {
        (entry->kind == FavoriteKind::kKept ? document_->outer_kept_ : items).push_back(std::move(entry));
      }
      std::ranges::move(root_entries_[outer_root], std::back_inserter(items));
      root_entries_[outer_root] = std::move(items);
    }
    for (std::size_t root = 0; root < kHtmlRoots; ++root) {
      document_->root_children_[root] = remember(root_entries_[root]);
      document_->tree_.roots.push_back({std::string(kHtmlRootNames[root]), std::move(root_entries_[root])});
    }
  }

  std::vector<std::uint32_t> remember(const Entries& entries) {
    std::vector<std::uint32_t> origins;
    origins.reserve(entries.size());
    for (const auto& entry : entries) {
      origins.push_back(entry->origin);
      if (entry->kind == FavoriteKind::kFolder) origin(entry->origin).children = remember(entry->children);
    }
    return origins;
  }

  struct Pending {
    enum class Kind : std::uint8_t { kNone, kFolder, kRoot, kUnsynced } kind = Kind::kNone;
    Entries* entries = nullptr;
  };

  std::unique_ptr<NetscapeHtmlDocument> document_;
  HtmlTokenizer* tokenizer_ = nullptr;
  bool again_ = false;  // the last token has not been used yet

  Entries outer_;
  std::array<Entries, kHtmlRoots> root_entries_;
  std::vector<OpenList> lists_;
  Pending pending_;              // the heading whose list may follow
  std::uint32_t annotated_ = 0;  // the entry that a description would belong to
  std::size_t title_end_ = 0;    // of the last entry, its end tag included
  Run run_;
  std::unordered_set<std::string> keys_;

  bool in_header_ = true;
  bool is_netscape_ = false;
  bool is_firefox_ = false;
  bool has_main_heading_ = false;
  bool looks_like_page_ = false;
  bool page_opened_ = false;
  bool page_closed_ = false;
  bool has_entries_ = false;
  bool has_closed_list_ = false;
  bool title_open_ = false;
  std::size_t passed_open_lists_ = 0;
};

Result<std::unique_ptr<NetscapeHtmlDocument>> read_netscape_html(ByteView content) {
  if (content.size() > kFavoritesBytesMax) {
    return Status(StatusCode::kLimitExceeded, "has " + std::to_string(content.size()) + " bytes, more than the " +
                                                  std::to_string(kFavoritesBytesMax) + " that are read");
  }
  HARMONICA_ASSIGN_OR_RETURN(DecodedHtml decoded, decode_html(content));
  NetscapeHtmlReader reader(content, std::move(decoded));
  return reader.read();
}

}  // namespace harmonica::providers
