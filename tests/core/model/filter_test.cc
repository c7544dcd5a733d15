#include "harmonica/filter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harmonica/limits.h"

namespace harmonica {
namespace {

std::string canonical(std::string_view text) {
  const Result<Filter> filter = Filter::parse(text, {});
  EXPECT_TRUE(filter.ok()) << filter.status().to_text();
  return filter.ok() ? filter->text() : "";
}

Status refusal(std::string_view text, std::vector<FilterParameter> parameters = {}) {
  const Result<Filter> filter = Filter::parse(text, std::move(parameters));
  EXPECT_FALSE(filter.ok()) << text;
  return filter.ok() ? Status() : filter.status();
}

TEST(Filter, TextIsCanonical) {
  EXPECT_EQ(canonical("a=1"), "a = 1");
  EXPECT_EQ(canonical("  a <> +1\n AND(b  LIKE 'x' )"), "a != 1 and b like 'x'");
  EXPECT_EQ(canonical("a=1 or (b=2 or c=3)"), "a = 1 or b = 2 or c = 3");
  EXPECT_EQ(canonical("(a=1 and b=2) or c=3"), "a = 1 and b = 2 or c = 3");
  EXPECT_EQ(canonical("a=1 and (b=2 or c=3)"), "a = 1 and (b = 2 or c = 3)");
  EXPECT_EQ(canonical("not (a=1 and b=2)"), "not (a = 1 and b = 2)");
  EXPECT_EQ(canonical("not(not((starred)))"), "not not starred");
  EXPECT_EQ(canonical("a NOT IN(1,2.50,'it''s',X'00FF',true)"), "a not in (1, 2.5, 'it''s', x'00ff', true)");
  EXPECT_EQ(canonical("a Is Not Null and b is null"), "a is not null and b is null");
  EXPECT_EQ(canonical("a like '5!%' escape '!'"), "a like '5!%' escape '!'");
  EXPECT_EQ(canonical("\"a\" = 1 and \"or\" = 2 and \"with \"\"quotes\"\"\" = 3"),
            "a = 1 and \"or\" = 2 and \"with \"\"quotes\"\"\" = 3");
  EXPECT_EQ(canonical("note . label = \"type\" and TYPE = 'note'"), "note.label = \"type\" and type = 'note'");
}

TEST(Filter, CanonicalTextReadsBackAsItself) {
  for (const char* text : {"a = 1e300", "a = -0.0", "not (a = 1 or b = 2) and c = 3", "a = -9223372036854775808"}) {
    EXPECT_EQ(canonical(canonical(text)), canonical(text));
  }
}

TEST(Filter, EqualityIsOfTextAndParameters) {
  const auto filter = [](std::string_view text, std::int64_t n, std::int64_t m) {
    return *Filter::parse(text, {{"n", Value::integer(n)}, {"m", Value::integer(m)}});
  };
  EXPECT_EQ(filter("a>:n and b<:m", 1, 2), filter("a > :n AND b < :m", 1, 2));
  EXPECT_NE(filter("a>:n and b<:m", 1, 2), filter("a>:n and b<:m", 1, 3));
  EXPECT_NE(filter("a>:n and b<:m", 1, 2), filter("a>:n and b<=:m", 1, 2));
  EXPECT_EQ(filter("a>:n and b<:m", 1, 2).to_text(), "a > :n and b < :m (m = 2, n = 1)");
}

struct Mistake {
  const char* text;
  const char* message;
};

class FilterMistake : public testing::TestWithParam<Mistake> {};

TEST_P(FilterMistake, IsNamedWithItsPlace) {
  const Status status = refusal(GetParam().text);
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), testing::HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(All, FilterMistake,
                         testing::Values(Mistake{"", "column 1: expected a condition, found the end"},
                                         Mistake{"a >=",
                                                 "column 5: expected a field, a value or a parameter, found the end"},
                                         Mistake{"a = 1 b = 2", "column 7: expected 'and', 'or' or the end, found 'b'"},
                                         Mistake{"(a = 1", "column 7: expected ')', found the end"},
                                         Mistake{"a in ()", "column 7: expected a value, found ')'"},
                                         Mistake{"a in (1, 2", "column 11: expected ',' or ')', found the end"},
                                         Mistake{"a not 1", "column 7: expected 'in' or 'like', found 1"},
                                         Mistake{"a is 1", "column 6: expected 'null', found 1"},
                                         Mistake{"a = null", "column 5: nothing is equal to null"},
                                         Mistake{"a = 'open", "column 5: the closing ' is missing"},
                                         Mistake{"'für' = f\xc3\xbcr", "column 10: this character means nothing here"},
                                         Mistake{"a = x'0g'", "column 5: bytes are two hexadecimal digits"},
                                         Mistake{"a = x'000'", "column 5: bytes are two hexadecimal digits"},
                                         Mistake{"a = 12b", "column 7: expected a space behind the number"},
                                         Mistake{"a = 99999999999999999999", "column 5: 99999999999999999999 does not fit"},
                                         Mistake{"a = 1.2.3", "column 5: 1.2.3 is no number"},
                                         Mistake{"a like 'x' escape 'yy'", "column 19: expected one character"},
                                         Mistake{"a = :", "column 5: expected the name of a parameter"},
                                         Mistake{"\"\" = 1", "column 1: a field has no empty name"},
                                         Mistake{"a.1 = 2", "column 2"}, Mistake{"\xff", "not UTF-8"}),
                         [](const auto& mistake) { return "Mistake" + std::to_string(mistake.index); });

TEST(Filter, ParametersMustFit) {
  EXPECT_THAT(refusal("a = :n").message(), testing::HasSubstr("column 5: parameter ':n' has no value"));
  EXPECT_THAT(refusal("a = 1", {{"n", Value()}}).message(), testing::HasSubstr("nothing in it is called ':n'"));
  EXPECT_THAT(refusal("a = :n", {{"n", Value()}, {"n", Value()}}).message(), testing::HasSubstr("has two values"));
  EXPECT_THAT(refusal("a = :n", {{"n", Value::ids({})}}).message(), testing::HasSubstr("is a list"));
  EXPECT_THAT(refusal("a = :n", {{"n", Value::text("\xff")}}).message(), testing::HasSubstr("not UTF-8"));
}

TEST(Filter, LiteralsStandAlone) {
  EXPECT_EQ(filter_literal("12"), Value::integer(12));
  EXPECT_EQ(filter_literal(" -0.5 "), Value::real(-0.5));
  EXPECT_EQ(filter_literal("True"), Value::boolean(true));
  EXPECT_EQ(filter_literal("'it''s'"), Value::text("it's"));
  EXPECT_EQ(filter_literal("x'0A'"), Value::bytes({0x0a}));
  for (const char* none : {"", "word", "1 2", "null", "'open", ":n", "\xff", "1x"})
    EXPECT_EQ(filter_literal(none), std::nullopt);
}

TEST(Filter, IsBounded) {
  std::string many = "a = 0";
  for (int term = 1; term < 10'000; ++term) many += " or a = " + std::to_string(term % 10);
  EXPECT_EQ(refusal(many.substr(0, 60'000)).code(), StatusCode::kLimitExceeded);
  EXPECT_THAT(refusal(many.substr(0, 60'000)).message(), testing::HasSubstr("more than 1000 terms"));
  EXPECT_EQ(refusal(many).code(), StatusCode::kLimitExceeded);

  const std::string deep(limits::kFilterDepthMax + 1, '(');
  EXPECT_THAT(refusal(deep).message(), testing::HasSubstr("nested more than 64 levels deep"));
  std::string negated;
  for (std::size_t level = 0; level <= limits::kFilterDepthMax; ++level) negated += "not ";
  EXPECT_EQ(refusal(negated + "a").code(), StatusCode::kLimitExceeded);
  EXPECT_EQ(refusal("a = :n", {{"n", Value::text(std::string(limits::kFilterBytesMax + 1, 'x'))}}).code(),
            StatusCode::kLimitExceeded);
}

}  // namespace
}  // namespace harmonica
