// The filters that simulated devices have, each with the same condition in plain C++.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "harmonica/filter.h"
#include "harmonica/item.h"

namespace harmonica::simulation {

struct FilterChoice {
  std::string text;
  std::vector<FilterParameter> parameters;
  std::function<bool(const Item&)> matches;

  Filter filter() const;
};

// Of the schema that simulated devices share.
const std::vector<FilterChoice>& filter_choices();

// The choice that is this filter.
const FilterChoice& choice_of(const Filter& filter);

}  // namespace harmonica::simulation
