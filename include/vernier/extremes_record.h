// How runners handled extreme inputs, as plain data.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace vernier {

/// An output whose comparison shows nothing with any set.
struct IdleOutput {
  std::string name, why;
};

/// The outputs of one runner for one set of inputs, counted over all of them.
struct ExtremeAnswer {
  std::string set;  ///< "denormals"
  std::string runner;
  std::string failure;  ///< why there is no answer; empty: there is one
  int64_t elements = 0;
  int64_t nan = 0, infinite = 0;
  int64_t denormal = 0, zero = 0;
  // Against the first runner that answered, element by element.
  int64_t compared = 0;  ///< 0 for the first runner itself
  std::string beside;    ///< whose outputs these were compared with; empty for that runner
  int64_t only_here_not_finite = 0;  ///< NaN or infinite here, finite there
  int64_t only_here_finite = 0;
  int64_t other_kind = 0;   ///< NaN against infinity, or infinities of other signs
  int64_t flushed = 0;      ///< zero here, denormal there
  int64_t kept = 0;         ///< denormal here, zero there
  int64_t other_value = 0;  ///< finite on both sides, and farther apart than 1 %
  int64_t other_exact = 0;  ///< of integers, booleans and strings: not equal
  int64_t other_sign = 0;   ///< zero on both sides, of other signs
  std::string output;       ///< the first output with a difference in what is finite
  /// Complex, no tensors, or without a counterpart of that shape.
  std::vector<std::string> not_compared;

  bool disagrees() const { return only_here_not_finite + only_here_finite > 0; }
};

struct ExtremeRunner {
  std::string name, backend, framework_version;
  std::string failure;  ///< why it did not run
  bool unavailable = false;
};

struct ExtremesRecord {
  std::string version, command;
  std::vector<ExtremeRunner> runners;
  std::vector<ExtremeAnswer> answers;           ///< set by set, in each the runners in their order
  std::vector<std::string> not_tried;           ///< sets whose values no input's type has
  std::vector<std::string> integers_kept = {};  ///< inputs whose limits no set tried
  std::string sizes_found = {};  ///< for free dimensions, which do not run at 1; empty: not so
  int64_t outputs = 0;           ///< that were compared
  std::vector<IdleOutput> shows_nothing = {};  ///< of them
  bool inputs_are_empty = false;  ///< there are float inputs, but they have no elements

  /// Do all answers have the same elements finite?
  bool agree() const;
  /// True if several runners answered but no elements were compared.
  bool compared_nothing() const;
  /// Did runners answer, and no output had an element?
  bool counted_nothing() const;
};

/// JSON with a schema_version.
std::string ToJson(const ExtremesRecord& record);

}  // namespace vernier
