// What the fake backend is told to do: words `key=value` from $VERNIER_FAKE, or from the option
// `behaviour`, which goes before the variable.
//
//   crash=SIGSEGV|SIGFPE|SIGABRT|SIGBUS|SIGILL|SIGKILL|stack_overflow|double_free|exit=STATUS
//   hang=1            stays for ever, deaf to SIGTERM
//   sleep=MS          goes on after that long
//   flood=stdout|stderr, bytes=N
//   say=WORD          a line on standard error
//   log=WORD          a line of the log
//   fail=CODE         a status with that code
//   scribble=garbage|huge|partial    writes on the worker's own connection
//   orphan=1          leaves a child process behind that holds everything open, then goes on
//   chatter=1         logs from a thread of its own until the session is closed
//   lie=KIND          see fake_backend.cc
//   ahead=MS          asks for the inputs of the next run, until they are here or so much time has
//                     gone by, says so, and fails if they are told twice or that run has others
//   noise=X           sessions with options give float32 outputs that are off by the share X, up
//                     and down by turns; off=Y: those without, from the second on
//
// What it says of itself, from $VERNIER_FAKE alone; nothing of it otherwise:
//   rank=N            its rank as a reference
//   neutral=1         the option `order` with the neutral values 2 and 1, and an environment
//                     FAKE_ORDER=2; also with `noise`
//   layers=1          the options `layer_times` and `layer_names`: sessions write files of two
//                     layers
//   alone=1           the option `alone`; a session that is given it logs that
//
//   stage=query|create|open|signature|info|run|close|destroy    where; default run
//   iteration=K       only in this run of a session, counted from 0; default: every run
//   session=N         only in the session that was opened as the N-th, counted from 0
//   model=TEXT        only in sessions of models with TEXT in their path
//   note=PATH         appends "stage monotonic-nanoseconds" to PATH just before it happens
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace fake {

/// Where a call is: what `stage`, `session`, `iteration` and `model` select. -1, or empty: does not
/// apply.
struct Place {
  std::string_view stage;
  int64_t session = -1;
  int64_t iteration = -1;
  std::string_view model = {};
};

class Behaviour {
 public:
  explicit Behaviour(std::string_view words);

  /// The value of a key, empty when it was not given.
  std::string_view Get(std::string_view key) const;
  int64_t Number(std::string_view key, int64_t fallback) const;

  bool IsAt(const Place& place) const;

  /// The lie to tell here, or empty.
  std::string_view LieAt(const Place& place) const;

  /// The line to log here, or empty.
  std::string_view LogAt(const Place& place) const;

  /// How long it sleeps here, in milliseconds.
  int64_t SleepAt(const Place& place) const { return IsAt(place) ? Number("sleep", 0) : 0; }

  /// Crashes, hangs, sleeps, floods or scribbles if this is the place. Returns the code of the
  /// status to fail with, or 0.
  int32_t ActAt(const Place& place) const;

 private:
  void Note(const Place& place) const;
  void Flood() const;

  std::map<std::string, std::string, std::less<>> words_;
};

}  // namespace fake
