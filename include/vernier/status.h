// Errors as values. Nothing in vernier throws across a function boundary. A mismatch is data (a
// verdict), never a Status.
#pragma once

#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace vernier {

/// Why an operation failed. The command line maps each code to one exit code (docs/exit-codes.md).
/// The numbers are part of the C boundary (vn_status) and never change.
enum class StatusCode : int {
  kOk = 0,
  kInvalidArgument = 1,  ///< an option's value or combination cannot be used (exit 2)
  kNotFound = 2,         ///< a name that the model does not have (exit 1)
  kMalformed = 3,        ///< a model, input or result file is missing or malformed (exit 3)
  kUnavailable = 4,      ///< a backend is not installed or not usable here (exit 5)
  kUnimplemented = 5,    ///< recognised, but this build or backend cannot do it (exit 5)
  kBackend = 6,          ///< a backend failed, crashed or hung (exit 6)
  kIo = 7,               ///< something could not be written (exit 7)
  kCancelled = 8,        ///< interrupted by the user (exit 128 + signal)
  kInternal = 9,         ///< a defect of vernier (exit 70)
};

/// The result of an operation that returns nothing. Default-constructed, it means success.
class [[nodiscard]] Status {
 public:
  Status() = default;
  /// `message` is one sentence without a final full stop: what is wrong, where, the offending value
  /// in quotes, and what to do.
  Status(StatusCode code, std::string message) : code_(code), message_(std::move(message)) {}

  bool ok() const { return code_ == StatusCode::kOk; }
  StatusCode code() const { return code_; }
  const std::string& message() const { return message_; }

  /// Prefixes the message of an error with the operation: "opening 'm.onnx': <message>". No effect
  /// on success.
  Status Annotate(std::string_view doing) && {
    if (!ok()) message_ = std::string(doing) + ": " + message_;
    return std::move(*this);
  }

 private:
  StatusCode code_ = StatusCode::kOk;
  std::string message_;
};

inline Status InvalidArgument(std::string m) {
  return {StatusCode::kInvalidArgument, std::move(m)};
}
inline Status NotFound(std::string m) { return {StatusCode::kNotFound, std::move(m)}; }
inline Status Malformed(std::string m) { return {StatusCode::kMalformed, std::move(m)}; }
inline Status Unavailable(std::string m) { return {StatusCode::kUnavailable, std::move(m)}; }
inline Status Unimplemented(std::string m) { return {StatusCode::kUnimplemented, std::move(m)}; }
inline Status BackendError(std::string m) { return {StatusCode::kBackend, std::move(m)}; }
inline Status IoError(std::string m) { return {StatusCode::kIo, std::move(m)}; }
inline Status Cancelled(std::string m) { return {StatusCode::kCancelled, std::move(m)}; }
inline Status Internal(std::string m) { return {StatusCode::kInternal, std::move(m)}; }

/// A value, or the Status that says why there is none. Reading the value of an error aborts the
/// process, and so does making a Result from a Status that is ok.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}  // NOLINT: implicit on purpose
  Result(Status status) : status_(std::move(status)) {
    if (status_.ok()) std::abort();
  }

  bool ok() const { return value_.has_value(); }
  /// Success if there is a value.
  const Status& status() const& { return status_; }
  Status status() && { return std::move(status_); }

  T& operator*() & { return Checked(); }
  const T& operator*() const& { return const_cast<Result*>(this)->Checked(); }
  T&& operator*() && { return std::move(Checked()); }
  T* operator->() { return &Checked(); }
  const T* operator->() const { return &const_cast<Result*>(this)->Checked(); }

  /// As Status::Annotate().
  Result Annotate(std::string_view doing) && {
    if (!ok()) status_ = std::move(status_).Annotate(doing);
    return std::move(*this);
  }

 private:
  T& Checked() {
    if (!value_) std::abort();
    return *value_;
  }

  Status status_;
  std::optional<T> value_;
};

/// Returns from the enclosing function if `expr`, a Status, is an error.
#define VERNIER_TRY(expr)                                                           \
  do {                                                                              \
    if (::vernier::Status vn_status_ = (expr); !vn_status_.ok()) return vn_status_; \
  } while (0)

#define VERNIER_CONCAT_INNER(a, b) a##b
#define VERNIER_CONCAT(a, b) VERNIER_CONCAT_INNER(a, b)
/// Declares or assigns `decl` from the value of `expr`, a Result; returns its Status if it is an
/// error. Expands to several statements, so it cannot be the body of an `if` without braces.
#define VERNIER_ASSIGN_OR_RETURN(decl, expr)                         \
  auto VERNIER_CONCAT(vn_result_, __LINE__) = (expr);                \
  if (!VERNIER_CONCAT(vn_result_, __LINE__).ok())                    \
    return std::move(VERNIER_CONCAT(vn_result_, __LINE__)).status(); \
  decl = *std::move(VERNIER_CONCAT(vn_result_, __LINE__))

}  // namespace vernier
