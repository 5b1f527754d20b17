// `--val-range`: the bounds between which input values are drawn.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "util/text/cast_grammar.h"
#include "vernier/status.h"

namespace vernier {

/// A bound as it was written: "0" is an integer, "0.0", "inf" and "nan" are floats.
using RangeBound = std::variant<WideInt, double>;

struct ValueRange {
  RangeBound low = 0.0;
  RangeBound high = 1.0;
};

/// The range of one input, or of every input without one when the name is empty.
struct NamedRange {
  std::string name;
  ValueRange range;
};

/// Reads words such as `[0,1]` and `name:[-1.5,inf]`; the last range of a repeated name counts.
/// kInvalidArgument when a word is not two numbers in brackets.
Result<std::vector<NamedRange>> ParseValueRanges(std::span<const std::string> words);

/// Errors of ParseValueRanges(), and kInvalidArgument for what Polygraphy takes, and feeds what
/// NumPy makes of it: a bound that is infinite or NaN, one that is above the other, brackets that
/// do not close.
Status CheckValueRanges(std::span<const std::string> words);

/// The range for `name`: its own, else the one of the empty name, else [0.0, 1.0].
ValueRange RangeFor(std::span<const NamedRange> ranges, std::string_view name);

/// The bound as a double, rounded to nearest.
double BoundAsDouble(const RangeBound& bound);

/// Python's int(bound): cut off toward zero. nullopt for infinities and NaN. Floats beyond 2^126
/// give 2^126 with their sign, which is beyond every type.
std::optional<WideInt> BoundAsInt(const RangeBound& bound);

/// Python's bool(bound): false for zero only.
bool BoundAsBool(const RangeBound& bound);

/// "[0, 1.5]", as it was written.
std::string FormatRange(const ValueRange& range);

}  // namespace vernier
