// Which models a batch runs.
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

}  // namespace vernier
