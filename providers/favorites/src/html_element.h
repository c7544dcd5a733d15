// The elements that bookmark HTML is made of.
#pragma once

#include <cstdint>
#include <string_view>

namespace harmonica::providers {

enum class HtmlElement : std::uint8_t {
  kAnchor,
  kHeading,
  kList,       // DL
  kOtherList,  // UL, OL, MENU, DIR
  kTerm,       // DT
  kListItem,   // LI
  kDescription,
  kRule,
  kParagraph,
  kPage,  // HTML, BODY
  kUnknown,
};

// By the name of a tag, in any case.
HtmlElement element_of(std::string_view name);

}  // namespace harmonica::providers
