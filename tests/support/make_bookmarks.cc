#include "support/make_bookmarks.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace harmonica::testing {
namespace {

constexpr std::size_t kFolderEntries = 20;
constexpr std::size_t kLevelsMax = 4;
constexpr std::uint64_t kFirstDate = 13'300'000'000'000'000;
constexpr std::array<std::string_view, 12> kWords = {"river", "stone", "garden", "lamp",   "paper",   "winter",
                                                     "music", "train", "Bücher", "harbor", "<a & b>", "日本"};

class Maker {
 public:
  explicit Maker(std::uint64_t seed) : state_(seed) {}

  std::string make(std::size_t bookmarks) {
    text_ = "{\n   \"roots\": {\n";
    root("bookmark_bar", "0bc5d13f-2cba-5d74-951f-3f233fe6c908", bookmarks - bookmarks / 2);
    text_ += ",\n";
    root("other", "82b081ec-3dd3-529c-8475-ab6c344590dd", bookmarks / 2 - bookmarks / 4);
    text_ += ",\n";
    root("synced", "4cf2e351-0e85-532b-bb37-df045d8f8d0f", bookmarks / 4);
    text_ += "\n   },\n   \"version\": 1\n}\n";
    return std::move(text_);
  }

 private:
  // SplitMix64 (Steele, Lea, Flood, 2014).
  std::uint64_t random() {
    state_ += 0x9E3779B97F4A7C15U;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31);
  }

  std::string guid() {
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::string guid = "xxxxxxxx-xxxx-4xxx-axxx-xxxxxxxxxxxx";
    for (char& c : guid) {
      if (c == 'x') c = kDigits[random() % kDigits.size()];
    }
    return guid;
  }

  std::string title() {
    std::string title;
    const std::size_t words = 2 + random() % 4;
    for (std::size_t i = 0; i < words; ++i) {
      const std::string_view word = kWords[random() % kWords.size()];
      if (i != 0) title += ' ';
      for (const char c : word) title += c == '<' ? std::string("\\u003C") : std::string(1, c);
    }
    return title + " " + std::to_string(id_);
  }

  void line(std::size_t indent, std::string_view name, std::string_view value, std::string_view end = ",\n") {
    text_.append(3 * indent, ' ');
    text_ += "\"" + std::string(name) + "\": \"" + std::string(value) + "\"" + std::string(end);
  }

  std::string date() { return std::to_string(kFirstDate + id_ * 60'000'000); }

  void root(std::string_view name, std::string_view guid, std::size_t bookmarks) {
    text_ += "      \"" + std::string(name) + "\": {\n";
    folder(2, 0, std::string(guid), std::string(name), bookmarks);
  }

  // Behind "{\n", with members one level further in than `indent`.
  void folder(std::size_t indent, std::size_t level, const std::string& guid, const std::string& name,
              std::size_t bookmarks) {
    const std::uint64_t id = ++id_;
    const std::string added = date();
    text_.append(3 * (indent + 1), ' ');
    text_ += "\"children\": [ ";
    std::size_t left = bookmarks;
    bool first = true;
    while (left > 0) {
      if (!first) text_ += ", ";
      first = false;
      text_ += "{\n";
      const bool goes_down = level < kLevelsMax && left > kFolderEntries && random() % 4 == 0;
      if (goes_down) {
        const std::size_t below = std::min(left, 1 + random() % (kFolderEntries * (kLevelsMax - level)));
        folder(indent + 1, level + 1, this->guid(), title(), below);
        left -= below;
      } else {
        bookmark(indent + 1);
        --left;
      }
    }
    text_ += " ],\n";
    line(indent + 1, "date_added", added);
    line(indent + 1, "date_last_used", "0");
    line(indent + 1, "date_modified", date());
    line(indent + 1, "guid", guid);
    line(indent + 1, "id", std::to_string(id));
    line(indent + 1, "name", name);
    line(indent + 1, "type", "folder", "\n");
    text_.append(3 * indent, ' ');
    text_ += "}";
  }

  void bookmark(std::size_t indent) {
    ++id_;
    line(indent + 1, "date_added", date());
    line(indent + 1, "date_last_used", random() % 3 == 0 ? date() : "0");
    line(indent + 1, "guid", guid());
    line(indent + 1, "id", std::to_string(id_));
    text_.append(3 * (indent + 1), ' ');
    text_ += "\"meta_info\": {\n";
    line(indent + 2, "power_bookmark_meta", "", "\n");
    text_.append(3 * (indent + 1), ' ');
    text_ += "},\n";
    line(indent + 1, "name", title());
    line(indent + 1, "type", "url");
    line(indent + 1, "url",
         "https://site" + std::to_string(random() % 1000) + ".example/page/" + std::to_string(id_) + "?q=a&amp=b", "\n");
    text_.append(3 * indent, ' ');
    text_ += "}";
  }

  std::uint64_t state_;
  std::uint64_t id_ = 0;
  std::string text_;
};

}  // namespace

std::string make_bookmarks(std::size_t bookmarks, std::uint64_t seed) { return Maker(seed).make(bookmarks); }

}  // namespace harmonica::testing
