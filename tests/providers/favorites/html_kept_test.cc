// HTML that is carried over must read the same in its new place.
#include "html_kept.h"

#include <gtest/gtest.h>

#include <string>

namespace harmonica::providers {
namespace {

struct Case {
  const char* name;
  const char* html;
  const char* written;
  HtmlComments comments = HtmlComments::kAny;
};

class SelfContainedHtml : public testing::TestWithParam<Case> {};

TEST_P(SelfContainedHtml, IsClosedAndStaysSo) {
  const Case& one = GetParam();
  const std::string written = self_contained_html(one.html, one.comments);
  EXPECT_EQ(written, one.written);
  EXPECT_EQ(self_contained_html(written, one.comments), written);
}

constexpr const char* kSoundTags = "<b>x</b> <img alt='a > b' title=\"one\ntwo\" ismap/> a < b </ &amp; & <3";
constexpr const char* kSoundComments = "<!-- one --><!DOCTYPE x><?xml?><!-- two\nlines -->";
constexpr const char* kLongComment = "text <!-- no\ncomment <b>x</b> -->";
constexpr const char* kLongCommentApart = "text\n  <!-- a\ncomment -->";

INSTANTIATE_TEST_SUITE_P(
    Html, SelfContainedHtml,
    testing::Values(
        Case{"SoundTags", kSoundTags, kSoundTags}, Case{"SoundComments", kSoundComments, kSoundComments},
        Case{"LongCommentInALineIsText", kLongComment, "text &lt;!-- no\ncomment <b>x</b> -->", HtmlComments::kInEntryText},
        Case{"LongCommentOnLinesOfItsOwnIsOne", kLongCommentApart, kLongCommentApart, HtmlComments::kInEntryText},
        Case{"OpenCommentIsText", "a<!-- b", "a&lt;!-- b"}, Case{"OpenDeclarationIsText", "a<!b", "a&lt;!b"},
        Case{"OpenInstructionIsText", "<?", "&lt;?"},
        Case{"OpenTagsOfOurElementsAreClosed", "<dt <hr</dt</dl", "<dt><hr></dt></dl>"},
        Case{"OpenTagsThatMeanNothingAreText", "if a <b, then (c) is \"fine\" <i></b</",
             "if a &lt;b, then (c) is \"fine\" <i>&lt;/b</"},
        Case{"LostQuote", "<a title=\"x name='n'>y", "<a title=\"x name='n'\">y"},
        Case{"LostQuoteAtTheEnd", "<a title='x\"y", "<a title=\"x&quot;y\">"},
        Case{"DebrisOfALostQuote", "<a title=\"one\ntwo\" three\"=4 five>", "<a title=\"one\ntwo\" three\"=4 five>"},
        Case{"DebrisInATagThatBreaksOff", "<a x'=1 b=2 c='", "<a b=\"2\" c=\"\">"}),
    [](const auto& one) { return std::string(one.param.name); });

}  // namespace
}  // namespace harmonica::providers
