#include "html_element.h"

namespace harmonica::providers {
namespace {

// The letters of a short name as one number, whatever their case.
constexpr std::uint32_t packed(std::string_view name) {
  std::uint32_t letters = 0;
  for (const char c : name) letters = letters << 8 | static_cast<std::uint8_t>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  return letters;
}

}  // namespace

HtmlElement element_of(std::string_view name) {
  if (name.size() > 4) return HtmlElement::kUnknown;
  switch (packed(name)) {
    case packed("a"):
      return HtmlElement::kAnchor;
    case packed("h1"):
    case packed("h2"):
    case packed("h3"):
    case packed("h4"):
    case packed("h5"):
    case packed("h6"):
      return HtmlElement::kHeading;
    case packed("dl"):
      return HtmlElement::kList;
    case packed("ul"):
    case packed("ol"):
    case packed("menu"):
    case packed("dir"):
      return HtmlElement::kOtherList;
    case packed("dt"):
      return HtmlElement::kTerm;
    case packed("li"):
      return HtmlElement::kListItem;
    case packed("dd"):
      return HtmlElement::kDescription;
    case packed("hr"):
      return HtmlElement::kRule;
    case packed("p"):
      return HtmlElement::kParagraph;
    case packed("html"):
    case packed("body"):
      return HtmlElement::kPage;
    default:
      return HtmlElement::kUnknown;
  }
}

}  // namespace harmonica::providers
