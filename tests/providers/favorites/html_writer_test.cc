#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "favorites_document.h"
#include "favorites_text.h"

namespace harmonica::providers {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr std::string_view kChromiumFile =
    "<!DOCTYPE NETSCAPE-Bookmark-file-1>\n"
    "<META HTTP-EQUIV=\"Content-Type\" CONTENT=\"text/html; charset=UTF-8\">\n"
    "<TITLE>My links</TITLE>\n"
    "<H1>My links</H1>\n"
    "<DL><p>\n"
    "    <DT><H3 ADD_DATE=\"1500000000\" PERSONAL_TOOLBAR_FOLDER=\"true\">Bookmarks bar</H3>\n"
    "    <DL><p>\n"
    "        <DT><A HREF=\"http://1/\" ADD_DATE=\"1500000001\" ICON=\"data:image/png;base64,AAAA\">one</A>\n"
    "    </DL><p>\n"
    "    <DT><A HREF=\"http://2/\" ADD_DATE=\"1500000002\">two</A>\n"
    "</DL><p>\n";

std::unique_ptr<FavoritesDocument> read(std::string_view content) {
  auto document = netscape_html_codec().read(as_bytes(content));
  if (!document.ok()) {
    ADD_FAILURE() << document.status().to_text() << "\n" << content;
    return nullptr;
  }
  return std::move(document).value();
}

std::string written(const FavoritesDocument& document) {
  const auto bytes = document.write();
  if (!bytes.ok()) {
    ADD_FAILURE() << bytes.status().to_text();
    return {};
  }
  return std::string(as_text(*bytes));
}

std::string text_of(const FavoritesDocument& document) { return to_text(document.tree()); }

// The lines of `text`, trimmed, between the outer list's tags.
std::string body_of(const std::string& text) {
  const std::size_t begin = text.find("<DL><p>");
  return begin == std::string::npos ? text : text.substr(begin);
}

TEST(HtmlWriter, AFileThatWasNotEditedKeepsItsBytes) {
  for (const std::string& content :
       {std::string(kChromiumFile), std::string("\xEF\xBB\xBF<dl><A HREF=x>\xE4\xBD\xA0</A></dl>"),
        std::string("<dl><A HREF=x>\xE9</A></dl>")}) {
    EXPECT_EQ(written(*read(content)), content);
  }
}

TEST(HtmlWriter, WritesAsChromiumDoesAndAddsTheKeys) {
  const auto document = read(kChromiumFile);
  document->tree().roots[0].children[0]->key = "k1";
  document->tree().roots[2].children[1]->key = "k2";
  auto added = folder("New & shiny", bookmark("<3>", "http://3/?a=\"b\"&c", "k3"));
  added->key = "k4";
  added->added_us = 1'600'000'000'999'999;
  document->tree().roots[2].children.push_back(std::move(added));
  EXPECT_EQ(written(*document),
            "<!DOCTYPE NETSCAPE-Bookmark-file-1>\n"
            "<META HTTP-EQUIV=\"Content-Type\" CONTENT=\"text/html; charset=UTF-8\">\n"
            "<TITLE>My links</TITLE>\n"
            "<H1>My links</H1>\n"
            "<DL><p>\n"
            "    <DT><H3 ADD_DATE=\"1500000000\" PERSONAL_TOOLBAR_FOLDER=\"true\">Bookmarks bar</H3>\n"
            "    <DL><p>\n"
            "        <DT><A HREF=\"http://1/\" ADD_DATE=\"1500000001\" ICON=\"data:image/png;base64,AAAA\" "
            "HARMONICA_ID=\"k1\">one</A>\n"
            "    </DL><p>\n"
            "    <DT><A HREF=\"http://2/\" ADD_DATE=\"1500000002\" HARMONICA_ID=\"k2\">two</A>\n"
            "    <DT><H3 ADD_DATE=\"1600000000\" HARMONICA_ID=\"k4\">New &amp; shiny</H3>\n"
            "    <DL><p>\n"
            "        <DT><A HREF=\"http://3/?a=&quot;b&quot;&amp;c\" HARMONICA_ID=\"k3\">&lt;3&gt;</A>\n"
            "    </DL><p>\n"
            "</DL><p>\n");
}

TEST(HtmlWriter, KeepsWhatIsNotModelled) {
  const auto document = read(
      "<!DOCTYPE NETSCAPE-Bookmark-file-1>\r\n<!-- a notice -->\r\n<TITLE>T</TITLE>\r\n<H1>H</H1>\r\n<DL><p>\r\n"
      "<dt><a href=http://1/?a&b tags=\"x,y\" Folded add_date=1500000000123 last_charset='UTF-8' note='say "
      "\"hi\"\r\nthere'>one</a>\r\n"
      "<dd>about <b>one</b>\r\n\r\nin lines\r\n<HR>    <DT><H3 FOLDED>f</H3>\r\n<DD>about f\r\n<DL><p>\r\n<!-- inside "
      "-->\r\n</DL><p>\r\n"
      "<DT><A NAME=\"anchor\">no address</A>\r\n</DL>\r\n<!-- the end -->\r\n");
  document->tree().roots[2].children.push_back(bookmark("new", "http://new/"));
  EXPECT_EQ(written(*document),
            "<!DOCTYPE NETSCAPE-Bookmark-file-1>\r\n<!-- a notice -->\r\n"
            "<META HTTP-EQUIV=\"Content-Type\" CONTENT=\"text/html; "
            "charset=UTF-8\">\r\n<TITLE>T</TITLE>\r\n<H1>H</H1>\r\n<DL><p>\r\n"
            "    <DT><A HREF=\"http://1/?a&amp;b\" ADD_DATE=\"1500000000123\" TAGS=\"x,y\" FOLDED LAST_CHARSET=\"UTF-8\" "
            "NOTE=\"say "
            "&quot;hi&quot;&#10;there\">one</A>\r\n"
            "    <DD>about <b>one</b>\r\n\r\nin lines\r\n"
            "    <HR>\r\n"
            "    <DT><H3 FOLDED>f</H3>\r\n    <DD>about f\r\n    <DL><p>\r\n        <!-- inside -->\r\n    </DL><p>\r\n"
            "    <DT><A NAME=\"anchor\">no address</A>\r\n"
            "    <DT><A HREF=\"http://new/\">new</A>\r\n"
            "</DL><p>\r\n<!-- the end -->\r\n");
}

TEST(HtmlWriter, DescriptionsGoWithTheirEntriesAndSeparatorsStay) {
  const auto document = read(
      "<DL><p>\n<DT><A HREF=\"http://1/\">one</A>\n<DD>about one\n<HR>\n<DT><H3>f</H3>\n<DL><p>\n</DL><p>\n</DL><p>\n");
  auto& entries = document->tree().roots[2].children;
  entries[2]->children.push_back(std::move(entries[0]));
  entries.erase(entries.begin());
  EXPECT_EQ(body_of(written(*document)),
            "<DL><p>\n    <HR>\n    <DT><H3>f</H3>\n    <DL><p>\n        <DT><A HREF=\"http://1/\">one</A>\n        "
            "<DD>about one\n"
            "    </DL><p>\n</DL><p>\n");
}

TEST(HtmlWriter, EditsReplaceOnlyWhatTheyChange) {
  const auto document = read(kChromiumFile);
  Favorite& one = *document->tree().roots[0].children[0];
  one.title = "One";
  one.added_us = std::nullopt;
  one.changed_us = 1'700'000'000'000'000;
  EXPECT_THAT(written(*document),
              HasSubstr("<A HREF=\"http://1/\" LAST_MODIFIED=\"1700000000\" ICON=\"data:image/png;base64,AAAA\">One</A>"));
}

TEST(HtmlWriter, RootsSurviveWriting) {
  const std::vector<std::string> files = {
      std::string(kChromiumFile),
      "<A HREF=http://1/>x</A>",
      "<H1>Bookmarks Menu</H1><DL><A HREF=http://1/>x</A></DL>",
      "<H1>B</H1><DL><H3 UNFILED_BOOKMARKS_FOLDER=\"true\">u</H3><DL></DL><A HREF=http://1/>x</A></DL>",
      "<H1 PLACES_ROOT>B</H1><DL><H3 BOOKMARKS_MENU>m</H3><DL><A HREF=http://2/>y</A></DL><HR><A HREF=http://1/>x</A></DL>",
      "<DL><H3>f</H3><DL><H3 PERSONAL_TOOLBAR_FOLDER>t</H3><DL></DL></DL><H3 "
      "PERSONAL_TOOLBAR_FOLDER>t2</H3><DL></DL></DL>"};
  for (const std::string& file : files) {
    const auto document = read(file);
    for (FavoritesTree::Root& root : document->tree().roots)
      root.children.push_back(bookmark("in " + root.name, "http://" + root.name + "/"));
    const std::string once = written(*document);
    const auto again = read(once);
    for (const FavoritesTree::Root& root : again->tree().roots) {
      ASSERT_FALSE(root.children.empty()) << once;
      const auto is_ours = [&](const auto& entry) { return entry->title == "in " + root.name; };
      EXPECT_TRUE(std::ranges::any_of(root.children, is_ours)) << root.name << "\n" << once;
    }
    again->tree().mended.push_back("written anew");
    EXPECT_EQ(written(*again), once);
  }
}

TEST(HtmlWriter, TheToolbarIsNotLostWithTheFolderAroundIt) {
  const auto document =
      read("<DL><H3>f</H3><DL><H3 PERSONAL_TOOLBAR_FOLDER>t</H3><DL><A HREF=http://1/>x</A></DL></DL></DL>");
  document->tree().roots[2].children.clear();
  EXPECT_EQ(text_of(*read(written(*document))), "toolbar\n  x <http://1/>\nother\n  ~\n");
}

TEST(HtmlWriter, AFolderThatMovesIntoTheToolbarInsideItLosesNothing) {
  const auto document =
      read("<DL><H3>f</H3><DL><H3 PERSONAL_TOOLBAR_FOLDER>t</H3><DL><A HREF=http://1/>x</A></DL></DL></DL>");
  auto& other = document->tree().roots[2].children;
  document->tree().roots[0].children.push_back(std::move(other[0]));
  other.clear();
  EXPECT_EQ(text_of(*read(written(*document))), "toolbar\n  x <http://1/>\n  + f\nother\n  ~\n");
}

TEST(HtmlWriter, ADuplicateToolbarDoesNotBecomeTheToolbar) {
  const auto document = read(
      "<DL><H3 PERSONAL_TOOLBAR_FOLDER>t</H3><DL><A HREF=http://1/>x</A></DL><H3 "
      "PERSONAL_TOOLBAR_FOLDER>t2</H3><DL></DL></DL>");
  auto& other = document->tree().roots[2].children;
  std::swap(other[0], other[1]);
  EXPECT_EQ(text_of(*read(written(*document))), "toolbar\n  x <http://1/>\nother\n  + t2\n  ~\n");
}

TEST(HtmlWriter, ABareListGetsAHeaderThatBrowsersKnow) {
  const auto document = read("<DL><A HREF=http://1/>x</A></DL>");
  document->tree().roots[2].children.clear();
  EXPECT_EQ(written(*document),
            "<!DOCTYPE NETSCAPE-Bookmark-file-1>\n<META HTTP-EQUIV=\"Content-Type\" CONTENT=\"text/html; charset=UTF-8\">\n"
            "<TITLE>Bookmarks</TITLE>\n<H1>Bookmarks</H1>\n<DL><p>\n</DL><p>\n");
  EXPECT_EQ(text_of(*read(written(*document))), "");
}

TEST(HtmlWriter, AnotherCharacterSetBecomesUtf8) {
  const auto document = read(
      "<META CONTENT='text/html; charset=windows-1252'>\n<TITLE>\xE9</TITLE>\n<H1>\xE9</H1>\n<DL><A "
      "HREF=http://1/>\xE9</A></DL>");
  document->tree().roots[2].children[0]->key = "k";
  document->tree().roots[2].children[0]->title += "!";
  const std::string text = written(*document);
  EXPECT_THAT(text, HasSubstr("charset=UTF-8\">\n<TITLE>\xC3\xA9</TITLE>"));
  EXPECT_THAT(text, Not(HasSubstr("1252")));
  EXPECT_EQ(text_of(*read(text)), "other\n  \xC3\xA9! <http://1/>\n");
}

TEST(HtmlWriter, LooseTextDoesNotBecomeADescription) {
  const auto document =
      read("<DL><A HREF=http://1/>x</A>\n<DD>about x\n<DT><A HREF=http://2/>y</A>\n<!-- loose -->\n<HR>\n</DL>");
  auto& other = document->tree().roots[2].children;
  other.erase(other.begin() + 1);
  const auto again = read(written(*document));
  EXPECT_EQ(text_of(*again), "other\n  x <http://1/>\n  ~\n  ~\n");
  EXPECT_THAT(written(*document), HasSubstr("<DD>about x\n    <DT><!-- loose -->\n"));
}

TEST(HtmlWriter, NothingGrowsFromOneWriteToTheNext) {
  for (const char* content : {"<H1 X=\"not closed>B<!--3>\r\n<DL><A HREF=http://1/>x</A></DL>",
                              "<DL><A NAME=x>no address</A>\n</unknown>\n<DD>about it\n<!-- c --><HR></DL>",
                              "<DL><A HREF=http://1/>x</A>\n<!-- c -->\n<DD>about x</DL>\n<!-- end -->"}) {
    const auto document = read(content);
    document->tree().mended.push_back("written anew");
    const std::string once = written(*document);
    const auto again = read(once);
    again->tree().mended.push_back("written anew");
    EXPECT_EQ(written(*again), once);
  }
}

// Reads as Chromium's importer does: line by line, tags in upper case, attributes found by name and double quote.
class LineReader {
 public:
  explicit LineReader(std::string_view content) {
    while (!content.empty()) {
      const std::size_t end = std::min(content.find('\n'), content.size());
      take_line(content.substr(0, end));
      content.remove_prefix(std::min(end + 1, content.size()));
    }
  }

