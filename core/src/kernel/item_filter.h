// Whether items match a filter.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "harmonica/filter.h"
#include "harmonica/item.h"

namespace harmonica::kernel {

// A filter that knows the types and units of a schema. Pure: looks at nothing but the item's registers. Thread-compatible.
class ItemFilter {
 public:
  // Errors as of check_filter. The schema must outlive it.
  static Result<ItemFilter> bind(const Filter& filter, const Schema& schema);
  ItemFilter(ItemFilter&&) noexcept;
  ItemFilter& operator=(ItemFilter&&) noexcept;
  ~ItemFilter();

  const Filter& filter() const { return filter_; }

  // By what the registers hold, whether the item lives or not. Neither true nor false, because of a null, is not matched.
  // What is erased always matches, for everybody has to know it.
  bool matches(const Item& item) const;

  // Whether it depends on that unit.
  bool depends_on(TypeId type, UnitId unit) const;

 private:
  struct Condition;
  ItemFilter(Filter filter, const Schema& schema);

  Filter filter_;
  const Schema* schema_;
  std::unique_ptr<const Condition> condition_;
};

// The item filter of `filter`; nothing if there is none.
Result<std::optional<ItemFilter>> bind_filter(const std::optional<Filter>& filter, const Schema& schema);

}  // namespace harmonica::kernel
