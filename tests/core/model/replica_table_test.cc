#include "harmonica/replica_table.h"

#include <gtest/gtest.h>

#include "harmonica/limits.h"
#include "support/shorthand.h"

namespace harmonica {
namespace {

using shorthand::replica;

ReplicaRow named(char letter, std::string name, std::int64_t when) {
  ReplicaRow row;
  row.replica = replica(letter);
  row.name = std::move(name);
  row.named_ms = when;
  return row;
}

ReplicaRow retired(char letter, Tick last) {
  ReplicaRow row;
  row.replica = replica(letter);
  row.retired = true;
  row.last = last;
  return row;
}

ReplicaRow renewed(char letter, char former, Tick kept) {
  ReplicaRow row;
  row.replica = replica(letter);
  row.former = replica(former);
  row.kept = kept;
  return row;
}

TEST(ReplicaTable, JoinsRowsInAnyOrderToTheSame) {
  const std::vector<ReplicaRow> rows = {named('A', "phone", 1),  named('A', "tablet", 2), retired('B', 7),
                                        named('B', "laptop", 3), retired('B', 9),         renewed('C', 'A', 5)};
  ReplicaTable forth;
  for (const ReplicaRow& row : rows) ASSERT_TRUE(forth.merge(row).ok());
  ReplicaTable back;
  for (auto row = rows.rbegin(); row != rows.rend(); ++row) ASSERT_TRUE(back.merge(*row).ok());
  EXPECT_EQ(forth, back);
  EXPECT_EQ(forth.digest(), back.digest());
  ASSERT_EQ(forth.rows().size(), 3u);
  EXPECT_EQ(forth.find(replica('A'))->name, "tablet");
  EXPECT_EQ(forth.find(replica('B'))->name, "laptop");
  EXPECT_TRUE(forth.find(replica('B'))->retired);
  EXPECT_EQ(forth.find(replica('B'))->last, 9u);
  EXPECT_EQ(forth.find(replica('C'))->former, replica('A'));
  EXPECT_EQ(forth.find(replica('D')), nullptr);
}

TEST(ReplicaTable, SaysWhetherAnythingIsNew) {
  ReplicaTable table;
  EXPECT_TRUE(*table.merge(named('A', "phone", 1)));
  EXPECT_FALSE(*table.merge(named('A', "phone", 1)));
  EXPECT_FALSE(*table.merge(named('A', "older", 0)));
  ReplicaTable other = table;
  EXPECT_FALSE(*table.merge(other));
  ASSERT_TRUE(other.merge(retired('A', 1)).ok());
  EXPECT_TRUE(*table.merge(other));
  EXPECT_EQ(table, other);
}

TEST(ReplicaTable, DigestTellsTablesApart) {
  EXPECT_EQ(ReplicaTable().digest(), 0u);
  const std::vector<ReplicaRow> rows = {named('A', "", 0), named('A', "", 1),    named('A', "a", 0),  retired('A', 0),
                                        retired('A', 1),   renewed('A', 'B', 0), renewed('A', 'B', 1)};
  std::vector<std::uint64_t> digests;
  for (const ReplicaRow& row : rows) digests.push_back(ReplicaTable::from_rows({row})->digest());
  std::sort(digests.begin(), digests.end());
  EXPECT_EQ(std::unique(digests.begin(), digests.end()), digests.end());
}

TEST(ReplicaTable, RefusesWhatIsNoTable) {
  EXPECT_EQ(ReplicaTable::from_rows({ReplicaRow()}).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(ReplicaTable::from_rows({named('A', "a", 1), retired('A', 1)}).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(ReplicaTable::from_rows({renewed('A', 'A', 1)}).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(ReplicaTable::from_rows({named('A', std::string(limits::kDeviceNameBytesMax + 1, 'a'), 1)}).status().code(),
            StatusCode::kLimitExceeded);
}

TEST(ReplicaTable, HoldsSoManyAndNoMore) {
  ReplicaTable table;
  std::vector<ReplicaRow> rows(limits::kReplicasMax);
  for (std::size_t index = 0; index < rows.size(); ++index) {
    rows[index].replica.bytes[0] = static_cast<std::uint8_t>(1 + index / 256);
    rows[index].replica.bytes[1] = static_cast<std::uint8_t>(index % 256);
  }
  table = *ReplicaTable::from_rows(rows);
  EXPECT_EQ(table.merge(named('A', "one more", 1)).status().code(), StatusCode::kLimitExceeded);
  EXPECT_EQ(table.merge(*ReplicaTable::from_rows({named('A', "one more", 1)})).status().code(), StatusCode::kLimitExceeded);
  EXPECT_EQ(table.rows().size(), rows.size());
  rows.push_back(named('A', "one more", 1));
  EXPECT_EQ(ReplicaTable::from_rows(rows).status().code(), StatusCode::kLimitExceeded);
}

}  // namespace
}  // namespace harmonica
