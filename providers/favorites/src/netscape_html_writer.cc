#include <algorithm>
#include <array>

#include "html_element.h"
#include "html_kept.h"
#include "netscape_html.h"

namespace harmonica::providers {
namespace {

constexpr std::string_view kDoctype = "<!DOCTYPE NETSCAPE-Bookmark-file-1>";
constexpr std::string_view kMeta = R"(<META HTTP-EQUIV="Content-Type" CONTENT="text/html; charset=UTF-8">)";
constexpr std::array<std::string_view, kHtmlRoots> kRootTitles = {"Bookmarks bar", "Bookmarks Menu", "Other Bookmarks",
                                                                  "Mobile Bookmarks"};

// Folders inside folders as they are written: those of every root, one root inside the other.
constexpr std::size_t kWrittenDepthMax = kHtmlRoots * (kFavoritesDepthMax + 1);

std::string upper_case(std::string_view name) {
  std::string result(name);
  std::ranges::transform(result, result.begin(),
                         [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
  return result;
}

// The first line end that stands outside of tags and comments, which are not always written as they were.
std::optional<std::string_view> first_line_end(std::string_view text) {
  HtmlTokenizer tokenizer(text);
  while (tokenizer.next()) {
    if (tokenizer.kind() != HtmlToken::kText) continue;
    const std::size_t end = text.substr(0, tokenizer.end()).find('\n', tokenizer.begin());
    if (end != std::string_view::npos) return end > 0 && text[end - 1] == '\r' ? "\r\n" : "\n";
  }
  return std::nullopt;
}

bool begins_description(std::string_view html) {
  HtmlTokenizer tokenizer(html);
  return tokenizer.next() && tokenizer.kind() == HtmlToken::kTag && tokenizer.tag().side == HtmlTag::Side::kStart &&
         element_of(tokenizer.tag().name) == HtmlElement::kDescription;
}

struct HeaderParts {
  explicit HeaderParts(std::string_view header) {
    HtmlTokenizer tokenizer(header);
    while (tokenizer.next()) {
      const std::string_view token = header.substr(tokenizer.begin(), tokenizer.end() - tokenizer.begin());
      if (tokenizer.kind() == HtmlToken::kComment && equals_ignoring_case(token.substr(0, 9), "<!DOCTYPE"))
        has_doctype = true;
      if (tokenizer.kind() != HtmlToken::kTag || tokenizer.tag().side == HtmlTag::Side::kEnd) continue;
      const std::string_view name = tokenizer.tag().name;
      const bool is_title = equals_ignoring_case(name, "title");
      const bool is_main_heading = equals_ignoring_case(name, "h1");
      has_title = has_title || is_title;
      has_main_heading = has_main_heading || is_main_heading;
      if ((is_title || is_main_heading) && !heading) heading = tokenizer.begin();
      if (meta || !equals_ignoring_case(name, "meta")) continue;
      charset = charset_in_meta(token);
      if (!charset.empty())
        meta = HtmlSlice{static_cast<std::uint32_t>(tokenizer.begin()), static_cast<std::uint32_t>(tokenizer.end())};
    }
  }

  bool has_doctype = false;
  bool has_title = false;
  bool has_main_heading = false;
  std::optional<std::size_t> heading;  // where the title or the main heading begins
  std::optional<HtmlSlice> meta;       // the element that names the character set
  std::string charset;
};

}  // namespace

class NetscapeHtmlWriter {
 public:
  explicit NetscapeHtmlWriter(const NetscapeHtmlDocument& document) : document_(document), header_(kept(document.header_)) {
    line_end_ = first_line_end(header_).value_or(first_line_end(document.text_).value_or("\n"));
  }

  Result<std::string> write() && {
    if (document_.mark_ == ByteOrderMark::kUtf8) out_ += "\xEF\xBB\xBF";
    write_header();
    line(0, "<DL><p>");
    const std::size_t outer = static_cast<std::size_t>(document_.outer_root_);
    const bool outer_is_apart = document_.root_folders_[outer] != 0;
    if (document_.outer_root_ == HtmlRoot::kOther) HARMONICA_RETURN_IF_ERROR(write_missing_root(HtmlRoot::kToolbar));
    HARMONICA_RETURN_IF_ERROR(
        write_entries(outer_is_apart ? document_.outer_kept_ : document_.tree().roots[outer].children, 1));
    for (std::size_t root = 0; root < kHtmlRoots; ++root) {
      if (root == outer && !outer_is_apart) continue;
      HARMONICA_RETURN_IF_ERROR(write_missing_root(static_cast<HtmlRoot>(root)));
      // One that stood in a folder which is gone, or has moved into this very root.
      HARMONICA_RETURN_IF_ERROR(write_root_folder(document_.root_folders_[root], 1));
    }
    line(0, "</DL><p>");
    if (!document_.footer_.empty()) line(0, kept(document_.footer_));
    if (out_.size() > kFavoritesBytesMax) return too_large();
    return std::move(out_);
  }

 private:
  using Entries = std::vector<std::unique_ptr<Favorite>>;

  void line(std::size_t depth, std::string_view text) {
    out_.append(depth * 4, ' ');
    out_ += text;
    out_ += line_end_;
  }

  // The original's, with what a reader needs to recognise the file and its character set. One that is so broken that the
  // reader would not find this is replaced.
  void write_header() {
    const std::size_t begin = out_.size();
    const std::string_view header = header_;
    const HeaderParts parts(header);
    if (!parts.has_doctype) line(0, kDoctype);
    if (!parts.meta) {
      const std::size_t before = parts.heading.value_or(header.size());
      write_header_part(header.substr(0, before));
      line(0, kMeta);
      write_header_part(header.substr(before));
    } else if (parts.charset == "utf-8") {
      write_header_part(header);
    } else {
      out_ += header.substr(0, parts.meta->begin);
      out_ += kMeta;
      write_header_part(header.substr(parts.meta->end));
    }
    if (!parts.has_title) line(0, "<TITLE>Bookmarks</TITLE>");
    if (!parts.has_main_heading) line(0, "<H1>Bookmarks</H1>");
    const HeaderParts written(std::string_view(out_).substr(begin));
    if (written.has_doctype && written.charset == "utf-8" && written.has_title && written.has_main_heading) return;
    out_.resize(begin);
    line(0, kDoctype);
    line(0, kMeta);
    line(0, "<TITLE>Bookmarks</TITLE>");
    line(0, document_.outer_root_ == HtmlRoot::kMenu ? "<H1>Bookmarks Menu</H1>" : "<H1>Bookmarks</H1>");
  }

  // Up to the last line break, which is added where it is missing.
  void write_header_part(std::string_view part) {
    const std::size_t end = part.find_last_not_of(" \t\r");
    part = part.substr(0, end == std::string_view::npos ? 0 : end + 1);
    out_ += part;
    if (!part.empty() && part.back() != '\n') out_ += line_end_;
  }

  Status write_entries(const Entries& entries, std::size_t depth) {
    if (depth > kWrittenDepthMax) return Status(StatusCode::kLimitExceeded, "has folders that are nested too deep");
    const HtmlOrigin* before = nullptr;
    for (const auto& entry : entries) {
      const HtmlOrigin& origin = document_.origins_[entry->origin];
      if (entry->kind == FavoriteKind::kBookmark) {
        write_bookmark(*entry, depth);
      } else if (entry->kind == FavoriteKind::kFolder) {
        HARMONICA_RETURN_IF_ERROR(write_folder(*entry, depth));
      } else if (origin.role != HtmlOrigin::Role::kRootFolder) {
        write_kept(origin, before, depth);
      } else if (root_is_written_[static_cast<std::size_t>(origin.root)]) {
        continue;
      } else {
        HARMONICA_RETURN_IF_ERROR(write_root_folder(entry->origin, depth));
      }
      before = entry->kind == FavoriteKind::kFolder ? nullptr : &origin;
      // Sizes are checked here as well so that a tree which is far too large does not first fill the memory.
      if (out_.size() > kFavoritesBytesMax) return too_large();
    }
    return {};
  }

  void write_bookmark(const Favorite& bookmark, std::size_t depth) {
    const HtmlOrigin& origin = document_.origins_[bookmark.origin];
    std::string text = "<DT><A HREF=\"" + escape_attribute(bookmark.url) + "\"";
    text += attributes_of(bookmark) + ">" + escape_text(bookmark.title) + "</A>";
    line(depth, text + note_of(origin, depth));
  }

  Status write_folder(const Favorite& folder, std::size_t depth) {
    const HtmlOrigin& origin = document_.origins_[folder.origin];
    line(depth, "<DT><H3" + attributes_of(folder) + ">" + escape_text(folder.title) + "</H3>" + note_of(origin, depth));
    return write_list(folder.children, depth);
  }

  Status write_list(const Entries& entries, std::size_t depth) {
    line(depth, "<DL><p>");
    HARMONICA_RETURN_IF_ERROR(write_entries(entries, depth + 1));
    line(depth, "</DL><p>");
    return {};
  }

  void write_kept(const HtmlOrigin& origin, const HtmlOrigin* before, std::size_t depth) {
    if (origin.role == HtmlOrigin::Role::kUnsynced) {
      line(depth, "<DT>" + kept(origin.whole, HtmlComments::kInEntryText) + note_of(origin, depth));
      if (!origin.list.empty()) line(depth, kept(origin.list));
      return;
    }
    const std::string text = kept(origin.whole);
    const bool is_apart = origin.role == HtmlOrigin::Role::kSeparator || !continues(before, text);
    line(depth, (is_apart ? "" : "<DT>") + text);
  }

  // Whether `text` would be taken for a part of what stands before it.
  static bool continues(const HtmlOrigin* before, std::string_view text) {
    if (before == nullptr) return false;
    switch (before->role) {
      case HtmlOrigin::Role::kText:
      case HtmlOrigin::Role::kUnsynced:
        return true;
      case HtmlOrigin::Role::kEntry:
        return !before->note.empty() || begins_description(text);
      default:
        return false;
    }
  }

  Status write_root_folder(std::uint32_t number, std::size_t depth) {
    if (number == 0) return {};
    const HtmlOrigin& origin = document_.origins_[number];
    const auto root = static_cast<std::size_t>(origin.root);
    if (root_is_written_[root]) return {};
    root_is_written_[root] = true;
    Favorite folder;
    const HtmlEntry entry = document_.entry_of(origin);
    folder.origin = number;
    folder.added_us = entry.added_us;
    folder.changed_us = entry.changed_us;
    line(depth, "<DT><H3" + attributes_of(folder) + ">" + escape_text(entry.title) + "</H3>" + note_of(origin, depth));
    return write_list(document_.tree().roots[root].children, depth);
  }

  // A folder for a root that the file has had no place for so far.
  Status write_missing_root(HtmlRoot root) {
    const auto index = static_cast<std::size_t>(root);
    const Entries& entries = document_.tree().roots[index].children;
    if (document_.root_folders_[index] != 0 || root_is_written_[index] || entries.empty()) return {};
    root_is_written_[index] = true;
    line(1,
         "<DT><H3 " + std::string(kHtmlRootAttributes[index]) + "=\"true\">" + std::string(kRootTitles[index]) + "</H3>");
    return write_list(entries, 1);
  }

  // All but the address: the dates first, where Chromium looks for them, then what the original had.
  std::string attributes_of(const Favorite& favorite) const {
    const HtmlOrigin& origin = document_.origins_[favorite.origin];
    std::optional<std::string> added, changed;
    std::optional<std::int64_t> pocket_added;
    std::string others;
    for (HtmlAttributes attributes(document_.tag_of(origin));
         const std::optional<HtmlAttribute> attribute = attributes.next();) {
      const std::string name = upper_case(attribute->name);
      if (!is_attribute_name(name)) continue;  // debris of a lost quote
      const auto keep_date = [&](std::optional<std::string>& text, std::optional<std::int64_t> date_us) {
        if (text) return;
        text = html_date(attribute->value) == date_us ? attribute_text(name, *attribute) : date_text(name, date_us);
      };
      if (name == "ADD_DATE") {
        keep_date(added, favorite.added_us);
      } else if (name == "LAST_MODIFIED") {
        keep_date(changed, favorite.changed_us);
      } else if (name == "HREF" || name == kHtmlKeyAttribute) {
        continue;
      } else if (const auto root = std::ranges::find(kHtmlRootAttributes, name); root != kHtmlRootAttributes.end()) {
        // Another folder with the attribute could become the root once entries have moved.
        const auto index = static_cast<std::size_t>(root - kHtmlRootAttributes.begin());
        if (origin.role == HtmlOrigin::Role::kRootFolder && static_cast<std::size_t>(origin.root) == index) {
          others += " " + name + "=\"true\"";  // Chromium sees it only with a value
        }
      } else {
        if (name == "TIME_ADDED" && !pocket_added) pocket_added = html_date(attribute->value);
        others += attribute_text(name, *attribute);
      }
    }
    if (!added && favorite.added_us != pocket_added) added = date_text("ADD_DATE", favorite.added_us);
    if (!changed) changed = date_text("LAST_MODIFIED", favorite.changed_us);
    if (!favorite.key.empty()) {
      others += " " + std::string(kHtmlKeyAttribute) + "=\"" + escape_attribute(favorite.key) + "\"";
    }
    return added.value_or("") + *changed + others;
  }

  static std::string attribute_text(const std::string& name, const HtmlAttribute& attribute) {
    if (attribute.form == HtmlAttribute::Form::kNameOnly) return " " + name;
    // As a date is read: a line break at its end would become a character of it.
    const std::string_view value = html_date(attribute.value) ? without_blank_ends(attribute.value) : attribute.value;
    return " " + name + "=\"" + requote_attribute(value) + "\"";
  }

  // Empty for no date, or one that cannot be held.
  static std::string date_text(std::string_view name, std::optional<std::int64_t> date_us) {
    const std::optional<std::int64_t> seconds = date_us ? html_date_seconds(*date_us) : std::nullopt;
    return seconds ? " " + std::string(name) + "=\"" + std::to_string(*seconds) + "\"" : std::string();
  }

  std::string note_of(const HtmlOrigin& origin, std::size_t depth) const {
    const std::string note = kept(origin.note, HtmlComments::kInEntryText);
    if (note.empty()) return {};
    if (!begins_description(note)) return " " + note;
    return std::string(line_end_) + std::string(depth * 4, ' ') + "<DD" + note.substr(3);
  }

  std::string kept(const HtmlSlice& slice, HtmlComments comments = HtmlComments::kAny) const {
    return self_contained_html(document_.view(slice), comments);
  }

  static Status too_large() {
    return Status(StatusCode::kLimitExceeded,
                  "would become larger than the " + std::to_string(kFavoritesBytesMax) + " bytes that are read");
  }

  const NetscapeHtmlDocument& document_;
  std::string header_;
  std::string_view line_end_;
  std::string out_;
  std::array<bool, kHtmlRoots> root_is_written_ = {};
};

Result<Bytes> NetscapeHtmlDocument::write() const {
  if (tree_.mended.empty() && as_read()) {
    const ByteView original = original_ ? ByteView(*original_) : as_bytes(text_);
    return Bytes(original.begin(), original.end());
  }
  HARMONICA_ASSIGN_OR_RETURN(const std::string text, NetscapeHtmlWriter(*this).write());
  const ByteView bytes = as_bytes(text);
  return Bytes(bytes.begin(), bytes.end());
}

}  // namespace harmonica::providers
