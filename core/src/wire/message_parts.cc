#include "wire/message_parts.h"

#include <array>
#include <cstddef>
#include <optional>
#include <string>

#include "harmonica/limits.h"

namespace harmonica::wire {
namespace {

// What a submessage may hold. The tree of these has no cycle, so following it down ends.
enum class Shape : std::uint8_t {
  kRequest,
  kResponse,
  kChangeRequest,
  kApplyOptions,
  kReplicaTable,
  kReplicaRow,
  kSourceBegun,
  kBatchSent,
  kChangeBatch,
  kItemChange,
  kUnitRegister,
  kValue,
  kValueList,
  kListMember,
  kBatchReport,
  kItemFailure,
  kRangeAnswers,
  kComparedReplica,
  kSchema,
  kItemType,
  kFilter,
  kFilterParameter,
  kLeaf,       // no submessage
  kForbidden,  // must not occur
};

struct Child {
  Shape parent;
  std::uint64_t field;
  Shape shape;
};

// The submessages of harmonica.proto by field number.
constexpr std::array kChildren = {
    Child{Shape::kRequest, 3, Shape::kLeaf},
    Child{Shape::kRequest, 5, Shape::kChangeRequest},
    Child{Shape::kRequest, 6, Shape::kLeaf},
    Child{Shape::kRequest, 7, Shape::kApplyOptions},
    Child{Shape::kRequest, 8, Shape::kChangeBatch},
    Child{Shape::kRequest, 9, Shape::kLeaf},
    Child{Shape::kRequest, 10, Shape::kLeaf},
    Child{Shape::kRequest, 11, Shape::kRangeAnswers},
    Child{Shape::kRequest, 12, Shape::kChangeRequest},
    Child{Shape::kRequest, 20, Shape::kLeaf},
    Child{Shape::kRequest, 21, Shape::kSchema},
    Child{Shape::kResponse, 3, Shape::kLeaf},
    Child{Shape::kResponse, 6, Shape::kLeaf},
    Child{Shape::kResponse, 7, Shape::kLeaf},
    Child{Shape::kResponse, 8, Shape::kSourceBegun},
    Child{Shape::kResponse, 9, Shape::kBatchSent},
    Child{Shape::kResponse, 10, Shape::kChangeRequest},
    Child{Shape::kResponse, 11, Shape::kBatchReport},
    Child{Shape::kResponse, 12, Shape::kRangeAnswers},
    Child{Shape::kResponse, 13, Shape::kComparedReplica},
    Child{Shape::kResponse, 20, Shape::kSchema},
    Child{Shape::kRequest, 13, Shape::kReplicaTable},
    Child{Shape::kResponse, 14, Shape::kReplicaTable},
    Child{Shape::kReplicaTable, 1, Shape::kReplicaRow},
    Child{Shape::kReplicaRow, 4, Shape::kLeaf},
    Child{Shape::kApplyOptions, 3, Shape::kLeaf},
    Child{Shape::kChangeRequest, 1, Shape::kLeaf},
    Child{Shape::kChangeRequest, 3, Shape::kLeaf},
    Child{Shape::kChangeRequest, 10, Shape::kFilter},
    Child{Shape::kFilter, 2, Shape::kFilterParameter},
    Child{Shape::kFilterParameter, 2, Shape::kListMember},
    Child{Shape::kSourceBegun, 1, Shape::kLeaf},
    Child{Shape::kSourceBegun, 2, Shape::kBatchSent},
    Child{Shape::kBatchSent, 1, Shape::kChangeBatch},
    Child{Shape::kBatchSent, 2, Shape::kBatchReport},
    Child{Shape::kChangeBatch, 1, Shape::kLeaf},
    Child{Shape::kChangeBatch, 6, Shape::kItemChange},
    Child{Shape::kChangeBatch, 7, Shape::kLeaf},
    Child{Shape::kChangeBatch, 8, Shape::kLeaf},
    Child{Shape::kChangeBatch, 12, Shape::kFilter},
    Child{Shape::kChangeBatch, 13, Shape::kFilter},
    Child{Shape::kItemChange, 7, Shape::kUnitRegister},
    Child{Shape::kUnitRegister, 5, Shape::kValue},
    Child{Shape::kValue, 7, Shape::kValueList},
    Child{Shape::kValueList, 1, Shape::kListMember},
    Child{Shape::kListMember, 7, Shape::kForbidden},
    Child{Shape::kBatchReport, 9, Shape::kItemFailure},
    Child{Shape::kBatchReport, 10, Shape::kLeaf},
    Child{Shape::kItemFailure, 2, Shape::kLeaf},
    Child{Shape::kRangeAnswers, 1, Shape::kLeaf},
    Child{Shape::kComparedReplica, 1, Shape::kLeaf},
    Child{Shape::kComparedReplica, 2, Shape::kLeaf},
    Child{Shape::kSchema, 2, Shape::kItemType},
    Child{Shape::kSchema, 3, Shape::kLeaf},
    Child{Shape::kItemType, 5, Shape::kLeaf},
    Child{Shape::kComparedReplica, 25, Shape::kFilter},
};

std::optional<Shape> child_shape(Shape parent, std::uint64_t field) {
  for (const Child& child : kChildren) {
    if (child.parent == parent && child.field == field) return child.shape;
  }
  return std::nullopt;
}

Status cut_short() { return {StatusCode::kCorruption, "cut short or not a message"}; }

std::optional<std::uint64_t> take_varint(ByteView& rest) {
  std::uint64_t value = 0;
  for (int shift = 0; shift < 64 && !rest.empty(); shift += 7) {
    const std::uint8_t byte = rest.front();
    rest = rest.subspan(1);
    value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
  return std::nullopt;
}

class PartCounter {
 public:
  Status count(ByteView rest, Shape shape) {
    while (!rest.empty()) {
      const auto tag = take_varint(rest);
      if (!tag) return cut_short();
      std::optional<std::uint64_t> size = 0;
      switch (*tag & 7) {
        case 0:
          if (!take_varint(rest)) return cut_short();
          continue;
        case 1:
          size = 8;
          break;
        case 2:
          size = take_varint(rest);
          break;
        case 3:  // the fields of an unknown group are looked at as if they stood outside it
        case 4:
          continue;
        case 5:
          size = 4;
          break;
        default:
          return cut_short();
      }
      if (!size || *size > rest.size()) return cut_short();
      const ByteView content = rest.first(static_cast<std::size_t>(*size));
      rest = rest.subspan(content.size());
      const auto child = (*tag & 7) == 2 ? child_shape(shape, *tag >> 3) : std::nullopt;
      if (!child) continue;
      if (*child == Shape::kForbidden) return {StatusCode::kCorruption, "a list in a list"};
      if (++parts_ > limits::kMessagePartsMax) {
        return {StatusCode::kLimitExceeded, "more than " + std::to_string(limits::kMessagePartsMax) + " submessages"};
      }
      if (*child != Shape::kLeaf) HARMONICA_RETURN_IF_ERROR(count(content, *child));
    }
    return {};
  }

 private:
  std::size_t parts_ = 0;
};

}  // namespace

Status check_message_parts(ByteView message, MessageKind kind) {
  return PartCounter().count(message, kind == MessageKind::kRequest ? Shape::kRequest : Shape::kResponse);
}

}  // namespace harmonica::wire
