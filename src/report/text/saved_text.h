// What files of saved tensors and of accuracy results hold, in the words of Polygraphy's
// `inspect data`.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "compare/functions/accuracy_results.h"
#include "report/text/numpy_text.h"
#include "vernier/tensor.h"

namespace vernier {

struct SavedTextOptions {
  bool statistics = true;
  bool histogram = false;
  bool values = false;
  NumpyPrintOptions print;
};

/// One iteration's tensors, one line each and what the options add, `level` steps to the right.
/// Every line comes after a newline.
std::string FormatSavedTensors(const TensorMap& tensors, const SavedTextOptions& options,
                               size_t level);

/// "\n-- Iteration: 3".
std::string FormatIterationTitle(size_t iteration);

/// All functions, pairs and outputs with their metrics: of the first iterations, or of all.
std::string FormatSavedAccuracy(const AccuracyResults& results, bool all_iterations);

}  // namespace vernier