  const std::vector<std::string>& lines() const { return lines_; }

 private:
  void take_line(std::string_view line) {
    while (line.starts_with(' ')) line.remove_prefix(1);
    while (line.ends_with('\r') || line.ends_with(' ')) line.remove_suffix(1);
    while (line.starts_with("<HR>")) line.remove_prefix(4);
    if (line.starts_with("<DT>")) line.remove_prefix(4);
    if (line.starts_with("<H3"))
      lines_.push_back("+ " + inner(line, "</H3>") + attribute(line, "ADD_DATE") +
                       attribute(line, "PERSONAL_TOOLBAR_FOLDER"));
    if (line.starts_with("<A "))
      lines_.push_back(inner(line, "</A>") + attribute(line, "HREF") + attribute(line, "ADD_DATE"));
    if (line.starts_with("</DL>")) lines_.push_back("end");
  }

  static std::string inner(std::string_view line, std::string_view end_tag) {
    const std::size_t end = line.find(end_tag);
    if (end == std::string_view::npos) return "?";
    const std::size_t begin = line.rfind('>', end) + 1;
    return unescaped(line.substr(begin, end - begin));
  }

  static std::string attribute(std::string_view line, std::string_view name) {
    const std::string start = std::string(name) + "=\"";
    const std::size_t begin = line.find(start);
    if (begin == std::string_view::npos) return "";
    const std::string_view value = line.substr(begin + start.size());
    return " [" + unescaped(value.substr(0, value.find('"'))) + "]";
  }

