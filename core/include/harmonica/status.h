// Operating errors as values. Nothing in Harmonica throws out of the library.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "harmonica/assert.h"

namespace harmonica {

enum class StatusCode {
  kOk,
  kInvalidArgument,
  kNotFound,
  kCorruption,
  kUnsupported,
  kIo,
  kUnavailable,
  kUnauthenticated,
  kPermissionDenied,
  kClockSkew,
  kScopeMismatch,
  kGuard,
  kLimitExceeded,
  kCancelled,
  kInternal,
};

// The code's name in the words of the documentation, such as "not_found".
std::string_view to_text(StatusCode code);

// The outcome of an operation: ok, or a code and a message. The message names the thing, the value and what to do, in one
// line without a final full stop. Thread-compatible.
class [[nodiscard]] Status {
 public:
  Status() = default;
  // `code` must not be kOk.
  Status(StatusCode code, std::string message);

  bool ok() const { return code_ == StatusCode::kOk; }
  StatusCode code() const { return code_; }
  const std::string& message() const { return message_; }

  // "not_found: bookmarks file /a/b: no such file", or "ok".
  std::string to_text() const;

  // The same code, with `context` and ": " before the message. Ok stays ok.
  Status within(std::string_view context) const;

  friend bool operator==(const Status&, const Status&) = default;

 private:
  StatusCode code_ = StatusCode::kOk;
  std::string message_;
};

// A value, or the error that prevented it. Reading the value of an error is a programmer error. Thread-compatible.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}       // NOLINT(google-explicit-constructor)
  Result(Status error) : status_(std::move(error)) {  // NOLINT(google-explicit-constructor)
    HARMONICA_ASSERT(!status_.ok());
  }

  bool ok() const { return value_.has_value(); }
  const Status& status() const { return status_; }

  T& value() & {
    HARMONICA_ASSERT(ok());
    return *value_;
  }
  const T& value() const& {
    HARMONICA_ASSERT(ok());
    return *value_;
  }
  T&& value() && {
    HARMONICA_ASSERT(ok());
    return *std::move(value_);
  }

  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

 private:
  std::optional<T> value_;
  Status status_;
};

}  // namespace harmonica

// Returns the error of a Status expression to the caller.
#define HARMONICA_RETURN_IF_ERROR(expression)              \
  do {                                                     \
    ::harmonica::Status harmonica_status_ = (expression);  \
    if (!harmonica_status_.ok()) return harmonica_status_; \
  } while (false)

// Declares `declaration` with the value of a Result expression, or returns its error to the caller.
#define HARMONICA_ASSIGN_OR_RETURN(declaration, expression) \
  HARMONICA_ASSIGN_OR_RETURN_AT_(declaration, expression, __LINE__)
#define HARMONICA_ASSIGN_OR_RETURN_AT_(declaration, expression, line) \
  HARMONICA_ASSIGN_OR_RETURN_IN_(declaration, expression, line)
#define HARMONICA_ASSIGN_OR_RETURN_IN_(declaration, expression, line)         \
  auto harmonica_result_##line = (expression);                                \
  if (!harmonica_result_##line.ok()) return harmonica_result_##line.status(); \
  declaration = *std::move(harmonica_result_##line)
