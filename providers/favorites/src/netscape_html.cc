#include "netscape_html.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "harmonica/limits.h"
#include "html_kept.h"

namespace harmonica::providers {
namespace {

constexpr std::int64_t kMicrosecondsPerSecond = 1'000'000;
constexpr std::int64_t kSecondsMax = 100'000'000'000;                      // from here on a number is milliseconds
constexpr std::int64_t kUnixMicrosecondsMin = 100'000'000'000'000;         // ... microseconds
constexpr std::int64_t kChromiumMicrosecondsMin = 10'000'000'000'000'000;  // ... microseconds since 1601
constexpr std::int64_t kSecondsFrom1601To1970 = 11'644'473'600;

// Elements whose tags say nothing in a title. Any other tag there is text that somebody forgot to escape.
constexpr auto kSilentInTitles = std::to_array<std::string_view>(
    {"a",  "abbr", "b",    "bdi",   "bdo",  "big",    "blink",  "center", "cite", "code", "dd",  "del", "dfn",  "dt",
     "em", "font", "h1",   "h2",    "h3",   "h4",     "h5",     "h6",     "i",    "img",  "ins", "kbd", "mark", "nobr",
     "q",  "s",    "samp", "small", "span", "strike", "strong", "sub",    "sup",  "tt",   "u",   "var", "wbr"});
constexpr std::array<std::string_view, 3> kBlankInTitles = {"br", "hr", "p"};

bool is_one_of(std::string_view name, std::span<const std::string_view> names) {
  return std::ranges::any_of(names, [&](std::string_view one) { return equals_ignoring_case(name, one); });
}

bool can_be_key(std::string_view key) {
  constexpr std::size_t kKeyBytesMax = 128;
  if (key.empty() || key.size() > kKeyBytesMax || is_one_of(key, kHtmlRootNames)) return false;
  return std::ranges::all_of(key, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == ':' || c == '_' ||
           c == '.';
  });
}

class NetscapeHtmlCodec final : public FavoritesCodec {
 public:
  FavoritesFormat format() const override { return FavoritesFormat::kNetscapeHtml; }
  Keys keys() const override { return Keys::kByMatching; }

  StoreKey key_for(const ItemId& item) const override {
    const std::string digits = item.to_text();
    return digits.substr(0, 8) + "-" + digits.substr(8, 4) + "-" + digits.substr(12, 4) + "-" + digits.substr(16, 4) + "-" +
           digits.substr(20);
  }

  std::optional<ItemId> identity_of(const StoreKey& key) const override {
    std::string digits = key;
    std::erase(digits, '-');
    const std::optional<ItemId> item = ItemId::parse(digits);
    if (!item || !is_shaped_item_id(*item) || key_for(*item) != key) return std::nullopt;
    return item;
  }

  StoreItem as_held(StoreItem item) const override {
    std::vector<UnitValue> held;
    for (UnitValue& unit : item.values) {
      if (unit.unit == kTitleUnit || (unit.unit == kUrlUnit && item.type == kBookmarkType)) {
        const std::string* text = unit.value.if_text();
        if (text == nullptr) continue;
        held.push_back({unit.unit, Value::text(unit.unit == kTitleUnit ? normal_title(*text) : normal_address(*text))});
      } else if (unit.unit == kDateAddedUnit) {
        const std::int64_t* date = unit.value.if_integer();
        const std::optional<std::int64_t> seconds = date == nullptr ? std::nullopt : html_date_seconds(*date);
        if (seconds) held.push_back({unit.unit, Value::integer(*seconds * kMicrosecondsPerSecond)});
      }
    }
    item.values = std::move(held);
    return item;
  }

  Status can_hold(const StoreItem& item, std::size_t depth) const override {
    if (depth >= kFavoritesDepthMax) {
      return Status(StatusCode::kLimitExceeded,
                    "folders are synced " + std::to_string(kFavoritesDepthMax) + " levels deep");
    }
    for (const UnitValue& unit : item.values) {
      const std::string* text = unit.value.if_text();
      if (text == nullptr) continue;
      if (text->size() > limits::kValueBytesMax) {
        return Status(StatusCode::kLimitExceeded, "a text of " + std::to_string(text->size()) + " bytes is too long");
      }
      if (item.type == kBookmarkType && unit.unit == kUrlUnit && normal_address(*text).empty()) {
        return Status(StatusCode::kInvalidArgument, "a bookmark file cannot hold a bookmark without an address");
      }
    }
    return {};
  }

