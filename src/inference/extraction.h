// A part of a model, written as a model of its own.
#pragma once

#include <string>

#include "model/edit/onnx_extract.h"
#include "model/edit/onnx_save.h"
#include "model/onnx/onnx_model.h"
#include "util/log/log.h"
#include "vernier/status.h"

namespace vernier {

struct ExtractionPlan {
  ExtractPlan extract;
  std::string path;        ///< of the model
  bool as_in_file = true;  ///< it was not changed after it was read
  std::string output;      ///< where the part goes
  SaveOnnxOptions save = {};
};

/// Extracts the part from `model`, logs both, and writes the part. As it is in the file, weights go
/// from there to the new file, and are never in memory. Errors of ExtractModel and SaveOnnx;
/// kMalformed where the file changed meanwhile.
Status ExtractPart(const OnnxModel& model, const ExtractionPlan& plan, Logger& log);

}  // namespace vernier
