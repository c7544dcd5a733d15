// Kernels that are broken on purpose, each by one decorator that spoils one rule from outside. The simulator must catch
// all.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "harmonica/extension/environment.h"
#include "harmonica/extension/item_store.h"
#include "harmonica/extension/metadata_store.h"
#include "harmonica/extension/provider.h"

namespace harmonica::simulation {

// One device's broken parts. Each function gets what the kernel (or the session) would otherwise use, and returns what it
// is to use instead; by default the same.
class Sabotage {
 public:
  virtual ~Sabotage() = default;
  virtual ItemStore& store(ItemStore& inner) { return inner; }
  virtual MetadataStore& metadata(MetadataStore& inner) { return inner; }
  virtual Environment& environment(Environment& inner) { return inner; }
  virtual Provider& provider(Provider& inner) { return inner; }
};

struct BrokenVariant {
  std::string_view name;
  std::string_view what;  // one line, for people
  std::unique_ptr<Sabotage> (*make)();
  bool forgets = false;  // to be seen where devices forget their deletions
};

std::span<const BrokenVariant> broken_variants();
// Null if there is none of that name.
const BrokenVariant* find_broken_variant(std::string_view name);

}  // namespace harmonica::simulation
