// How random feeds are drawn, in addition to the words of the command line: the ranges that a
// model's graph demands, and a sample that is imitated.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "inputs/dim_sizes.h"
#include "inputs/random_feeds.h"
#include "model/shapes/onnx_shapes.h"
#include "util/log/log.h"
#include "vernier/run_plan.h"
#include "vernier/status.h"

namespace vernier {

/// What the plan says of sizes beside shapes: views into it.
KnownSizes KnownSizesOf(const RunPlan& plan);

/// Adds to `options` what plan.inputs.from_graph and plan.inputs.like ask for, and the shapes that
/// follow from sizes of dimensions (CompleteShapes), and says what and why. A range or shape that
/// the user gave for an input stays. kUnimplemented where ranges are to come from a model that is
/// not ONNX; kMalformed for a sample that cannot be read, or lacks an input (with plan.lenient a
/// warning), and the errors of CompleteShapes.
Status AddFeedSources(const RunPlan& plan, std::span<const TensorInfo> inputs,
                      RandomFeedOptions& options, Logger& logger);

/// The sizes that the words of --input-shapes, or of another `flag` like it, give to inputs: those
/// of the first feed; with `known` also those that follow. Inputs whose elements a word gives
/// instead are left out. kMalformed for a word about no input, and for a shape that leaves sizes
/// open or does not fit.
Result<std::vector<InputDims>> GivenSizes(std::string_view flag, std::span<const std::string> words,
                                          std::span<const TensorInfo> inputs,
                                          const KnownSizes& known = {{}, {}, false});

/// The shapes of all feeds, where they are random ones whose shapes the plan lists:
/// "x:[1,-1,3];y:[2]", with -1 for a size in which they differ. Inputs whose elements are given are
/// left out. Empty where that is not known before the first feed.
std::string ListedFeedShapes(const RunPlan& plan, std::span<const TensorInfo> inputs);

}  // namespace vernier
