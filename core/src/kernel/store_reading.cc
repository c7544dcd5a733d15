#include "kernel/store_reading.h"

#include "harmonica/limits.h"
#include "harmonica/utf8.h"

namespace harmonica::kernel {

std::optional<std::string> fault_of(const Value& value) {
  if (value.weight() > limits::kValueBytesMax) {
    return "is larger than the " + std::to_string(limits::kValueBytesMax) + " bytes that are synced";
  }
  if (const std::string* text = value.if_text(); text != nullptr && !is_valid_utf8(*text)) return "is no UTF-8 text";
  if (const Value::List* list = value.if_list()) {
    for (const Value& member : *list) {
      if (member.kind() == ValueKind::kList) return "holds a list in a list";
      if (std::optional<std::string> fault = fault_of(member)) return fault;
    }
  }
  return std::nullopt;
}

std::string printable(const StoreKey& key) { return "'" + (is_valid_utf8(key) ? key : to_hex(as_bytes(key))) + "'"; }

}  // namespace harmonica::kernel
