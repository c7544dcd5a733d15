#include "html_text.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "harmonica/utf8.h"
#include "html_entities.h"
#include "html_tokenizer.h"

namespace harmonica::providers {
namespace {

constexpr char32_t kReplacementCode = 0xFFFD;

// Where browsers look for a META charset, with room for long comments before it.
constexpr std::size_t kMetaSearchBytes = 16 * 1024;

// Windows-1252 from 0x80 to 0x9F; the five free places stay control characters.
constexpr std::array<char16_t, 32> kWindows1252 = {0x20AC, 0x0081, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021,
                                                   0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0x008D, 0x017D, 0x008F,
                                                   0x0090, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014,
                                                   0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0x009D, 0x017E, 0x0178};

char lowered(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

std::string lowered_text(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(), lowered);
  return result;
}

bool is_digit_or_letter(char c) { return (c >= '0' && c <= '9') || is_ascii_letter(c); }

class Utf8Text {
 public:
  void append(char32_t code) {
    if (code < 0x80) {
      text_ += static_cast<char>(code);
    } else if (code < 0x800) {
      text_ += static_cast<char>(0xC0 | (code >> 6));
      text_ += continuation(code);
    } else if (code < 0x10000) {
      text_ += static_cast<char>(0xE0 | (code >> 12));
      text_ += continuation(code >> 6);
      text_ += continuation(code);
    } else {
      text_ += static_cast<char>(0xF0 | (code >> 18));
      text_ += continuation(code >> 12);
      text_ += continuation(code >> 6);
      text_ += continuation(code);
    }
  }
  void append(std::string_view text) { text_ += text; }
  std::string take() && { return std::move(text_); }

 private:
  static char continuation(char32_t code) { return static_cast<char>(0x80 | (code & 0x3F)); }

