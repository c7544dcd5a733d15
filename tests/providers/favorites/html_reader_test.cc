#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

#include "favorites_document.h"
#include "favorites_text.h"
#include "html_text.h"
#include "netscape_html.h"

namespace harmonica::providers {
namespace {

using testing::HasSubstr;

constexpr std::string_view kHead =
    "<!DOCTYPE NETSCAPE-Bookmark-file-1>\n"
    "<META HTTP-EQUIV=\"Content-Type\" CONTENT=\"text/html; charset=UTF-8\">\n"
    "<TITLE>Bookmarks</TITLE>\n<H1>Bookmarks</H1>\n";

std::unique_ptr<FavoritesDocument> read(std::string_view content) {
  auto document = netscape_html_codec().read(as_bytes(content));
  if (!document.ok()) {
    ADD_FAILURE() << document.status().to_text();
    return nullptr;
  }
  return std::move(document).value();
}

std::string tree_of(std::string_view content) {
  const auto document = read(content);
  return document ? to_text(document->tree()) : std::string();
}

std::string in_list(std::string_view entries) {
  return std::string(kHead) + "<DL><p>\n" + std::string(entries) + "</DL><p>\n";
}

const Favorite& first_of(const FavoritesDocument& document) {
  for (const FavoritesTree::Root& root : document.tree().roots) {
    if (!root.children.empty()) return *root.children.front();
  }
  static const Favorite none;
  return none;
}

Status error_of(std::string_view content) {
  const auto document = netscape_html_codec().read(as_bytes(content));
  return document.ok() ? Status() : document.status();
}

TEST(HtmlReader, ListsAreFolders) {
  EXPECT_EQ(
      tree_of(in_list("<DT><H3>A</H3>\n<DL><p>\n<DT><A HREF=\"http://1/\">one</A>\n<DT><H3>B</H3>\n<DL><p>\n</DL><p>\n"
                      "<DT><A HREF=\"http://2/\">two</A>\n</DL><p>\n<DT><A HREF=\"http://3/\">three</A>\n")),
      "other\n"
      "  + A\n"
      "    one <http://1/>\n"
      "    + B\n"
      "    two <http://2/>\n"
      "  three <http://3/>\n");
}

TEST(HtmlReader, AHeadingWithoutAListIsAnEmptyFolder) {
  EXPECT_EQ(tree_of(in_list("<DT><H3>Empty</H3>\n<DT><A HREF=http://1/>one</A>\n<DT><H4>Also</H4>\n")),
            "other\n  + Empty\n  one <http://1/>\n  + Also\n");
}

TEST(HtmlReader, TagsMayBeWrittenInAnyWay) {
  EXPECT_EQ(
      tree_of("<!doctype netscape-bookmark-file-1>\n<dl>\n<dt><a folded add_date='5'\nhref = http://1/?a=1&b=2&copy=3 "
              "tags=\"two\nlines\" >one</a>\n<li><A\tHREF='http://2/?x=\"y\"'>two</A></li>\n</dl>"),
      "other\n  one <http://1/?a=1&b=2&copy=3>\n  two <http://2/?x=\"y\">\n");
}

TEST(HtmlReader, DoesWithoutDoctypeMetaHeadingTermsAndOuterList) {
  EXPECT_EQ(tree_of("<H3>Folder</H3><DL><A HREF=\"http://1/\">one</A></DL><A HREF=\"http://2/\">two</A>"),
            "other\n  + Folder\n    one <http://1/>\n  two <http://2/>\n");
  EXPECT_EQ(tree_of("<A HREF=\"http://1/\">one</A>\n<A HREF=\"http://2/\">two</A>\n"),
            "other\n  one <http://1/>\n  two <http://2/>\n");
}

TEST(HtmlReader, AMissingEndOfALinkEndsWithTheNextEntry) {
  EXPECT_EQ(
      tree_of(in_list(
          "<DT><A HREF=\"http://1/\">one\n<DT><A HREF=\"http://2/\">two\n<DD>about two\n<HR>\n<DT><H3>f\n<DL><p></DL>")),
      "other\n  one <http://1/>\n  two <http://2/>\n  ~\n  + f\n");
}

TEST(HtmlReader, AnUnescapedScriptInATitleSwallowsNothing) {
  EXPECT_EQ(tree_of(in_list(
                "<DT><A HREF=\"http://1/\">how <script> works</A>\n<DD>a <style> and a <!-- too\n"
                "<DT><A HREF=\"http://2/\">open <!-- comment</A>\n<DT><A HREF=\"http://3/\">three</A>\n<!-- end -->\n")),
            "other\n"
            "  how <script> works <http://1/>\n"
            "  open <!-- comment <http://2/>\n"
            "  three <http://3/>\n"
            "  ~\n");
}

TEST(HtmlReader, AQuoteThatIsNotClosedHarmsOneEntryOnly) {
  EXPECT_EQ(tree_of(in_list(
                "<DT><A HREF=\"http://1/>one</A>\n<DT><A HREF=\"http://2/\">two</A>\n<DT><A HREF='http://3/>three</A>\n"
                "<DT><A HREF=\"http://4/\">four</A>\n")),
            "other\n  one <http://1/>\n  two <http://2/>\n  three <http://3/>\n  four <http://4/>\n");
}

TEST(HtmlReader, FormattingInTitlesIsNotPartOfThem) {
  EXPECT_EQ(html_title("<b>Bold</b> and <font color=red>red<br>line</font> <x>"), "Bold and red line <x>");
}

TEST(HtmlReader, ReferencesAreResolvedWithAndWithoutSemicolon) {
  EXPECT_EQ(decode_text("&lt;&amp;&gt; &AMP; &#65;&#x42;&#67 &eacute;&eacute &hellip; &hellip &#150; &unknown; & AT&T &#;"),
            "<&> & AB\x43 \xC3\xA9\xC3\xA9 \xE2\x80\xA6 &hellip \xE2\x80\x93 &unknown; & AT&T &#;");
  EXPECT_EQ(decode_text("&#x110000;&#xD800;&#0;&#99999999999999999999;"),
            "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
}

TEST(HtmlReader, AnAddressThatNobodyEscapedStaysAsItIs) {
  EXPECT_EQ(decode_address("http://x/?a=1&copy=2&lt=3&reg&amp;b=4&amp"), "http://x/?a=1&copy=2&lt=3&reg&b=4&");
}

TEST(HtmlReader, ManyKindsOfAddressAreData) {
  EXPECT_EQ(tree_of(in_list("<DT><A HREF=\"javascript:alert('%20')\">j</A>\n<DT><A HREF=\"place:sort=8&amp;max=1\">p</A>\n"
                            "<DT><A HREF=\"chrome://settings\">c</A>\n<DT><A HREF=\"file:///a%20b\">f</A>\n<DT><A "
                            "HREF=\"HTTP://UP/\">u</A>\n")),
            "other\n  j <javascript:alert('%20')>\n  p <place:sort=8&max=1>\n  c <chrome://settings>\n  f "
            "<file:///a%20b>\n  u <HTTP://UP/>\n");
}

TEST(HtmlReader, AnEntryWithoutAddressIsNamedAndTheRestGoesOn) {
  const auto document = read(in_list(
      "<DT><A HREF=\" \">empty</A>\n<DT><A NAME=x HARMONICA_ID=\"k1\">missing</A>\n<DT><A HREF=\"http://1/\">one</A>\n"));
  EXPECT_EQ(to_text(document->tree()), "other\n  ~\n  ~\n  one <http://1/>\n");
  ASSERT_EQ(document->tree().skipped.size(), 2U);
  EXPECT_EQ(document->tree().skipped[0].what, "bookmark \"empty\" has no address: kept in the file, not synced");
  EXPECT_EQ(document->tree().skipped[1].key, "k1");
}

TEST(HtmlReader, DatesAreReadByTheirMagnitude) {
  EXPECT_EQ(html_date("1500000000"), 1'500'000'000'000'000);
  EXPECT_EQ(html_date("1500000000123"), 1'500'000'000'123'000);
  EXPECT_EQ(html_date("1500000000123456"), 1'500'000'000'123'456);
  EXPECT_EQ(html_date("13144473600000001"), 1'500'000'000'000'001);
  for (const char* unknown : {"", "0", "-5", "yesterday", "12x", "99999999999999999999"})
    EXPECT_EQ(html_date(unknown), std::nullopt) << unknown;
  const auto document =
      read(in_list("<DT><A HREF=\"http://1/\" ADD_DATE=\"1500000000\" LAST_MODIFIED=\"1600000000\">one</A>\n"));
  EXPECT_EQ(first_of(*document).added_us, 1'500'000'000'000'000);
  EXPECT_EQ(first_of(*document).changed_us, 1'600'000'000'000'000);
}

TEST(HtmlReader, RootsAreTheFoldersWithTheirAttributes) {
  EXPECT_EQ(
      tree_of(
          in_list("<DT><H3 PERSONAL_TOOLBAR_FOLDER=\"true\">Bar</H3>\n<DL><p>\n<DT><A HREF=\"http://t/\">t</A>\n</DL><p>\n"
                  "<DT><H3 MOBILE_BOOKMARKS_FOLDER=\"true\">M</H3>\n<DL><p>\n<DT><A HREF=\"http://m/\">m</A>\n</DL><p>\n"
                  "<DT><H3 BOOKMARKS_MENU=\"true\">Menu</H3>\n<DL><p>\n<DT><A HREF=\"http://n/\">n</A>\n</DL><p>\n"
                  "<DT><A HREF=\"http://o/\">o</A>\n")),
      "toolbar\n  t <http://t/>\nmenu\n  n <http://n/>\nother\n  ~\n  ~\n  ~\n  o <http://o/>\nmobile\n  m <http://m/>\n");
}

TEST(HtmlReader, OuterEntriesOfAFirefoxFileAreInTheMenu) {
  const std::string entries =
      "<DL><p>\n<DT><A HREF=\"http://o/\">o</A>\n<DT><H3 UNFILED_BOOKMARKS_FOLDER=\"true\">Other</H3>\n<DL><p>\n"
      "<DT><A HREF=\"http://u/\">u</A>\n</DL><p>\n</DL>\n";
  EXPECT_EQ(tree_of(std::string(kHead) + entries), "menu\n  o <http://o/>\n  ~\nother\n  u <http://u/>\n");
  EXPECT_EQ(tree_of("<H1>Bookmarks Menu</H1><DL><A HREF=\"http://o/\">o</A></DL>"), "menu\n  o <http://o/>\n");
  EXPECT_EQ(tree_of("<H1 PLACES_ROOT=\"true\">Lesezeichen</H1><DL><A HREF=\"http://o/\">o</A></DL>"),
            "menu\n  o <http://o/>\n");
}

TEST(HtmlReader, TheFirstToolbarWinsHoweverDeep) {
  EXPECT_EQ(tree_of(in_list("<DT><H3>A</H3>\n<DL><p>\n<DT><H3 PERSONAL_TOOLBAR_FOLDER=\"true\">Bar</H3>\n<DL><p>\n"
                            "<DT><A HREF=\"http://t/\">t</A>\n</DL><p>\n</DL><p>\n"
                            "<DT><H3 PERSONAL_TOOLBAR_FOLDER=\"true\">Bar 2</H3>\n<DL><p>\n</DL><p>\n")),
            "toolbar\n  t <http://t/>\nother\n  + A\n    ~\n  + Bar 2\n");
}

TEST(HtmlReader, TheByteOrderMarkBeatsMetaBeatsValidityBeatsWindows1252) {
  const std::string entry = "<DL><DT><A HREF=http://1/>\xC3\xA9</A></DL>";
  const std::string latin1_meta = "<META CONTENT='text/html; charset=ISO-8859-1'>";
  EXPECT_EQ(tree_of("\xEF\xBB\xBF" + latin1_meta + entry), "other\n  \xC3\xA9 <http://1/>\n");
  EXPECT_EQ(tree_of(latin1_meta + entry), "other\n  \xC3\x83\xC2\xA9 <http://1/>\n");
  EXPECT_EQ(tree_of(entry), "other\n  \xC3\xA9 <http://1/>\n");
  EXPECT_EQ(tree_of("<DL><DT><A HREF=http://1/>\xE9\x80</A></DL>"), "other\n  \xC3\xA9\xE2\x82\xAC <http://1/>\n");
  std::string utf16 = "\xFF\xFE";
  for (const char c : std::string("<DL><A HREF=http://1/>x</A></DL>")) utf16 += {c, '\0'};
  EXPECT_EQ(tree_of(utf16), "other\n  x <http://1/>\n");
  EXPECT_EQ(error_of("<META charset=koi8-r><DL><DT><A HREF=http://1/>\xE9</A></DL>").code(), StatusCode::kUnsupported);
}

TEST(HtmlReader, AFewDamagedBytesDoNotMakeAFileWindows1252) {
  const auto document = read("<DL><DT><A HREF=http://1/>\xC3\xA9 \xE6\x97\xA5</A>\n<DT><A HREF=http://2/>caf\xE9</A></DL>");
  const auto& entries = document->tree().roots[2].children;
  EXPECT_EQ(entries[0]->title, "\xC3\xA9 \xE6\x97\xA5");
  EXPECT_EQ(entries[1]->title, "caf\xC3\xA9");
  EXPECT_THAT(document->tree().mended, testing::ElementsAre(HasSubstr("not valid UTF-8 (1)")));
  // What is no more than a coincidence does not make a file UTF-8.
  EXPECT_EQ(tree_of("<DL><DT><A HREF=http://1/>\xE9\xE8\xE0 \xC3\xA9</A></DL>"),
            "other\n  \xC3\xA9\xC3\xA8\xC3\xA0 \xC3\x83\xC2\xA9 <http://1/>\n");
}

TEST(HtmlReader, DamagedUtf8IsMendedAndSaid) {
  const auto document = read(in_list("<DT><A HREF=\"http://1/\">a\xFFz</A>\n"));
  EXPECT_EQ(first_of(*document).title, "a\xEF\xBF\xBDz");
  EXPECT_EQ(document->tree().mended.size(), 1U);
}

TEST(HtmlReader, KeysOfTheFileAreReadOnce) {
  const auto document = read(in_list(
      "<DT><A HREF=\"http://1/\" HARMONICA_ID=\"n:12\">one</A>\n<DT><A HREF=\"http://2/\" HARMONICA_ID=\"n:12\">two</A>\n"
      "<DT><A HREF=\"http://3/\" HARMONICA_ID=\"toolbar\">three</A>\n<DT><A HREF=\"http://4/\" HARMONICA_ID=\"a "
      "b\">four</A>\n"));
  const auto& entries = document->tree().roots[2].children;
  EXPECT_EQ(entries[0]->key, "n:12");
  for (const std::size_t without : {1U, 2U, 3U}) EXPECT_EQ(entries[without]->key, "") << without;
  EXPECT_THAT(document->tree().mended, testing::ElementsAre(HasSubstr("\"two\"")));
}

TEST(HtmlReader, WhatIsNoBookmarkFileIsRefused) {
  for (const char* content : {"", "plain text", "{\"roots\": {}}", "\xEF\xBB\xBF", "<html><body><p>Hello</p></body></html>",
                              "<html><div><a href=\"/login\">Sign in</a></div></html>"}) {
    EXPECT_EQ(error_of(content).code(), StatusCode::kUnsupported) << content;
    EXPECT_THAT(error_of(content).message(), HasSubstr("is no bookmark file")) << content;
  }
}

TEST(HtmlReader, AFileWithoutEntriesIsAnEmptyStore) {
  EXPECT_EQ(error_of(in_list("")).code(), StatusCode::kOk);
  EXPECT_EQ(tree_of(in_list("")), "");
  EXPECT_EQ(tree_of("<!DOCTYPE NETSCAPE-Bookmark-file-1><HTML><H1>Bookmarks</H1></HTML>"), "");
}

TEST(HtmlReader, AFileThatIsCutOffIsRefusedWhereverItIsCut) {
  const std::string whole = in_list("<DT><H3>A</H3>\n<DL><p>\n<DT><A HREF=\"http://1/\">one</A>\n</DL><p>\n<!-- c -->\n");
  const std::size_t complete = whole.rfind("</DL>") + 5;
  for (std::size_t length = 1; length < complete; ++length) EXPECT_FALSE(error_of(whole.substr(0, length)).ok()) << length;
  EXPECT_TRUE(error_of(whole.substr(0, complete)).ok());
  EXPECT_EQ(error_of(whole.substr(0, complete - 10)).code(), StatusCode::kCorruption);
}

TEST(HtmlReader, FoldersBelow200LevelsStayInTheFile) {
  std::string entries, ends;
  for (int level = 0; level < 205; ++level) {
    entries += "<DT><H3>L" + std::to_string(level) + "</H3>\n<DL><p>\n";
    ends += "</DL><p>\n";
  }
  const auto document = read(in_list(entries + "<DT><A HREF=\"http://deep/\" HARMONICA_ID=\"k\">deep</A>\n" + ends));
  ASSERT_EQ(document->tree().skipped.size(), 2U);
  EXPECT_THAT(document->tree().skipped[0].what, HasSubstr("\"L200\" is nested too deep"));
  EXPECT_EQ(document->tree().skipped[1].key, "k");
  EXPECT_THAT(document->tree().skipped[1].what, HasSubstr("bookmark \"deep\" is nested too deep"));
  document->tree().roots[0].children.push_back(bookmark("new", "http://new/"));
  EXPECT_THAT(std::string(as_text(document->write().value())), HasSubstr("http://deep/"));
}

TEST(HtmlReader, ListsInsideListsHaveALimit) {
  std::string lists;
  for (int i = 0; i < 20'000; ++i) lists += "<DL>";
  EXPECT_EQ(error_of(lists).code(), StatusCode::kLimitExceeded);
}

TEST(HtmlReader, AFileOfMoreThan64MebibytesIsRefused) {
  EXPECT_EQ(error_of(std::string(kFavoritesBytesMax + 1, ' ')).code(), StatusCode::kLimitExceeded);
}

// Each of these takes minutes where a step is quadratic, and a fraction of a second where none is.
TEST(HtmlReader, HostileFilesTakeLinearTime) {
  const auto start = std::chrono::steady_clock::now();
  const auto repeated = [](std::string_view part, std::size_t bytes) {
    std::string text;
    while (text.size() < bytes) text += part;
    return text;
  };
  constexpr std::size_t kBytes = 500'000;
  for (const char* part :
       {"<A HREF=\"", "<A HREF='x", "<!--", "<!", "<A x=\"y>'", "<a <!--", "<DT><A HREF=x>a <!-- b</A>\n", "<DD>", "&",
        "&amp", "&#", "<", "</", "<DT>", "<p>", "<HR>", "<x y=\"\n", "<H3>", "</DL>"}) {
    static_cast<void>(error_of(in_list(repeated(part, kBytes))));
    static_cast<void>(error_of(in_list(repeated(part, kBytes) + "\n--> \" ' >")));
  }
  static_cast<void>(error_of(in_list("<A HREF=\"http://1/\" ICON=\"" + std::string(kBytes, 'A') + "\">x</A>")));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

}  // namespace
}  // namespace harmonica::providers
