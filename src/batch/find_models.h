// Which models a batch runs.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "vernier/status.h"

namespace vernier {

struct BatchModel {
  std::string path;
  /// File name without extension. Where several models have it, each has its folder before it:
  /// "x__model", "y__model"; those of one folder have their extension, "model.onnx".
  std::string stem;
};

/// The files that the words name: paths, and patterns that a shell did not expand (* ? [ ]), each
/// pattern's in the order of their names, none twice. kMalformed for a word that names nothing, for
/// a folder of ONNX models, which would have to be searched, and for models that cannot be named
/// apart.
Result<std::vector<BatchModel>> FindBatchModels(std::span<const std::string> words);

}  // namespace vernier
