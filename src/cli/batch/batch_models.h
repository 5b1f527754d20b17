// Which models a batch runs, and the words of each run.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "vernier/status.h"

namespace vernier {

struct BatchModel {
  std::string path;
  std::string stem;  ///< file name without extension; with a number where several have it
};

/// The files that the words name: paths, and patterns that a shell did not expand (* ? [ ]), each
/// pattern's in the order of their names, none twice. kMalformed for a word that names nothing, or
/// a folder of ONNX models, which would have to be searched.
Result<std::vector<BatchModel>> FindBatchModels(std::span<const std::string> words);

/// What `run` is told for one model.
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