  Result<std::unique_ptr<FavoritesDocument>> read(ByteView content) const override {
    HARMONICA_ASSIGN_OR_RETURN(std::unique_ptr<NetscapeHtmlDocument> document, read_netscape_html(content));
    return std::unique_ptr<FavoritesDocument>(std::move(document));
  }
};

}  // namespace

const FavoritesCodec& netscape_html_codec() {
  static const NetscapeHtmlCodec codec;
  return codec;
}

std::optional<std::int64_t> html_date(std::string_view text) {
  text = without_blank_ends(text);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number <= 0) return std::nullopt;
  if (number >= kChromiumMicrosecondsMin) {
    const std::int64_t date = number - kSecondsFrom1601To1970 * kMicrosecondsPerSecond;
    return date > 0 ? std::optional(date) : std::nullopt;
  }
  if (number >= kUnixMicrosecondsMin) return number;
  if (number >= kSecondsMax) return number * 1000;
  return number * kMicrosecondsPerSecond;
}

std::optional<std::int64_t> html_date_seconds(std::int64_t date_us) {
  const std::int64_t seconds = date_us / kMicrosecondsPerSecond;
  if (seconds <= 0 || seconds >= kSecondsMax) return std::nullopt;
  return seconds;
}

std::string html_title(std::string_view raw) {
  std::string title;
  HtmlTokenizer tokenizer(raw);
  while (tokenizer.next()) {
    if (tokenizer.kind() == HtmlToken::kTag && is_one_of(tokenizer.tag().name, kSilentInTitles)) continue;
    if (tokenizer.kind() == HtmlToken::kTag && is_one_of(tokenizer.tag().name, kBlankInTitles)) {
      title += ' ';
      continue;
    }
    const bool is_comment = tokenizer.kind() == HtmlToken::kComment;
    if (is_comment && is_comment_in_text(raw, tokenizer)) continue;
    if (tokenizer.kind() != HtmlToken::kText) tokenizer.read_as_text();
    title += decode_text(raw.substr(tokenizer.begin(), tokenizer.end() - tokenizer.begin()));
  }
  return normal_title(title);
}

HtmlEntry NetscapeHtmlDocument::entry_of(const HtmlOrigin& origin) const {
  HtmlEntry entry;
  entry.title = html_title(view(origin.title));
  std::optional<std::string_view> address, added, changed, key, pocket_added;
  const auto first = [](std::optional<std::string_view>& place, std::string_view value) {
    if (!place) place = value;
  };
  for (HtmlAttributes attributes(tag_of(origin)); const std::optional<HtmlAttribute> attribute = attributes.next();) {
    if (equals_ignoring_case(attribute->name, "HREF")) first(address, attribute->value);
    if (equals_ignoring_case(attribute->name, "ADD_DATE")) first(added, attribute->value);
    if (equals_ignoring_case(attribute->name, "TIME_ADDED")) first(pocket_added, attribute->value);
    if (equals_ignoring_case(attribute->name, "LAST_MODIFIED")) first(changed, attribute->value);
    if (equals_ignoring_case(attribute->name, kHtmlKeyAttribute)) first(key, attribute->value);
  }
  if (address) entry.url = normal_address(decode_address(*address));
  entry.added_us = html_date(added.value_or(pocket_added.value_or("")));
  entry.changed_us = html_date(changed.value_or(""));
  if (key && can_be_key(*key)) entry.key = *key;
  return entry;
}

bool NetscapeHtmlDocument::as_read() const {
  for (std::size_t root = 0; root < kHtmlRoots; ++root) {
    if (!as_read(tree_.roots[root].children, root_children_[root])) return false;
  }
  return true;
}

bool NetscapeHtmlDocument::as_read(const std::vector<std::unique_ptr<Favorite>>& entries,
                                   const std::vector<std::uint32_t>& origins) const {
  if (!std::ranges::equal(entries, origins, {}, [](const auto& entry) { return entry->origin; })) return false;
  return std::ranges::all_of(entries, [&](const auto& entry) {
    if (entry->kind == FavoriteKind::kKept) return true;
    const HtmlOrigin& origin = origins_[entry->origin];
    const HtmlEntry read = entry_of(origin);
    return read.title == entry->title && (entry->kind == FavoriteKind::kFolder || read.url == entry->url) &&
           read.added_us == entry->added_us && read.changed_us == entry->changed_us &&
           as_read(entry->children, origin.children);
  });
}

}  // namespace harmonica::providers
