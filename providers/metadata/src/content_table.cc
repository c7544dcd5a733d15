#include "content_table.h"

#include <algorithm>
#include <utility>

#include "byte_coding.h"
#include "harmonica/platform/crypto.h"
#include "value_encoding.h"

namespace harmonica::providers {

Result<ContentHash> ContentTable::put(const Value& value) {
  Encoder encoder(value.weight() + 16);
  encode_value(encoder, value);
  const ContentHash hash = platform::sha256(encoder.bytes());
  touched_.insert(hash);
  HARMONICA_RETURN_IF_ERROR(
      Statement(connection_, Query::kAddContent).bind(ByteView(hash)).bind(ByteView(encoder.bytes())).run());
  return hash;
}

std::optional<Value> ContentTable::read(const ContentHash& hash) {
  Statement query(connection_, Query::kFindContent);
  const auto step = query.bind(ByteView(hash)).step();
  if (!step.ok() || *step == Statement::Step::kDone) return std::nullopt;
  const ByteView body = query.blob(0);
  if (!std::ranges::equal(platform::sha256(body), hash)) return std::nullopt;
  Decoder decoder(body);
  Value value = decode_value(decoder);
  if (!decoder.complete()) return std::nullopt;
  return value;
}

Status ContentTable::count(std::span<const ContentHash> before, std::span<const ContentHash> now) {
  if (std::ranges::equal(before, now)) return {};
  for (const ContentHash& hash : now) {
    HARMONICA_RETURN_IF_ERROR(Statement(connection_, Query::kUseContent).bind(ByteView(hash)).run());
  }
  for (const ContentHash& hash : before) {
    touched_.insert(hash);
    HARMONICA_RETURN_IF_ERROR(Statement(connection_, Query::kUseContentLess).bind(ByteView(hash)).run());
  }
  return {};
}

Status ContentTable::drop_unused() {
  for (const ContentHash& hash : std::exchange(touched_, {})) {
    HARMONICA_RETURN_IF_ERROR(Statement(connection_, Query::kForgetUnusedContent).bind(ByteView(hash)).run());
    HARMONICA_RETURN_IF_ERROR(Statement(connection_, Query::kDropContent).bind(ByteView(hash)).run());
  }
  return {};
}

}  // namespace harmonica::providers
