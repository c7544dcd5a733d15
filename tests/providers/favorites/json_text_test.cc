#include "json_text.h"

#include <gtest/gtest.h>

#include <string>

namespace harmonica::providers {
namespace {

// Where the parser would stop to look, in a string that begins with `text`.
std::size_t stop_in(const std::string& text) {
  const std::string json = "\"" + text;
  JsonText stream(json);
  stream.Take();
  stream.PutBegin();
  return stream.Tell() - 1;
}

TEST(JsonText, StopsAtTheFirstCharacterThatCannotStandAsItIs) {
  for (const char special : {'"', '\\', '\0', '\x01', '\n', '\x1a', '\x1f'}) {
    for (std::size_t at = 0; at < 20; ++at) {
      for (std::size_t behind = 0; behind < 20; ++behind) {
        const std::string text = std::string(at, 'x') + special + std::string(behind, '"');
        ASSERT_EQ(stop_in(text), at) << static_cast<int>(special) << " with " << behind << " behind";
      }
    }
  }
}

TEST(JsonText, GoesOnOverEverythingElse) {
  std::string text;
  for (int c = 0x20; c < 0x100; ++c) {
    if (c != '"' && c != '\\') text += static_cast<char>(c);
  }
  for (std::size_t from = 0; from < 8; ++from) EXPECT_EQ(stop_in(text.substr(from)), text.size() - from);
}

TEST(JsonText, AStringWithoutEscapesStaysWhereItIs) {
  const std::string json = "\"plain\"";
  JsonText stream(json);
  stream.Take();
  const char* begin = stream.PutBegin();
  EXPECT_EQ(begin, json.data() + 1);
  EXPECT_EQ(stream.Take(), '"');
  stream.Put('\0');
  EXPECT_EQ(stream.PutEnd(begin), 6U);
  EXPECT_EQ(json, "\"plain\"");
}

TEST(JsonText, AStringWithEscapesIsPutElsewhere) {
  const std::string json = R"("ab\n\"c")";
  JsonText stream(json);
  stream.Take();
  const char* begin = stream.PutBegin();
  for (const char c : std::string("\n\"c")) stream.Put(c);
  stream.Put('\0');
  ASSERT_EQ(stream.PutEnd(begin), 6U);
  EXPECT_EQ(std::string(begin), "ab\n\"c");
}

TEST(JsonText, SkipsBlanksOfAnyLengthAndNothingElse) {
  for (std::size_t blanks = 0; blanks < 30; ++blanks) {
    for (const char* const lines : {"", "\n", "\r\n", "\t \n"}) {
      const std::string json = lines + std::string(blanks, ' ') + "\v ";
      JsonText stream(json);
      SkipWhitespace(stream);
      EXPECT_EQ(stream.Tell(), json.size() - 2);
    }
  }
  JsonText only_blanks("         \n ");
  SkipWhitespace(only_blanks);
  EXPECT_EQ(only_blanks.Tell(), 11U);
  EXPECT_EQ(only_blanks.Take(), '\0');
}

}  // namespace
}  // namespace harmonica::providers