  std::string text_;
};

char32_t windows_1252_code(char c) {
  const auto byte = static_cast<std::uint8_t>(c);
  return byte >= 0x80 && byte < 0xA0 ? kWindows1252[byte - 0x80U] : static_cast<char32_t>(byte);
}

std::string decode_windows_1252(std::string_view bytes) {
  Utf8Text result;
  for (const char c : bytes) result.append(windows_1252_code(c));
  return std::move(result).take();
}

// UTF-8 with bytes in it that are none.
struct MixedText {
  std::string text;             // those bytes read as windows-1252
  std::size_t valid_bytes = 0;  // beyond ASCII
  std::size_t damaged_bytes = 0;
};

MixedText decode_mixed_text(std::string_view bytes) {
  MixedText result;
  Utf8Text text;
  while (true) {
    const std::string_view valid = bytes.substr(0, valid_utf8_length(bytes));
    text.append(valid);
    result.valid_bytes +=
        static_cast<std::size_t>(std::ranges::count_if(valid, [](char c) { return static_cast<std::uint8_t>(c) >= 0x80; }));
    bytes.remove_prefix(valid.size());
    if (bytes.empty()) break;
    text.append(windows_1252_code(bytes.front()));
    ++result.damaged_bytes;
    bytes.remove_prefix(1);
  }
  result.text = std::move(text).take();
  return result;
}

enum class ByteOrder : std::uint8_t { kLittle, kBig };

std::string decode_utf16(std::string_view bytes, ByteOrder order) {
  Utf8Text result;
  const auto unit = [&](std::size_t at) {
    const auto a = static_cast<std::uint8_t>(bytes[at]);
    const auto b = static_cast<std::uint8_t>(bytes[at + 1]);
    return static_cast<char32_t>(order == ByteOrder::kLittle ? a | (b << 8) : (a << 8) | b);
  };
  std::size_t at = 0;
  for (; at + 1 < bytes.size(); at += 2) {
    const char32_t first = unit(at);
    if (first < 0xD800 || first > 0xDFFF) {
      result.append(first);
      continue;
    }
    const bool paired = first < 0xDC00 && at + 3 < bytes.size() && unit(at + 2) >= 0xDC00 && unit(at + 2) <= 0xDFFF;
    result.append(paired ? 0x10000 + ((first - 0xD800) << 10) + (unit(at + 2) - 0xDC00) : kReplacementCode);
    if (paired) at += 2;
  }
  if (at < bytes.size()) result.append(kReplacementCode);
  return std::move(result).take();
}

struct Reference {
  char32_t code = 0;
  std::size_t length = 0;  // of the source, from the '&' on
};

std::optional<Reference> numeric_reference(std::string_view raw) {
  std::size_t at = 2;
  const bool hexadecimal = raw.size() > at && lowered(raw[at]) == 'x';
  if (hexadecimal) ++at;
  const std::size_t digits = at;
  char32_t code = 0;
  for (; at < raw.size(); ++at) {
    const char c = lowered(raw[at]);
    char32_t digit = 0;
    if (c >= '0' && c <= '9') {
      digit = static_cast<char32_t>(c - '0');
    } else if (hexadecimal && c >= 'a' && c <= 'f') {
      digit = static_cast<char32_t>(c - 'a' + 10);
    } else {
      break;
    }
    code = std::min<char32_t>(code * (hexadecimal ? 16 : 10) + digit, 0x110000);
  }
  if (at == digits) return std::nullopt;
  if (at < raw.size() && raw[at] == ';') ++at;
  if (code >= 0x80 && code < 0xA0) code = kWindows1252[code - 0x80];  // what every browser does
  if (code == 0 || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) code = kReplacementCode;
  return Reference{code, at};
}

enum class TextPlace : std::uint8_t { kText, kAddress };

std::optional<Reference> named_reference(std::string_view raw, TextPlace place) {
  std::size_t end = 1;
  while (end < raw.size() && end <= 10 && is_digit_or_letter(raw[end])) ++end;
  const std::string_view name = raw.substr(1, end - 1);
  const bool closed = end < raw.size() && raw[end] == ';';
  const auto found = std::ranges::lower_bound(kNamedReferences, name, {}, &NamedReference::name);
  const bool known = found != kNamedReferences.end() && found->name == name;
  if (!known) {
    // Some writers shout.
    const std::string low = lowered_text(name);
    if (low == "amp" || low == "lt" || low == "gt" || low == "quot") {
      if (low != name) {
        const auto again = std::ranges::lower_bound(kNamedReferences, std::string_view(low), {}, &NamedReference::name);
        if (closed) return Reference{again->code, end + 1};
      }
    }
    return std::nullopt;
  }
  if (closed) return Reference{found->code, end + 1};
  if (found->semicolon == Semicolon::kNeeded) return std::nullopt;
  if (place == TextPlace::kAddress) {
    const bool must_be_escaped = name == "amp" || name == "lt" || name == "gt" || name == "quot";
    if (!must_be_escaped || (end < raw.size() && raw[end] == '=')) return std::nullopt;
  }
  return Reference{found->code, end};
}

std::string decode_references(std::string_view raw, TextPlace place) {
  std::size_t ampersand = raw.find('&');
  if (ampersand == std::string_view::npos) return std::string(raw);
  Utf8Text result;
  std::size_t copied = 0;
  while (ampersand != std::string_view::npos) {
    const std::string_view rest = raw.substr(ampersand);
    const bool numeric = rest.size() > 1 && rest[1] == '#';
    const std::optional<Reference> reference = numeric ? numeric_reference(rest) : named_reference(rest, place);
    if (reference) {
      result.append(raw.substr(copied, ampersand - copied));
      result.append(reference->code);
      copied = ampersand + reference->length;
      ampersand = raw.find('&', copied);
    } else {
      ampersand = raw.find('&', ampersand + 1);
    }
  }
  result.append(raw.substr(copied));
  return std::move(result).take();
}

std::string escape_references(std::string_view text, std::string_view characters) {
  if (text.find_first_of(characters) == std::string_view::npos) return std::string(text);
  std::string result;
  result.reserve(text.size());
  for (const char c : text) {
    if (characters.find(c) == std::string_view::npos) {
      result += c;
      continue;
    }
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        result += "&#39;";
    }
  }
  return result;
}

bool is_control(char c) { return static_cast<std::uint8_t>(c) < 0x20 || c == 0x7F; }
bool is_white_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

std::string charset_of_meta(const HtmlTag& tag) {
  std::string charset;
  for (HtmlAttributes attributes(tag); auto attribute = attributes.next();) {
    if (equals_ignoring_case(attribute->name, "charset")) charset = lowered_text(attribute->value);
    if (!equals_ignoring_case(attribute->name, "content")) continue;
    const std::string content = lowered_text(attribute->value);
    const std::size_t found = content.find("charset=");
    if (found == std::string::npos) continue;
    const std::size_t end = content.find_first_of("; \t\r\n\"'", found + 8);
    charset = content.substr(found + 8, end == std::string::npos ? end : end - found - 8);
  }
  return charset;
}

}  // namespace

bool is_html_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f'; }

bool is_ascii_letter(char c) { return lowered(c) >= 'a' && lowered(c) <= 'z'; }

std::string_view without_blank_ends(std::string_view text) {
  while (!text.empty() && is_html_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_html_space(text.back())) text.remove_suffix(1);
  return text;
}

bool equals_ignoring_case(std::string_view a, std::string_view b) { return std::ranges::equal(a, b, {}, lowered, lowered); }

