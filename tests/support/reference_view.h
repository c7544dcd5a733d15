// The views of a whole set of items, computed from scratch and word by word by the rules R40 to R44. Shares no code with
// the kernel: the tests and the simulator compare the two.
#pragma once

#include <map>
#include <span>
#include <string>

#include "harmonica/extension/metadata_store.h"
#include "harmonica/item.h"
#include "harmonica/schema.h"

namespace harmonica::testing {

// The view of each of `items` (none twice), deleted ones included. Takes time in proportion to the square of their number.
//
// What the rules leave open: an item whose type the schema does not know, or whose id is that of a root or zero, is as
// dead. A parked item is living and can be a shown parent. A list of ancestors counts up to limits::kAncestorsMax. Of equal
// versions in a cycle the one of the greater id moves on. A unique value that is a list with a null in it is never taken.
// Names are compared among the items that are shown.
std::map<ItemId, ItemView> reference_views(const Schema& schema, std::span<const Item> items);

// The name as shown: that of the register with the suffix of the view. Empty for items without a name.
std::string reference_name(const Schema& schema, const Item& item, const ItemView& view);

}  // namespace harmonica::testing
