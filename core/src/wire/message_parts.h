// How many submessages a message has, found out before any of them is built.
#pragma once

#include <cstdint>

#include "harmonica/bytes.h"
#include "harmonica/status.h"

namespace harmonica::wire {

enum class MessageKind : std::uint8_t { kRequest, kResponse };

// limit_exceeded: more submessages than limits.h allows. corruption: a list in a list, or not a message at all; bytes that
// pass may still be no message.
Status check_message_parts(ByteView message, MessageKind kind);

}  // namespace harmonica::wire
