#include "run/outcome/exit_code.h"

#include <utility>

namespace vernier {

void RunFaults::Add(const Status& status) {
  switch (status.code()) {
    case StatusCode::kOk:
      break;
    case StatusCode::kInvalidArgument:
      usage = true;
      break;
    case StatusCode::kNotFound:
      mismatch = true;
      break;
    case StatusCode::kMalformed:
      malformed = true;
      break;
    case StatusCode::kUnavailable:
    case StatusCode::kUnimplemented:
      unavailable = true;
      break;
    case StatusCode::kBackend:
      backend = true;
      break;
    case StatusCode::kIo:
      unsaved = true;
      break;
    case StatusCode::kCancelled:
      break;  // `signal` says which
    case StatusCode::kInternal:
      internal = true;
      break;
  }
}

void RunFaults::Add(const RunFaults& others) {
  mismatch |= others.mismatch;
  backend |= others.backend;
  unavailable |= others.unavailable;
  incomplete |= others.incomplete;
  unsaved |= others.unsaved;
  malformed |= others.malformed;
  usage |= others.usage;
  internal |= others.internal;
  if (others.signal != 0) signal = others.signal;
}

bool RunFaults::any() const {
  return mismatch || backend || unavailable || incomplete || unsaved || malformed || usage ||
         internal || signal != 0;
}

int ExitCode(const RunFaults& faults, bool as_polygraphy) {
  if (faults.signal != 0) return 128 + faults.signal;
  int code = 0;
  if (faults.malformed) code = kMalformedCode;
  if (faults.unsaved) code = kUnsavedCode;
  if (faults.incomplete) code = kIncompleteCode;
  if (faults.unavailable) code = kUnavailableCode;
  if (faults.backend) code = kBackendCode;
  if (faults.mismatch) code = kMismatchCode;
  if (faults.usage) code = kUsageCode;
  if (faults.internal) code = kInternalCode;
  // Polygraphy's errors about values that it could parse end in 1.
  if (as_polygraphy && code != 0) return kMismatchCode;
  return code;
}

Status ErrorOfExitCode(int code, std::string text) {
  switch (code) {
    case kUsageCode:
      return InvalidArgument(std::move(text));
    case kMalformedCode:
      return Malformed(std::move(text));
    case kUnavailableCode:
      return Unavailable(std::move(text));
    case kUnsavedCode:
      return IoError(std::move(text));
    case kInternalCode:
      return Internal(std::move(text));
    default:
      return BackendError(std::move(text));
  }
}

int WithUnsaved(int code, bool as_polygraphy) {
  const int unsaved = ExitCode({.unsaved = true}, as_polygraphy);
  const int outranked = ExitCode({.malformed = true}, as_polygraphy);
  return code == 0 || code == outranked ? unsaved : code;
}

}  // namespace vernier
