// Large values of units, each kept once under its hash, and counted.
#pragma once

#include <optional>
#include <set>
#include <span>

#include "connection.h"
#include "harmonica/value.h"
#include "item_encoding.h"

namespace harmonica::providers {

// Of one transaction. The connection must outlive it.
class ContentTable {
 public:
  explicit ContentTable(Connection& connection) : connection_(connection) {}

  // Stands there when it returns; until `count` has told of a row that uses it, only for this transaction.
  Result<ContentHash> put(const Value& value);
  // Nothing: it is not there, or damaged.
  std::optional<Value> read(const ContentHash& hash);

  // A row uses `now` instead of `before`.
  Status count(std::span<const ContentHash> before, std::span<const ContentHash> now);
  // Once all rows are written: what no row uses goes.
  Status drop_unused();

 private:
  Connection& connection_;
  std::set<ContentHash> touched_;
};

}  // namespace harmonica::providers
