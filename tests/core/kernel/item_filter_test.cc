#include "kernel/item_filter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "kernel/counter.h"
#include "support/shorthand.h"

namespace harmonica::kernel {
namespace {

using shorthand::item;
using shorthand::version;

Schema notes() {
  Schema schema;
  schema.default_scope = "notes";
  ItemType note{.id = 1,
                .name = "note",
                .units = {{.id = 1, .name = "label"},
                          {.id = 2, .name = "count", .kind = ValueKind::kInteger},
                          {.id = 3, .name = "weight", .kind = ValueKind::kReal},
                          {.id = 4, .name = "starred", .kind = ValueKind::kBoolean},
                          {.id = 5, .name = "data", .kind = ValueKind::kBytes},
                          {.id = 6, .name = "about", .kind = ValueKind::kIds},
                          {.id = 7, .name = "type"}},
                .natural_key = {1}};
  ItemType tally{.id = 2,
                 .name = "tally",
                 .units = {{.id = 1, .name = "label"},
                           {.id = 2, .name = "steps", .kind = ValueKind::kInteger, .rule = ConflictRule::kCounter},
                           {.id = 3, .name = "data"}},
                 .natural_key = {1}};
  schema.types = {note, tally};
  return schema;
}

Item note() {
  Item one;
  one.id = item(1);
  one.type = 1;
  one.at(1).value = Value::text("Änderung 50% off");
  one.at(2).value = Value::integer(5);
  one.at(3).value = Value::real(2.5);
  one.at(4).value = Value::boolean(true);
  one.at(5).value = Value::bytes({0x00, 0xff});
  one.at(7).value = Value::text("odd");
  return one;
}

bool matches(const Item& asked, std::string_view text, std::vector<FilterParameter> parameters = {}) {
  const Schema schema = notes();
  const Result<Filter> filter = Filter::parse(text, std::move(parameters));
  EXPECT_TRUE(filter.ok()) << filter.status().to_text();
  const Result<ItemFilter> bound = ItemFilter::bind(*filter, schema);
  EXPECT_TRUE(bound.ok()) << text << ": " << bound.status().to_text();
  return bound.ok() && bound->matches(asked);
}

TEST(ItemFilter, Compares) {
  for (const char* text : {"count = 5",
                           "count != 4",
                           "count < 6",
                           "count <= 5",
                           "count > 4",
                           "count >= 5",
                           "5 = count",
                           "count = 5.0",
                           "count < 5.5",
                           "count > 4.5",
                           "weight = 2.5",
                           "weight > 2",
                           "weight < 3",
                           "count > weight",
                           "starred",
                           "starred = true",
                           "starred > false",
                           "note.data = x'00ff'",
                           "note.data < x'01'",
                           "label > 'Z'",
                           "label != 'x'",
                           "type = 'note'",
                           "\"type\" = 'odd'",
                           "note.count = 5",
                           "type >= 'm'",
                           "count < 9223372036854775807",
                           "count < 1e30",
                           "count > -1e30",
                           "count in (1, 5)",
                           "count not in (1, 2)",
                           "type in ('note', 'tally')"}) {
    EXPECT_TRUE(matches(note(), text)) << text;
    EXPECT_FALSE(matches(note(), "not (" + std::string(text) + ")")) << text;
  }
}

TEST(ItemFilter, ComparesIntegersWithRealsExactly) {
  Item one = note();
  one.at(2).value = Value::integer(std::numeric_limits<std::int64_t>::max());
  EXPECT_TRUE(matches(one, "count < 9223372036854775808.0"));
  EXPECT_TRUE(matches(one, "count > 9223372036854774784.0"));
  one.at(2).value = Value::integer((std::int64_t{1} << 53) + 1);
  EXPECT_FALSE(matches(one, "count = 9007199254740992.0"));
  one.at(3).value = Value::real(std::numeric_limits<double>::quiet_NaN());
  EXPECT_FALSE(matches(one, "weight = weight or not weight = weight"));
}

TEST(ItemFilter, JoinsConditions) {
  EXPECT_TRUE(matches(note(), "count = 5 and starred"));
  EXPECT_FALSE(matches(note(), "count = 5 and not starred"));
  EXPECT_TRUE(matches(note(), "count = 4 or starred"));
  EXPECT_TRUE(matches(note(), "count = 4 and starred or starred"));
  EXPECT_FALSE(matches(note(), "count = 4 and (starred or starred)"));
}

// As in SQL: what depends on a null is neither true nor false, and only what is true matches.
TEST(ItemFilter, NullIsNeitherTrueNorFalse) {
  Item one = note();
  one.at(2).value = Value();
  EXPECT_TRUE(matches(one, "count is null"));
  EXPECT_FALSE(matches(one, "count is not null"));
  for (const char* text : {"count = 5", "count != 5", "count in (1, 2)", "count not in (1, 2)", "count = 5 and starred"}) {
    EXPECT_FALSE(matches(one, text)) << text;
    EXPECT_FALSE(matches(one, "not (" + std::string(text) + ")")) << text;
  }
  EXPECT_TRUE(matches(one, "count = 5 or starred"));
  EXPECT_FALSE(matches(one, "count = 5 and not starred"));
  EXPECT_TRUE(matches(one, "not (count = 5 and not starred)"));
  EXPECT_FALSE(matches(note(), "count not in (1, :n)", {{"n", Value()}}));
  EXPECT_TRUE(matches(note(), "count in (5, :n)", {{"n", Value()}}));
  EXPECT_TRUE(matches(note(), "about is null"));
}

TEST(ItemFilter, FieldsOfOtherTypesAreNull) {
  Item tally;
  tally.id = item(2);
  tally.type = 2;
  tally.at(1).value = Value::text("t");
  EXPECT_TRUE(matches(tally, "label = 't' and count is null"));
  EXPECT_FALSE(matches(tally, "note.label = 't'"));
  EXPECT_TRUE(matches(tally, "tally.label = 't'"));
}

TEST(ItemFilter, CountersAreWhatTheyShow) {
  Item tally;
  tally.id = item(2);
  tally.type = 2;
  tally.at(2).value = counted(new_counter(version("A1"), 3), version("A2"), 3, 7);
  EXPECT_TRUE(matches(tally, "steps = 7"));
}

TEST(ItemFilter, LikeTakesAnyPart) {
  for (const char* pattern : {"Änderung 50% off", "%", "Ä%", "_nderung%", "%off", "%e%u%f_", "%%f%", "Änderung%%off"}) {
    EXPECT_TRUE(matches(note(), "label like '" + std::string(pattern) + "'")) << pattern;
    EXPECT_FALSE(matches(note(), "label not like '" + std::string(pattern) + "'")) << pattern;
  }
  for (const char* pattern : {"", "änderung%", "__nderung%", "%of", "off", "%x%", "_", "%fff"}) {
    EXPECT_FALSE(matches(note(), "label like '" + std::string(pattern) + "'")) << pattern;
  }
  EXPECT_TRUE(matches(note(), "label like '%50!% off' escape '!'"));
  EXPECT_FALSE(matches(note(), "label like '%5!%%' escape '!'"));
  EXPECT_FALSE(matches(note(), "label like '%5!_%' escape '!'"));
}

TEST(ItemFilter, AsksForParameters) {
  EXPECT_TRUE(matches(note(), "count = :n and label like :p", {{"n", Value::integer(5)}, {"p", Value::text("%off")}}));
  EXPECT_FALSE(matches(note(), "count = :n", {{"n", Value::integer(4)}}));
}

Status refusal(std::string_view text, std::vector<FilterParameter> parameters = {}) {
  return check_filter(*Filter::parse(text, std::move(parameters)), notes());
}

TEST(ItemFilter, KindsMustFit) {
  for (const auto& [text, message] : std::vector<std::pair<const char*, const char*>>{
           {"colour = 1", "column 1: no item has a field 'colour'"},
           {"tally.count = 1", "column 1: no item has a field 'tally.count'"},
           {"book.label = 'x'", "column 1: no type is called 'book'"},
           {"label = 1", "column 9: expected text, and this is a number"},
           {"1 = label", "column 5: expected a number, and this is text"},
           {"count in (1, 'x')", "column 14: expected a number, and this is text"},
           {"count like '1%'", "column 1: expected text, and this is a number"},
           {"label", "column 1: expected a boolean, and this is text"},
           {"data = x'00'", "bytes in one type and text in another; write the type before it, as in tally.data"},
           {"about = 'x'", "column 1: a list can only be asked whether it is null"},
           {"type = 'nite'", "column 8: no type is called 'nite'"},
           {"type in ('note', 'nite')", "column 18: no type is called 'nite'"}}) {
    const Status status = refusal(text);
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << text;
    EXPECT_THAT(status.message(), testing::HasSubstr(message)) << text;
  }
  EXPECT_THAT(refusal("label = :p", {{"p", Value::integer(1)}}).message(), testing::HasSubstr("expected text"));
  EXPECT_TRUE(refusal("label = :p", {{"p", Value()}}).ok());
  EXPECT_EQ(refusal("label like '" + std::string(2000, '%') + "'").code(), StatusCode::kLimitExceeded);
}

TEST(ItemFilter, KnowsWhatItDependsOn) {
  const Schema schema = notes();
  const ItemFilter bound = *ItemFilter::bind(*Filter::parse("label = 'x' or not note.count > 1", {}), schema);
  EXPECT_TRUE(bound.depends_on(1, 1));
  EXPECT_TRUE(bound.depends_on(2, 1));
  EXPECT_TRUE(bound.depends_on(1, 2));
  EXPECT_FALSE(bound.depends_on(2, 2));
}

}  // namespace
}  // namespace harmonica::kernel
