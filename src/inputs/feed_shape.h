// Which shape, or which values, the random loader gives an input.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "inputs/shape_spec.h"
#include "inputs/strictness.h"
#include "util/log/log.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

/// A line for the log that is written when a feed is made.
struct FeedNote {
  Severity severity = Severity::kWarning;
  std::string text;
  bool once = false;
};

/// How one input of a feed is made.
struct FeedShape {
  Dims dims;
  /// The elements themselves, for inputs that hold a shape; nothing is drawn then.
  std::optional<std::vector<int64_t>> values;
  std::vector<FeedNote> notes;
};

/// The shape of `input` as the model declares it, overridden by `user` where there is one:
/// - A fixed shape of the same rank that agrees in all fixed dimensions is taken.
/// - If the input is a fixed list of integers, a fixed shape of as many dimensions as the list has
///   elements gives its values. Only a spec with the input's own name does that, not a pattern.
/// - Any other is kMalformed, with what was expected and found; kPolygraphy warns and keeps the
/// model's. Dimensions still dynamic become 1, with a warning. kMalformed when the rank is unknown.
/// `flag` is where the user's shape was given.
Result<FeedShape> ResolveFeedShape(const TensorInfo& input, const ShapeSpec* user,
                                   Strictness strictness, std::string_view flag = "--input-shapes");

}  // namespace vernier
