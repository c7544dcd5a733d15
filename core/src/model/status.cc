#include "harmonica/status.h"

namespace harmonica {

std::string_view to_text(StatusCode code) {
  switch (code) {
    case StatusCode::kOk:
      return "ok";
    case StatusCode::kInvalidArgument:
      return "invalid_argument";
    case StatusCode::kNotFound:
      return "not_found";
    case StatusCode::kCorruption:
      return "corruption";
    case StatusCode::kUnsupported:
      return "unsupported";
    case StatusCode::kIo:
      return "io";
    case StatusCode::kUnavailable:
      return "unavailable";
    case StatusCode::kUnauthenticated:
      return "unauthenticated";
    case StatusCode::kPermissionDenied:
      return "permission_denied";
    case StatusCode::kClockSkew:
      return "clock_skew";
    case StatusCode::kScopeMismatch:
      return "scope_mismatch";
    case StatusCode::kGuard:
      return "guard";
    case StatusCode::kLimitExceeded:
      return "limit_exceeded";
    case StatusCode::kCancelled:
      return "cancelled";
    case StatusCode::kInternal:
      return "internal";
  }
  return "unknown";
}

Status::Status(StatusCode code, std::string message) : code_(code), message_(std::move(message)) {
  HARMONICA_ASSERT(code != StatusCode::kOk);
}

std::string Status::to_text() const {
  std::string text(harmonica::to_text(code_));
  if (!message_.empty()) text.append(": ").append(message_);
  return text;
}

Status Status::within(std::string_view context) const {
  if (ok()) return *this;
  return Status(code_, std::string(context).append(": ").append(message_));
}

}  // namespace harmonica