std::string charset_in_meta(std::string_view text) {
  HtmlTokenizer tokenizer(text.substr(0, kMetaSearchBytes));
  while (tokenizer.next()) {
    if (tokenizer.kind() != HtmlToken::kTag || !equals_ignoring_case(tokenizer.tag().name, "meta")) continue;
    std::string charset = charset_of_meta(tokenizer.tag());
    if (!charset.empty()) return charset;
  }
  return {};
}

Result<DecodedHtml> decode_html(ByteView content) {
  DecodedHtml result;
  std::string_view bytes = as_text(content);
  if (bytes.starts_with("\xFF\xFE") || bytes.starts_with("\xFE\xFF")) {
    result.mark = ByteOrderMark::kUtf16;
    result.charset = "utf-16";
    result.text = decode_utf16(bytes.substr(2), bytes[0] == '\xFF' ? ByteOrder::kLittle : ByteOrder::kBig);
    return result;
  }
  if (bytes.starts_with("\xEF\xBB\xBF")) {
    result.mark = ByteOrderMark::kUtf8;
    result.charset = "utf-8";
    bytes.remove_prefix(3);
  } else {
    result.charset = charset_in_meta(bytes);
  }
  const std::string& charset = result.charset;
  const bool is_valid = is_valid_utf8(bytes);
  if (charset.empty() && !is_valid) {
    MixedText mixed = decode_mixed_text(bytes);
    if (mixed.valid_bytes >= mixed.damaged_bytes) {
      result.charset = "utf-8";
      result.mended.push_back("bytes that are not valid UTF-8 (" + std::to_string(mixed.damaged_bytes) +
                              "), read as windows-1252");
      result.text = std::move(mixed.text);
      return result;
    }
    result.charset = "windows-1252";
  }
  if (charset == "windows-1252" || charset == "iso-8859-1" || charset == "latin1" || charset == "us-ascii") {
    result.charset = "windows-1252";
    result.text = decode_windows_1252(bytes);
    return result;
  }
  if (is_valid) {
    result.charset = "utf-8";
    result.text = std::string(bytes);
    return result;
  }
  if (charset != "utf-8" && charset != "utf8") {
    return Status(StatusCode::kUnsupported,
                  "is in the character set " + excerpt(charset) + ", which is not supported; save it as UTF-8");
  }
  result.mended.push_back("bytes that are not valid UTF-8, read as U+FFFD");
  result.text = repaired_utf8(bytes);
  return result;
}

std::string decode_text(std::string_view raw) { return decode_references(raw, TextPlace::kText); }

std::string decode_address(std::string_view raw) { return decode_references(raw, TextPlace::kAddress); }

std::string escape_text(std::string_view text) { return escape_references(text, "&<>\"'"); }

std::string escape_attribute(std::string_view text) { return escape_references(text, "&<>\""); }

std::string requote_attribute(std::string_view raw) {
  if (raw.find_first_of("\"<\r\n") == std::string_view::npos) return std::string(raw);
  std::string result;
  result.reserve(raw.size());
  for (std::size_t i = 0; i < raw.size(); ++i) {
    switch (raw[i]) {
      case '"':
        result += "&quot;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '\n':
        result += "&#10;";
        break;
      case '\r':
        if (i + 1 == raw.size() || raw[i + 1] != '\n') result += "&#10;";
        break;
      default:
        result += raw[i];
    }
  }
  return result;
}

std::string normal_title(std::string_view text) {
  std::string valid = repaired_utf8(text);
  if (std::ranges::none_of(valid, is_control)) return valid;
  std::string result;
  std::size_t blanks = 0;
  bool folds = false;
  for (const char c : valid) {
    if (is_white_space(c)) {
      blanks += c == ' ' ? 1U : 0U;
      folds = folds || c != ' ';
    } else if (!is_control(c)) {
      if (folds) blanks = result.empty() ? 0 : 1;
      result.append(blanks, ' ');
      result += c;
      blanks = 0;
      folds = false;
    }
  }
  if (!folds) result.append(blanks, ' ');
  return result;
}

std::string normal_address(std::string_view text) {
  std::string result = repaired_utf8(text);
  std::erase_if(result, is_control);
  result.erase(result.find_last_not_of(' ') + 1);
  result.erase(0, std::min(result.find_first_not_of(' '), result.size()));
  return result;
}

std::string excerpt(std::string_view text) {
  constexpr std::size_t kExcerptBytes = 60;
  std::size_t end = std::min(text.size(), kExcerptBytes);
  while (end > 0 && end < text.size() && (static_cast<std::uint8_t>(text[end]) & 0xC0) == 0x80) --end;
  const std::string result = normal_title(text.substr(0, end));
  return end < text.size() ? result + "..." : result;
}

}  // namespace harmonica::providers
