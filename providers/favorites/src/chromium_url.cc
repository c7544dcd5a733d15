#include "chromium_url.h"

#include <algorithm>
#include <array>
#include <string>

namespace harmonica::providers {
namespace {

constexpr std::size_t kUrlBytesMax = 2 * 1024 * 1024;  // url::kMaxURLChars
constexpr int kPortMax = 65535;
constexpr std::array<std::string_view, 8> kSchemesWithHost = {
    "http", "https", "ws", "wss", "ftp", "chrome", "chrome-extension", "chrome-untrusted"};
constexpr std::array<bool, 256> kAllowedInHosts = [] {
  std::array<bool, 256> allowed{};
  for (std::size_t i = 0x20; i < allowed.size(); ++i) allowed[i] = true;
  for (const char c : std::string_view(" #/:<>?@[\\]^|%\x7F")) allowed[static_cast<std::uint8_t>(c)] = false;
  return allowed;
}();

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

int hex_digit(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool is_allowed_in_hosts(char c) { return kAllowedInHosts[static_cast<unsigned char>(c)]; }

bool is_host(std::string_view host) {
  if (host.empty()) return false;
  if (host.front() == '[') {
    return host.size() > 3 && host.back() == ']' &&
           std::all_of(host.begin() + 1, host.end() - 1, [](char c) { return hex_digit(c) >= 0 || c == ':' || c == '.'; });
  }
  for (std::size_t i = 0; i < host.size(); ++i) {
    char c = host[i];
    if (c == '%') {
      if (i + 2 >= host.size()) return false;
      const int high = hex_digit(host[i + 1]);
      const int low = hex_digit(host[i + 2]);
      if (high < 0 || low < 0) return false;
      c = static_cast<char>(16 * high + low);
      i += 2;
    }
    if (!is_allowed_in_hosts(c)) return false;
  }
  return true;
}

bool is_port(std::string_view port) {
  int number = 0;
  for (const char c : port) {
    if (!is_digit(c)) return false;
    number = 10 * number + (c - '0');
    if (number > kPortMax) return false;
  }
  return true;
}

bool has_valid_host(std::string_view after_scheme) {
  const std::size_t start = after_scheme.find_first_not_of("/\\");
  if (start == std::string_view::npos) return false;
  std::string_view authority = after_scheme.substr(start);
  const auto ends_authority = [](char c) { return c == '/' || c == '\\' || c == '?' || c == '#'; };
  const auto end = std::find_if(authority.begin(), authority.end(), ends_authority);
  authority = authority.substr(0, static_cast<std::size_t>(end - authority.begin()));
  if (const std::size_t at = authority.rfind('@'); at != std::string_view::npos) authority.remove_prefix(at + 1);
  const std::size_t bracket = authority.starts_with('[') ? authority.find(']') : 0;
  if (bracket == std::string_view::npos) return false;
  const std::size_t colon = authority.find(':', bracket);
  if (colon == std::string_view::npos) return is_host(authority);
  return is_host(authority.substr(0, colon)) && is_port(authority.substr(colon + 1));
}

}  // namespace

bool chromium_loads_url(std::string_view url) {
  if (url.size() > kUrlBytesMax) return false;
  while (!url.empty() && static_cast<unsigned char>(url.front()) <= ' ') url.remove_prefix(1);
  while (!url.empty() && static_cast<unsigned char>(url.back()) <= ' ') url.remove_suffix(1);
  std::string cleaned;
  const auto is_dropped = [](char c) { return c == '\t' || c == '\r' || c == '\n'; };
  if (std::any_of(url.begin(), url.end(), is_dropped)) {
    std::remove_copy_if(url.begin(), url.end(), std::back_inserter(cleaned), is_dropped);
    url = cleaned;
  }
  const std::size_t colon = url.find(':');
  if (colon == std::string_view::npos || colon == 0 || !is_letter(url.front())) return false;
  std::string scheme;
  for (const char c : url.substr(0, colon)) {
    if (!is_letter(c) && !is_digit(c) && c != '+' && c != '-' && c != '.') return false;
    scheme += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  if (std::find(kSchemesWithHost.begin(), kSchemesWithHost.end(), scheme) == kSchemesWithHost.end()) return true;
  return has_valid_host(url.substr(colon + 1));
}

}  // namespace harmonica::providers
