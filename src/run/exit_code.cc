#include "run/exit_code.h"

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

int ExitCode(const RunFaults& faults, bool as_peer) {
  if (faults.signal != 0) return 128 + faults.signal;
  int code = 0;
  if (faults.malformed) code = 3;
  if (faults.unsaved) code = 7;
  if (faults.incomplete) code = 4;
  if (faults.unavailable) code = 5;
  if (faults.backend) code = 6;
  if (faults.mismatch) code = 1;
  if (faults.usage) code = 2;
  if (faults.internal) code = 70;
  // Polygraphy's errors about values that it could parse end in 1.
  if (as_peer && code != 0) return 1;
  return code;
}

int WithUnsaved(int code, bool as_peer) {
  const int unsaved = ExitCode({.unsaved = true}, as_peer);
  const int outranked = ExitCode({.malformed = true}, as_peer);
  return code == 0 || code == outranked ? unsaved : code;
}

}  // namespace vernier
