// Ids as keys of hash tables.
#pragma once

#include <functional>

#include "harmonica/bytes.h"
#include "harmonica/ids.h"

namespace harmonica::kernel {

// Of all bytes: some stores choose the ids of their items themselves, so no part of one can be trusted to be random.
struct IdHash {
  template <typename Tag>
  std::size_t operator()(const Id<Tag>& id) const {
    return std::hash<std::string_view>()(as_text(id.view()));
  }
};

}  // namespace harmonica::kernel
