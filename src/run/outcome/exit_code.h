// The outcome of a run, and the only table of exit codes.
#pragma once

#include <string>

#include "vernier/status.h"

namespace vernier {

/// The exit codes of what went wrong.
inline constexpr int kMismatchCode = 1, kUsageCode = 2, kMalformedCode = 3, kIncompleteCode = 4,
                     kUnavailableCode = 5, kBackendCode = 6, kUnsavedCode = 7, kInternalCode = 70;

/// Everything that went wrong in a run. Several may hold at once.
struct RunFaults {
  bool mismatch = false;     ///< a comparison or --validate failed, or a name is not in the model
  bool backend = false;      ///< a backend failed, crashed or hung
  bool unavailable = false;  ///< a named backend is not installed or not usable
  bool incomplete = false;   ///< less was compared than was asked for
  bool unsaved = false;      ///< something asked to be saved was not
  bool malformed = false;    ///< a model, input or result file is missing or malformed
  bool usage = false;        ///< the command line cannot be carried out
  bool internal = false;     ///< a defect of vernier
  int signal = 0;            ///< the run was ended by this signal

  void Add(const Status& status);
  void Add(const RunFaults& others);
  bool any() const;
};

/// 0 when nothing went wrong; else the first of 128 + signal, 70, 2, 1, 6, 5, 4, 7 and 3 that
/// holds. Called as Polygraphy, every fault but a signal is 1.
int ExitCode(const RunFaults& faults, bool as_polygraphy);

/// The error with which another vernier ended; kBackend for a code that no error has alone, such as
/// that of a mismatch or a signal. `code` is not 0.
Status ErrorOfExitCode(int code, std::string text);

/// The code of what ended with `code`, and left something unsaved after that.
int WithUnsaved(int code, bool as_polygraphy);

}  // namespace vernier
