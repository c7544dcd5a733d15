#include <algorithm>
#include <limits>

#include "chromium_document.h"
#include "chromium_url.h"
#include "harmonica/utf8.h"

namespace harmonica::providers {
namespace {

bool can_hold_date(std::int64_t unix_us) {
  return unix_us > -kChromiumEpochUs && unix_us <= std::numeric_limits<std::int64_t>::max() - kChromiumEpochUs;
}

std::string text_of(const Value& value) {
  const std::string* text = value.if_text();
  return text == nullptr ? std::string() : repaired_utf8(*text);
}

class ChromiumCodec final : public FavoritesCodec {
 public:
  FavoritesFormat format() const override { return FavoritesFormat::kChromium; }
  Keys keys() const override { return Keys::kInFile; }
  StoreKey key_for(const ItemId& item) const override { return chromium_guid(item.view()); }

  StoreItem as_held(StoreItem item) const override {
    const bool is_folder = item.type == kFolderType;
    std::erase_if(item.values, [&](const UnitValue& value) {
      if (value.unit == kTitleUnit) return false;
      if (value.unit == kUrlUnit) return is_folder;
      const std::int64_t* date = value.value.if_integer();
      return value.unit != kDateAddedUnit || date == nullptr || !can_hold_date(*date);
    });
    for (UnitValue& value : item.values) {
      if (value.unit == kDateAddedUnit) continue;
      const std::string* text = value.value.if_text();
      const bool is_title = value.unit == kTitleUnit;
      if (text != nullptr && is_valid_utf8(*text) && (!is_title || is_chromium_title(*text))) continue;
      value.value = Value::text(is_title ? chromium_title(text_of(value.value)) : text_of(value.value));
    }
    return item;
  }

  std::optional<ItemId> identity_of(const StoreKey& key) const override {
    // Nearly all guids of browsers are of version 4, and the version stands here.
    constexpr std::size_t kVersionAt = 14;
    if (key.size() <= kVersionAt || key[kVersionAt] != '8' || parse_chromium_guid(key).empty()) return std::nullopt;
    std::string digits = key;
    std::erase(digits, '-');
    const std::optional<ItemId> id = ItemId::parse(digits);
    return id && is_shaped_item_id(*id) ? id : std::nullopt;
  }

  Status can_hold(const StoreItem& item, std::size_t depth) const override {
    // The folder that stands for the menu may be one more.
    if (depth + 1 > kChromiumFoldersMax) {
      return Status(StatusCode::kLimitExceeded,
                    "Chromium cannot read more than " + std::to_string(kChromiumFoldersMax) + " folders inside each other");
    }
    if (item.type != kBookmarkType) return {};
    const auto url =
        std::find_if(item.values.begin(), item.values.end(), [](const UnitValue& value) { return value.unit == kUrlUnit; });
    if (url != item.values.end() && chromium_loads_url(text_of(url->value))) return {};
    return Status(StatusCode::kUnsupported, "its address is not valid to Chromium, which would leave the bookmark out");
  }

  Result<std::unique_ptr<FavoritesDocument>> read(ByteView content) const override {
    return read_chromium_bookmarks(as_text(content));
  }
};

}  // namespace

const FavoritesCodec& chromium_bookmarks_codec() {
  static const ChromiumCodec codec;
  return codec;
}

}  // namespace harmonica::providers
