#include "favorites_address.h"

#include <algorithm>
#include <array>

namespace harmonica::providers {
namespace {

struct UsualPort {
  std::string_view scheme;
  std::string_view port;
};
constexpr std::array<UsualPort, 5> kUsualPorts = {
    {{"http", "80"}, {"https", "443"}, {"ws", "80"}, {"wss", "443"}, {"ftp", "21"}}};

bool is_in_schemes(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.';
}

std::string lower_case(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return result;
}

// "user@HOST:80" for the port 80 as "user@host".
std::string natural_authority(std::string_view authority, std::string_view usual_port) {
  const std::size_t at = authority.rfind('@');
  const std::size_t user_end = at == std::string_view::npos ? 0 : at + 1;
  std::string_view host = authority.substr(user_end);
  // The colons of an IPv6 address stand in brackets.
  const std::size_t bracket = host.find(']');
  const std::size_t colon = host.find(':', bracket == std::string_view::npos ? 0 : bracket);
  if (colon != std::string_view::npos) {
    const std::string_view port = host.substr(colon + 1);
    if (port.empty() || port == usual_port) host = host.substr(0, colon);
  }
  return std::string(authority.substr(0, user_end)) + lower_case(host);
}

}  // namespace

std::string natural_address(std::string_view address) {
  while (!address.empty() && static_cast<unsigned char>(address.front()) <= ' ') address.remove_prefix(1);
  while (!address.empty() && static_cast<unsigned char>(address.back()) <= ' ') address.remove_suffix(1);
  const std::size_t colon = address.find(':');
  if (colon == std::string_view::npos || !std::all_of(address.begin(), address.begin() + colon, is_in_schemes)) {
    return std::string(address);
  }
  std::string result = lower_case(address.substr(0, colon));
  const auto* usual = std::ranges::find(kUsualPorts, std::string_view(result), &UsualPort::scheme);
  std::string_view rest = address.substr(colon + 1);
  result += ':';
  if (usual == kUsualPorts.end() || !rest.starts_with("//")) return result.append(rest);
  rest.remove_prefix(2);
  const std::size_t end = std::min(rest.find_first_of("/?#"), rest.size());
  result += "//" + natural_authority(rest.substr(0, end), usual->port);
  rest.remove_prefix(end);
  if (!rest.starts_with('/')) result += '/';
  return result.append(rest);
}

}  // namespace harmonica::providers
