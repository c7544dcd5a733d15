#include "simulation/filter_choices.h"

#include <algorithm>

#include "harmonica/assert.h"
#include "simulation/scenario_schema.h"

namespace harmonica::simulation {
namespace {

// Empty for what is no text, which no text here is.
std::string text_of(const Item& item, UnitId unit) {
  const std::string* text = item.value_of(unit).if_text();
  return text == nullptr ? std::string() : *text;
}

bool holds(const Item& item, UnitId unit, const char* part) { return text_of(item, unit).find(part) != std::string::npos; }

std::int64_t count_of(const Item& item) {
  const std::int64_t* count = item.value_of(units::kCount).if_integer();
  return item.type == types::kNote && count != nullptr ? *count : -1;
}

bool is_of(const Item& item, std::initializer_list<TypeId> of) {
  return std::find(of.begin(), of.end(), item.type) != of.end();
}

}  // namespace

Filter FilterChoice::filter() const {
  Result<Filter> parsed = Filter::parse(text, parameters);
  HARMONICA_ASSERT(parsed.ok());
  return *std::move(parsed);
}

const std::vector<FilterChoice>& filter_choices() {
  static const std::vector<FilterChoice> choices = {
      {"count >= 5", {}, [](const Item& item) { return count_of(item) >= 5; }},
      {"count >= :least", {{"least", Value::integer(2)}}, [](const Item& item) { return count_of(item) >= 2; }},
      {"type != 'note' or count in (0, 2, 4, 6, 8)",
       {},
       [](const Item& item) { return item.type != types::kNote || count_of(item) % 2 == 0; }},
      {"type in ('folder', 'bookmark', 'directory', 'file')",
       {},
       [](const Item& item) {
         return is_of(item, {types::kFolder, types::kBookmark, types::kDirectory, types::kFile});
       }},
      {"title like '%1%' or name like '%1%' or label like '%1%' or content like :some",
       {{"some", Value::text("%1%")}},
       [](const Item& item) {
         return holds(item, units::kTitle, "1") || holds(item, units::kName, "1") || holds(item, units::kLabel, "1") ||
                holds(item, units::kContent, "1");
       }},
      {"label < colour and not count is null or type in ('account', 'order')",
       {},
       [](const Item& item) {
         return (item.type == types::kNote && text_of(item, units::kLabel) < text_of(item, units::kColour)) ||
                is_of(item, {types::kAccount, types::kOrder});
       }},
      {"birth like '%_3' or type = 'folder' or state not like '%2%'",
       {},
       [](const Item& item) {
         const std::string birth = text_of(item, units::kBirth);
         return (birth.size() > 1 && birth.back() == '3') || item.type == types::kFolder ||
                (item.type == types::kNote && !holds(item, units::kState, "2"));
       }},
      {"bookmark.title is not null or accounts is not null or code > 'B'",
       {},
       [](const Item& item) {
         return is_of(item, {types::kBookmark, types::kOrder}) ||
                (item.type == types::kAccount && text_of(item, units::kCode) > "B");
       }},
  };
  return choices;
}

const FilterChoice& choice_of(const Filter& filter) {
  const std::vector<FilterChoice>& choices = filter_choices();
  const auto found =
      std::find_if(choices.begin(), choices.end(), [&](const FilterChoice& choice) { return choice.filter() == filter; });
  HARMONICA_ASSERT(found != choices.end());
  return *found;
}

}  // namespace harmonica::simulation