  static std::string unescaped(std::string_view text) {
    static const std::vector<std::pair<std::string_view, char>> kKnown = {
        {"&lt;", '<'}, {"&gt;", '>'}, {"&amp;", '&'}, {"&quot;", '"'}, {"&#39;", '\''}};
    std::string result;
    while (!text.empty()) {
      const auto found = std::ranges::find_if(kKnown, [&](const auto& known) { return text.starts_with(known.first); });
      result += found == kKnown.end() ? text.front() : found->second;
      text.remove_prefix(found == kKnown.end() ? 1 : found->first.size());
    }
    return result;
  }

  std::vector<std::string> lines_;
};

TEST(HtmlWriter, ChromiumsLineReaderReadsWhatWeWrite) {
  const auto document = read(
      "<H1>Lesezeichen</H1><dl><h2 personal_toolbar_folder>Bar <3</h2><dl><a note='</A> HREF=\"no\"\nnext' "
      "href=http://1/?a&b add_date=1500000000>x > \"y\""
      "</a><dd>about\n<HR><h3>empty</h3></dl></dl>");
  document->tree().roots[2].children.push_back(bookmark("'new' </A>", "javascript:a('\"')&&b<c", "k"));
  EXPECT_THAT(LineReader(written(*document)).lines(),
              testing::ElementsAre("+ Bar <3 [true]", "x > \"y\" [http://1/?a&b] [1500000000]", "+ empty", "end", "end",
                                   "'new' </A> [javascript:a('\"')&&b<c]", "end"));
}

StoreItem item_of(const std::string& title, const std::string& url, std::int64_t added_us) {
  return {
      "key",   kBookmarkType,
      "other", {{kTitleUnit, Value::text(title)}, {kUrlUnit, Value::text(url)}, {kDateAddedUnit, Value::integer(added_us)}},
      {},      {}};
}

std::string random_text(std::mt19937_64& random) {
  static const std::vector<std::string> kPieces = {"a",
                                                   "Z",
                                                   "  ",
                                                   " ",
                                                   "\"",
                                                   "'",
                                                   "<",
                                                   ">",
                                                   "&",
                                                   "&amp;",
                                                   "&lt",
                                                   "&#65;",
                                                   "&#x41",
                                                   "&copy",
                                                   "\n",
                                                   "\r\n",
                                                   "\t",
                                                   "\f",
                                                   "\v",
                                                   "</A>",
                                                   "<script>",
                                                   "<!--",
                                                   "-->",
                                                   "</DL>",
                                                   "=",
                                                   "\\",
                                                   "/",
                                                   std::string(1, '\0'),
                                                   "\x01",
                                                   "\x7F",
                                                   "\xC2\xA0",
                                                   "\xC2\x85",
                                                   "\xF0\x9F\x98\x80",
                                                   "\xD7\xA9\xD7\x9C",
                                                   "\xE2\x80\xA8",
                                                   "\xFF",
                                                   "\xC3",
                                                   "\xED\xA0\x80",
                                                   "http://x/?a=1&b=2",
                                                   "%20",
                                                   "#",
                                                   "\xEF\xBB\xBF"};
  std::string text;
  for (std::uint64_t length = random() % 12; length > 0; --length) text += kPieces[random() % kPieces.size()];
  return text;
}

// An attribute that is no more than dashes, kept at the end of a tag, would end the comment that is open further up.
TEST(HtmlWriter, NothingThatIsWrittenEndsACommentThatWasLeftOpen) {
  const auto document = read(
      "<!DOCTYPE NETSCAPE-Bookmark-file-1>\n<!-- left open --\n<dl><p>\n"
      "<DT><H3 s --\n>Folder</H3>\n<DT><A HREF=\"http://1/\">one</A>\n</dl>\n");
  document->tree().mended.push_back("written anew");
  const std::string text = written(*document);
  EXPECT_THAT(text, HasSubstr("left open"));
  EXPECT_EQ(text_of(*read(text)), text_of(*document));
}

TEST(HtmlWriter, NoWordOfADescriptionIsLostWhereItLooksLikeMarkup) {
  const auto document = read(
      "<!DOCTYPE NETSCAPE-Bookmark-file-1>\n<DL><p>\n<DT><A HREF=\"http://1/\">one</A>\n"
      "<DD>if a <b, then (c) is \"fine\": see 4.2 & more!\n<DT><A HREF=\"http://2/\">two</A>\n"
      "<DD><Strg+C> copies; x<y&&y<z ok\n</DL><p>\n");
  document->tree().mended.push_back("written anew");
  const std::string text = written(*document);
  EXPECT_THAT(text, HasSubstr("<DD>if a &lt;b, then (c) is \"fine\": see 4.2 & more!\n"));
  EXPECT_THAT(text, HasSubstr("<DD><Strg+C> copies; x&lt;y&&y&lt;z ok\n"));
  EXPECT_EQ(text_of(*read(text)), text_of(*document));
}

TEST(HtmlWriter, WhatIsCommentedOutStaysSo) {
  const std::string comment = "<!--\n<DT><A HREF=\"http://out/\">out</A>\n-->";
  for (const std::string& before : {std::string("</A> "), std::string("</A>\n"), std::string("</A>\n<DD>note\n")}) {
    const auto document = read("<!DOCTYPE NETSCAPE-Bookmark-file-1>\n<DL><p>\n<DT><A HREF=\"http://1/\">one" + before +
                               comment + "\n<DT><A HREF=\"http://2/\">two</A>\n</DL><p>\n");
    EXPECT_EQ(text_of(*document).find("out"), std::string::npos) << before;
    document->tree().mended.push_back("written anew");
    const std::string text = written(*document);
    EXPECT_THAT(text, HasSubstr(comment)) << before;
    EXPECT_EQ(text_of(*read(text)), text_of(*document)) << before;
  }
}

TEST(HtmlWriter, ATagInWhichTheFileBrokeOffTakesInNothing) {
  const auto document = read("<!DOCTYPE NETSCAPE-Bookmark-file-1>\n<DT><A HREF=\"http://1/\">one</A> <!NOT ended");
  document->tree().mended.push_back("written anew");
  const std::string once = written(*document);
  const auto again = read(once);
  EXPECT_EQ(text_of(*again), text_of(*document));
  again->tree().mended.push_back("written anew");
  EXPECT_EQ(written(*again), once);
}

TEST(HtmlWriter, WhatIsHeldIsReadBackTheSame) {
  std::mt19937_64 random(20261130);
  const FavoritesCodec& codec = netscape_html_codec();
  for (int round = 0; round < 3000; ++round) {
    const StoreItem item = item_of(random_text(random), "u" + random_text(random),
                                   static_cast<std::int64_t>(random() % 4'000'000'000'000'000));
    const StoreItem held = codec.as_held(item);
    ASSERT_EQ(codec.as_held(held), held);
    const auto document = read("<DL></DL><A HREF=http://1/>x</A>");
    auto favorite = bookmark(*held.values[0].value.if_text(), *held.values[1].value.if_text(), "key");
    if (held.values.size() == 3) favorite->added_us = *held.values[2].value.if_integer();
    document->tree().roots[2].children.push_back(std::move(favorite));
    const auto again = read(written(*document));
    ASSERT_TRUE(again != nullptr && again->tree().roots[2].children.size() == 2);
    const Favorite& found = *again->tree().roots[2].children[1];
    ASSERT_EQ(found.title, *held.values[0].value.if_text());
    ASSERT_EQ(found.url, *held.values[1].value.if_text());
    ASSERT_EQ(found.key, "key");
    if (held.values.size() == 3) {
      ASSERT_EQ(found.added_us, *held.values[2].value.if_integer());
    }
  }
}

TEST(HtmlCodec, HoldsWholeSecondsAndLeavesOutDatesItCannotHold) {
  const FavoritesCodec& codec = netscape_html_codec();
  EXPECT_EQ(codec.as_held(item_of("t", "u", 1'500'000'000'999'999)).values[2].value, Value::integer(1'500'000'000'000'000));
  for (const std::int64_t date :
       {std::int64_t{-1}, std::int64_t{0}, std::int64_t{999'999}, std::int64_t{100'000'000'000'000'000}}) {
    EXPECT_EQ(codec.as_held(item_of("t", "u", date)).values.size(), 2U) << date;
  }
}

TEST(HtmlCodec, AKeyHoldsTheItemId) {
  const FavoritesCodec& codec = netscape_html_codec();
  const ItemId item = shaped_item_id(as_bytes("sixteen bytes !!"));
  const StoreKey key = codec.key_for(item);
  EXPECT_EQ(key.size(), 36U);
  EXPECT_EQ(key[14], '8');
  EXPECT_EQ(codec.identity_of(key), item);
  EXPECT_EQ(codec.identity_of("n:0123456789abcdef"), std::nullopt);
  EXPECT_EQ(codec.identity_of("5ffbd2ba-5c4e-4ae0-9dc4-1f7be3c7e5d1"), std::nullopt);
}

TEST(HtmlCodec, CannotHoldABookmarkWithoutAddressNorOneTooDeep) {
  const FavoritesCodec& codec = netscape_html_codec();
  EXPECT_TRUE(codec.can_hold(item_of("t", "u", 1), kFavoritesDepthMax - 1).ok());
  EXPECT_EQ(codec.can_hold(item_of("t", " \n", 1), 0).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(codec.can_hold(item_of("t", "u", 1), kFavoritesDepthMax).code(), StatusCode::kLimitExceeded);
}

}  // namespace
}  // namespace harmonica::providers
