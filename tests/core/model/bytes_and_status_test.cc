#include <gtest/gtest.h>

#include "harmonica/bytes.h"
#include "harmonica/extension/provider.h"
#include "harmonica/status.h"

namespace harmonica {
namespace {

TEST(Bytes, HexadecimalIsLowerCaseTwoDigitsAByte) {
  EXPECT_EQ(to_hex(Bytes{0x00, 0x0f, 0xa0, 0xff}), "000fa0ff");
  EXPECT_EQ(to_hex({}), "");
}

TEST(Status, PrintsItsCodeAndItsMessage) {
  EXPECT_EQ(Status().to_text(), "ok");
  EXPECT_EQ(Status(StatusCode::kNotFound, "file /a: no such file").to_text(), "not_found: file /a: no such file");
}

TEST(Status, ContextComesBeforeTheMessageAndKeepsTheCode) {
  const Status inner(StatusCode::kIo, "disk full");
  EXPECT_EQ(inner.within("store /a"), Status(StatusCode::kIo, "store /a: disk full"));
  EXPECT_EQ(Status().within("store /a"), Status());
}

TEST(StatusDeathTest, OkCannotBeMadeAnError) {
  EXPECT_DEATH(static_cast<void>(Status(StatusCode::kOk, "fine")), "assertion failed");
}

TEST(ResultDeathTest, TheValueOfAnErrorCannotBeRead) {
  const Result<int> error = Status(StatusCode::kIo, "disk full");
  EXPECT_DEATH(static_cast<void>(error.value()), "assertion failed");
}

TEST(BatchReport, AddsEveryCountAndEveryFailure) {
  const ItemFailure failure{ItemId{}, Status(StatusCode::kIo, "disk full")};
  const BatchReport one{1, 2, 3, 4, 5, 6, 7, 8, {failure}};
  BatchReport sum = one;
  sum.add(one);
  EXPECT_EQ(sum, (BatchReport{2, 4, 6, 8, 10, 12, 14, 16, {failure, failure}}));
}

}  // namespace
}  // namespace harmonica
