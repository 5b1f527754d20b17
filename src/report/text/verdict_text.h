// A record's verdict in one sentence, as every kind of report begins.
#pragma once

#include <string>
#include <string_view>

#include "vernier/run_record.h"

namespace vernier {

enum class Outcome : uint8_t {
  kMatched,     ///< everything that was requested was done and agrees
  kMismatched,  ///< something differs
  kIncomplete,  ///< nothing differs, but less was compared, or done, than requested
  kNoVerdict,   ///< nothing was to be compared
};

struct VerdictText {
  Outcome outcome = Outcome::kNoVerdict;
  std::string sentence;        ///< "3 of 41 outputs do not match."
  bool shows_nothing = false;  ///< of kMatched: no agreement means anything
};

/// Agrees with the record's exit code: only kMatched and kNoVerdict have 0.
VerdictText DecideVerdict(const RunRecord& record);

/// "matched", "mismatched", "incomplete", "no verdict".
std::string_view OutcomeName(Outcome outcome);

/// "passed", "failed" or "not verified": of the values.
std::string_view OutputVerdict(const OutputRecord& output);
/// The same in its pair, where --same-type or --strict may fail what agrees, for its type.
std::string_view OutputVerdict(const PairRecord& pair, const OutputRecord& output);

/// On both sides.
bool HoldsIntegers(const OutputRecord& output);

/// An absolute difference: a whole number where both sides are integers, else to `digits`.
std::string FormatError(double error, const OutputRecord& output, int digits = 5);

/// The largest relative difference, to `digits`; "0/0" where an element is 0 on both sides of types
/// that have no relative difference then. "-" where it is not known.
std::string FormatRelativeError(const OutputRecord& output, int digits = 5);

/// ", the worst 12.5 times over": how far the worst element is out of tolerance. What is over an
/// error bound may be another quantity, so that with one the element itself has to be known; empty
/// where it is not.
std::string DescribeWorstElement(const OutputRecord& output);

/// By which of its quantities an output is over its error bound (--tolerance auto): the numbers of
/// elements need not show it. Empty where it is not.
std::string DescribeBound(const OutputRecord& output);

/// Why an output did not pass, in one line: elements out of tolerance and the worst, what is over
/// its error bound, the metrics that failed, or why nothing could be said; with --check-average the
/// means that failed. Empty for one that passed.
std::string DescribeFailure(const OutputRecord& output);
/// The same in its pair: the types where they are what fails.
std::string DescribeFailure(const PairRecord& pair, const OutputRecord& output);

/// Who the accuracy of a profile is measured against.
std::string ReferenceOf(const ProfileRecord& profile);

}  // namespace vernier
