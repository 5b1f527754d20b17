// Finds inputs that look like states but are not fed back, by their names, types and shapes.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "run/steps/state_pairs.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

/// Where nothing is fed back at all: kInvalidArgument, with the words to type, for an input that
/// is not `driven` either, if an output that could be its next value is called like it (two axes or
/// more, or a state's name such as "past").
Status CheckNoStateStays(const RunnerSides& runner, std::span<const std::string> driven);

/// Words of --feed-back, "y:c or z:c", for outputs that feed nothing and have the type and shape of
/// the input (two axes or more), whatever they are called. Empty: there is none, or nothing is fed
/// back at all.
std::string WordsToFeed(const TensorInfo& input, const RunnerSides& runner,
                        std::span<const StatePair> pairs);

/// The outputs of a model that are not marked, where that is known: tensors within it have the type
/// and shape of a state often.
std::vector<TensorInfo> OwnOutputs(const RunnerSides& runner);

/// Does a runner leave open what shape an input or output has? Axes without a name do, and those
/// with one that no input has: exporters make some up.
bool HasOpenShapes(const RunnerSides& runner);

/// Whether an output of this name can only be the next value of something: "new_x", "present.0".
bool IsNewName(std::string_view output);

}  // namespace vernier
