// The words of each run of a batch.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "batch/find_models.h"
#include "vernier/status.h"

namespace vernier {

/// The words of `run` for one model.
struct RunWords {
  std::vector<std::string> words;
  std::string record;  ///< where the options have the record saved; empty: nowhere
};

/// The words for one model: `options` with {stem} replaced, and with the stem in every
/// path that something is saved to and that has no {stem} of its own: "out.json" becomes
/// "STEM-out.json", a folder "DIR" becomes "DIR/STEM". kInvalidArgument when `options` cannot be
/// parsed, name a model themselves, or a backend that is not there.
Result<RunWords> RunWordsFor(const BatchModel& model, std::span<const std::string> options);

}  // namespace vernier
