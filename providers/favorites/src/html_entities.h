// The named character references that are read: those of Latin-1, Greek, and the punctuation that titles have.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

namespace harmonica::providers {

enum class Semicolon : std::uint8_t { kNeeded, kOptional };

struct NamedReference {
  std::string_view name;
  char32_t code;
  Semicolon semicolon;  // optional for the names that HTML has had from its first days
};

inline constexpr auto kNamedReferences = std::to_array<NamedReference>({
    {"AElig", 0xC6, Semicolon::kOptional},  {"Aacute", 0xC1, Semicolon::kOptional}, {"Acirc", 0xC2, Semicolon::kOptional},
    {"Agrave", 0xC0, Semicolon::kOptional}, {"Alpha", 0x391, Semicolon::kNeeded},   {"Aring", 0xC5, Semicolon::kOptional},
    {"Atilde", 0xC3, Semicolon::kOptional}, {"Auml", 0xC4, Semicolon::kOptional},   {"Beta", 0x392, Semicolon::kNeeded},
    {"Ccedil", 0xC7, Semicolon::kOptional}, {"Chi", 0x3A7, Semicolon::kNeeded},     {"Dagger", 0x2021, Semicolon::kNeeded},
    {"Delta", 0x394, Semicolon::kNeeded},   {"ETH", 0xD0, Semicolon::kOptional},    {"Eacute", 0xC9, Semicolon::kOptional},
    {"Ecirc", 0xCA, Semicolon::kOptional},  {"Egrave", 0xC8, Semicolon::kOptional}, {"Epsilon", 0x395, Semicolon::kNeeded},
    {"Eta", 0x397, Semicolon::kNeeded},     {"Euml", 0xCB, Semicolon::kOptional},   {"Gamma", 0x393, Semicolon::kNeeded},
    {"Iacute", 0xCD, Semicolon::kOptional}, {"Icirc", 0xCE, Semicolon::kOptional},  {"Igrave", 0xCC, Semicolon::kOptional},
    {"Iota", 0x399, Semicolon::kNeeded},    {"Iuml", 0xCF, Semicolon::kOptional},   {"Kappa", 0x39A, Semicolon::kNeeded},
    {"Lambda", 0x39B, Semicolon::kNeeded},  {"Mu", 0x39C, Semicolon::kNeeded},      {"NewLine", 0xA, Semicolon::kNeeded},
    {"Ntilde", 0xD1, Semicolon::kOptional}, {"Nu", 0x39D, Semicolon::kNeeded},      {"OElig", 0x152, Semicolon::kNeeded},
    {"Oacute", 0xD3, Semicolon::kOptional}, {"Ocirc", 0xD4, Semicolon::kOptional},  {"Ograve", 0xD2, Semicolon::kOptional},
    {"Omega", 0x3A9, Semicolon::kNeeded},   {"Omicron", 0x39F, Semicolon::kNeeded}, {"Oslash", 0xD8, Semicolon::kOptional},
    {"Otilde", 0xD5, Semicolon::kOptional}, {"Ouml", 0xD6, Semicolon::kOptional},   {"Phi", 0x3A6, Semicolon::kNeeded},
    {"Pi", 0x3A0, Semicolon::kNeeded},      {"Prime", 0x2033, Semicolon::kNeeded},  {"Psi", 0x3A8, Semicolon::kNeeded},
    {"Rho", 0x3A1, Semicolon::kNeeded},     {"Scaron", 0x160, Semicolon::kNeeded},  {"Sigma", 0x3A3, Semicolon::kNeeded},
    {"THORN", 0xDE, Semicolon::kOptional},  {"Tab", 0x9, Semicolon::kNeeded},       {"Tau", 0x3A4, Semicolon::kNeeded},
    {"Theta", 0x398, Semicolon::kNeeded},   {"Uacute", 0xDA, Semicolon::kOptional}, {"Ucirc", 0xDB, Semicolon::kOptional},
    {"Ugrave", 0xD9, Semicolon::kOptional}, {"Upsilon", 0x3A5, Semicolon::kNeeded}, {"Uuml", 0xDC, Semicolon::kOptional},
    {"Xi", 0x39E, Semicolon::kNeeded},      {"Yacute", 0xDD, Semicolon::kOptional}, {"Yuml", 0x178, Semicolon::kNeeded},
    {"Zeta", 0x396, Semicolon::kNeeded},    {"aacute", 0xE1, Semicolon::kOptional}, {"acirc", 0xE2, Semicolon::kOptional},
    {"acute", 0xB4, Semicolon::kOptional},  {"aelig", 0xE6, Semicolon::kOptional},  {"agrave", 0xE0, Semicolon::kOptional},
    {"alpha", 0x3B1, Semicolon::kNeeded},   {"amp", 0x26, Semicolon::kOptional},    {"apos", 0x27, Semicolon::kNeeded},
    {"aring", 0xE5, Semicolon::kOptional},  {"ast", 0x2A, Semicolon::kNeeded},      {"asymp", 0x2248, Semicolon::kNeeded},
    {"atilde", 0xE3, Semicolon::kOptional}, {"auml", 0xE4, Semicolon::kOptional},   {"bdquo", 0x201E, Semicolon::kNeeded},
    {"beta", 0x3B2, Semicolon::kNeeded},    {"brvbar", 0xA6, Semicolon::kOptional}, {"bsol", 0x5C, Semicolon::kNeeded},
    {"bull", 0x2022, Semicolon::kNeeded},   {"ccedil", 0xE7, Semicolon::kOptional}, {"cedil", 0xB8, Semicolon::kOptional},
    {"cent", 0xA2, Semicolon::kOptional},   {"check", 0x2713, Semicolon::kNeeded},  {"chi", 0x3C7, Semicolon::kNeeded},
    {"circ", 0x2C6, Semicolon::kNeeded},    {"clubs", 0x2663, Semicolon::kNeeded},  {"colon", 0x3A, Semicolon::kNeeded},
    {"comma", 0x2C, Semicolon::kNeeded},    {"commat", 0x40, Semicolon::kNeeded},   {"copy", 0xA9, Semicolon::kOptional},
    {"curren", 0xA4, Semicolon::kOptional}, {"dagger", 0x2020, Semicolon::kNeeded}, {"darr", 0x2193, Semicolon::kNeeded},
    {"deg", 0xB0, Semicolon::kOptional},    {"delta", 0x3B4, Semicolon::kNeeded},   {"diams", 0x2666, Semicolon::kNeeded},
    {"divide", 0xF7, Semicolon::kOptional}, {"dollar", 0x24, Semicolon::kNeeded},   {"eacute", 0xE9, Semicolon::kOptional},
    {"ecirc", 0xEA, Semicolon::kOptional},  {"egrave", 0xE8, Semicolon::kOptional}, {"emsp", 0x2003, Semicolon::kNeeded},
    {"ensp", 0x2002, Semicolon::kNeeded},   {"epsilon", 0x3B5, Semicolon::kNeeded}, {"equals", 0x3D, Semicolon::kNeeded},
    {"equiv", 0x2261, Semicolon::kNeeded},  {"eta", 0x3B7, Semicolon::kNeeded},     {"eth", 0xF0, Semicolon::kOptional},
    {"euml", 0xEB, Semicolon::kOptional},   {"euro", 0x20AC, Semicolon::kNeeded},   {"excl", 0x21, Semicolon::kNeeded},
    {"fnof", 0x192, Semicolon::kNeeded},    {"frac12", 0xBD, Semicolon::kOptional}, {"frac14", 0xBC, Semicolon::kOptional},
    {"frac34", 0xBE, Semicolon::kOptional}, {"gamma", 0x3B3, Semicolon::kNeeded},   {"ge", 0x2265, Semicolon::kNeeded},
    {"grave", 0x60, Semicolon::kNeeded},    {"gt", 0x3E, Semicolon::kOptional},     {"harr", 0x2194, Semicolon::kNeeded},
    {"hearts", 0x2665, Semicolon::kNeeded}, {"hellip", 0x2026, Semicolon::kNeeded}, {"hyphen", 0x2010, Semicolon::kNeeded},
    {"iacute", 0xED, Semicolon::kOptional}, {"icirc", 0xEE, Semicolon::kOptional},  {"iexcl", 0xA1, Semicolon::kOptional},
    {"igrave", 0xEC, Semicolon::kOptional}, {"infin", 0x221E, Semicolon::kNeeded},  {"iota", 0x3B9, Semicolon::kNeeded},
    {"iquest", 0xBF, Semicolon::kOptional}, {"iuml", 0xEF, Semicolon::kOptional},   {"kappa", 0x3BA, Semicolon::kNeeded},
    {"lambda", 0x3BB, Semicolon::kNeeded},  {"laquo", 0xAB, Semicolon::kOptional},  {"larr", 0x2190, Semicolon::kNeeded},
    {"lbrace", 0x7B, Semicolon::kNeeded},   {"lbrack", 0x5B, Semicolon::kNeeded},   {"lcub", 0x7B, Semicolon::kNeeded},
    {"ldquo", 0x201C, Semicolon::kNeeded},  {"le", 0x2264, Semicolon::kNeeded},     {"lowbar", 0x5F, Semicolon::kNeeded},
    {"loz", 0x25CA, Semicolon::kNeeded},    {"lpar", 0x28, Semicolon::kNeeded},     {"lrm", 0x200E, Semicolon::kNeeded},
    {"lsaquo", 0x2039, Semicolon::kNeeded}, {"lsqb", 0x5B, Semicolon::kNeeded},     {"lsquo", 0x2018, Semicolon::kNeeded},
    {"lt", 0x3C, Semicolon::kOptional},     {"macr", 0xAF, Semicolon::kOptional},   {"mdash", 0x2014, Semicolon::kNeeded},
    {"micro", 0xB5, Semicolon::kOptional},  {"middot", 0xB7, Semicolon::kOptional}, {"minus", 0x2212, Semicolon::kNeeded},
    {"mu", 0x3BC, Semicolon::kNeeded},      {"nbsp", 0xA0, Semicolon::kOptional},   {"ndash", 0x2013, Semicolon::kNeeded},
    {"ne", 0x2260, Semicolon::kNeeded},     {"not", 0xAC, Semicolon::kOptional},    {"ntilde", 0xF1, Semicolon::kOptional},
    {"nu", 0x3BD, Semicolon::kNeeded},      {"num", 0x23, Semicolon::kNeeded},      {"oacute", 0xF3, Semicolon::kOptional},
    {"ocirc", 0xF4, Semicolon::kOptional},  {"oelig", 0x153, Semicolon::kNeeded},   {"ograve", 0xF2, Semicolon::kOptional},
    {"oline", 0x203E, Semicolon::kNeeded},  {"omega", 0x3C9, Semicolon::kNeeded},   {"omicron", 0x3BF, Semicolon::kNeeded},
    {"ordf", 0xAA, Semicolon::kOptional},   {"ordm", 0xBA, Semicolon::kOptional},   {"oslash", 0xF8, Semicolon::kOptional},
    {"otilde", 0xF5, Semicolon::kOptional}, {"ouml", 0xF6, Semicolon::kOptional},   {"para", 0xB6, Semicolon::kOptional},
    {"part", 0x2202, Semicolon::kNeeded},   {"percnt", 0x25, Semicolon::kNeeded},   {"period", 0x2E, Semicolon::kNeeded},
    {"permil", 0x2030, Semicolon::kNeeded}, {"phi", 0x3C6, Semicolon::kNeeded},     {"phone", 0x260E, Semicolon::kNeeded},
    {"pi", 0x3C0, Semicolon::kNeeded},      {"plus", 0x2B, Semicolon::kNeeded},     {"plusmn", 0xB1, Semicolon::kOptional},
    {"pound", 0xA3, Semicolon::kOptional},  {"prime", 0x2032, Semicolon::kNeeded},  {"prod", 0x220F, Semicolon::kNeeded},
    {"psi", 0x3C8, Semicolon::kNeeded},     {"quest", 0x3F, Semicolon::kNeeded},    {"quot", 0x22, Semicolon::kOptional},
    {"radic", 0x221A, Semicolon::kNeeded},  {"raquo", 0xBB, Semicolon::kOptional},  {"rarr", 0x2192, Semicolon::kNeeded},
    {"rbrace", 0x7D, Semicolon::kNeeded},   {"rbrack", 0x5D, Semicolon::kNeeded},   {"rcub", 0x7D, Semicolon::kNeeded},
    {"rdquo", 0x201D, Semicolon::kNeeded},  {"reg", 0xAE, Semicolon::kOptional},    {"rho", 0x3C1, Semicolon::kNeeded},
    {"rlm", 0x200F, Semicolon::kNeeded},    {"rpar", 0x29, Semicolon::kNeeded},     {"rsaquo", 0x203A, Semicolon::kNeeded},
    {"rsqb", 0x5D, Semicolon::kNeeded},     {"rsquo", 0x2019, Semicolon::kNeeded},  {"sbquo", 0x201A, Semicolon::kNeeded},
    {"scaron", 0x161, Semicolon::kNeeded},  {"sect", 0xA7, Semicolon::kOptional},   {"semi", 0x3B, Semicolon::kNeeded},
    {"shy", 0xAD, Semicolon::kOptional},    {"sigma", 0x3C3, Semicolon::kNeeded},   {"sigmaf", 0x3C2, Semicolon::kNeeded},
    {"sol", 0x2F, Semicolon::kNeeded},      {"spades", 0x2660, Semicolon::kNeeded}, {"star", 0x2606, Semicolon::kNeeded},
    {"starf", 0x2605, Semicolon::kNeeded},  {"sum", 0x2211, Semicolon::kNeeded},    {"sup1", 0xB9, Semicolon::kOptional},
    {"sup2", 0xB2, Semicolon::kOptional},   {"sup3", 0xB3, Semicolon::kOptional},   {"szlig", 0xDF, Semicolon::kOptional},
    {"tau", 0x3C4, Semicolon::kNeeded},     {"theta", 0x3B8, Semicolon::kNeeded},   {"thinsp", 0x2009, Semicolon::kNeeded},
    {"thorn", 0xFE, Semicolon::kOptional},  {"tilde", 0x2DC, Semicolon::kNeeded},   {"times", 0xD7, Semicolon::kOptional},
    {"trade", 0x2122, Semicolon::kNeeded},  {"uacute", 0xFA, Semicolon::kOptional}, {"uarr", 0x2191, Semicolon::kNeeded},
    {"ucirc", 0xFB, Semicolon::kOptional},  {"ugrave", 0xF9, Semicolon::kOptional}, {"uml", 0xA8, Semicolon::kOptional},
    {"upsilon", 0x3C5, Semicolon::kNeeded}, {"uuml", 0xFC, Semicolon::kOptional},   {"verbar", 0x7C, Semicolon::kNeeded},
    {"vert", 0x7C, Semicolon::kNeeded},     {"xi", 0x3BE, Semicolon::kNeeded},      {"yacute", 0xFD, Semicolon::kOptional},
    {"yen", 0xA5, Semicolon::kOptional},    {"yuml", 0xFF, Semicolon::kOptional},   {"zeta", 0x3B6, Semicolon::kNeeded},
    {"zwj", 0x200D, Semicolon::kNeeded},    {"zwnj", 0x200C, Semicolon::kNeeded},
});

static_assert(std::ranges::is_sorted(kNamedReferences, {}, &NamedReference::name));

}  // namespace harmonica::providers
