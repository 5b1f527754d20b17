// What the fake backend is told to do: words `key=value` from $VERNIER_FAKE, or from the option
// `behaviour`, which goes before the variable.
//
//   crash=SIGSEGV|SIGFPE|SIGABRT|SIGBUS|SIGILL|SIGKILL|stack_overflow|double_free|exit=STATUS
//   hang=1            stays for ever, deaf to SIGTERM
//   sleep=MS          goes on after that long
//   flood=stdout|stderr, bytes=N
//   say=WORD          a line on standard error
//   log=WORD          a line of the log
//   fail=CODE         a status with that code; with fails_at=K in run K of a session alone, while
//                     all runs are noted
//   scribble=garbage|huge|partial    writes on the worker's own connection
//   orphan=1          leaves a child process behind that holds everything open, then goes on
//   chatter=1         logs from a thread of its own until the session is closed
//   lie=KIND          see below
//   ahead=MS          asks for the inputs of the next run, until they are here or so much time has
//                     gone by, says so, and fails if they are told twice or that run has others
//   noise=X           sessions with options give float32 outputs that are off by the share X, up
//                     and down by turns; off=Y: those without, from the second on
//
//   stage=query|create|open|signature|info|run|close|destroy    where; default run
//   iteration=K       only in this run of a session, counted from 0; default: every run
//   session=N         only in the session that was opened as the N-th, counted from 0
//   model=TEXT        only in sessions of models with TEXT in their path
//   note=PATH         appends "stage monotonic-nanoseconds" to PATH just before it happens
//
// What it says of itself, from $VERNIER_FAKE alone; nothing of it otherwise:
//   rank=N            its rank as a reference
//   neutral=1         the option `order` with the neutral values 2 and 1, and an environment
//                     FAKE_ORDER=2; also with `noise`
//   layers=1          the options `layer_times` and `layer_names`: sessions write files of two
//                     layers
//   alone=1           the option `alone`; a session that is given it logs that
//   means=1           the options `workers` (threads), `sizes` (shapes of feeds), `method`
//   (resets),
//                     `place` (of the library) and `words` (where warnings go); all log what they
//                     are given, as "workers=2"
//   formats=A,B       the models that it opens
//   traits=N          VN_TRAIT_*
//
// The lies, at stage run unless said otherwise:
//   short, huge, no_data    byte_size too small, a tebibyte, or right without data
//   dtype, unknown_dtype, lanes, device    another type than declared, or none that exists
//   rank, no_shape, negative, overflow     impossible shapes
//   strings                 a string tensor whose offsets point outside
//   nan                     every float is NaN (in form an honest answer)
//   more, fewer, none, null, renamed, twice    not the outputs of the signature
//   skipped                 hands over no tensor but the reason (honest)
//   write_input             writes into its input
//   three                   fails where the first dimension is 3
// float32 outputs that are wrong in some circumstances:
//   wrong, process          by 1, and by a number of the process
//   rows, batch             every row by its place, and the first element by the number of rows
//   misaligned              where an input does not begin at a multiple of `align` (64)
//   unwritten               the last element is never written; it is made in the host's memory
//   uninitialised           by what fresh memory holds
//   own                     small outputs are not made in the host's memory (honest)
//   own_unwritten           the same, and larger ones are `unwritten`
//   bad_code                a status with a code that does not exist
// at stage query: null_table, other_major, null_slot, short_table; old_table, that of 1.3,
// and table_of_7, that of 1.7 (both honest)
// at stage create: no_backend; at stage open: no_session
// at stage signature: endless, rank, no_shape
// at stage info: endless (outputs that were not exposed never end)
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
