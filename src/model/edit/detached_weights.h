// A model without its weights, for tools that need only the structure; the weights are put back
// into what they return, and are never loaded.
#pragma once

#include <string>
#include <vector>

#include "model/onnx/external_data.h"
#include "model/onnx/onnx_model.h"
#include "model/onnx/replaced_values.h"
#include "vernier/status.h"

namespace vernier {

struct DetachedModel {
  std::vector<std::byte> bytes;  ///< a whole ONNX file
  std::string prefix;            ///< of the locations of emptied tensors; new for each call
};

/// `model` with each initializer of 1 KiB or more emptied: its data become external, in a "file"
/// whose name says where the values are in the model's own file. Smaller ones, which shapes may
/// depend on, are put in, also where they were external. Larger external ones stay as they are.
/// `external` is what CheckExternalData said, with the same options; null: leave all as it is.
/// kMalformed and kIo where external data cannot be read.
Result<DetachedModel> DetachWeights(const OnnxModel& model, const ExternalDataReport* external,
                                    const ExternalDataOptions& options);

/// The values of every tensor of `result` that was emptied: views into `original`. kBackend when a
/// tensor names a place that is not there, which DetachWeights did not write.
Result<std::vector<ReplacedValues>> AttachWeights(const OnnxModel& result,
                                                  const OnnxModel& original,
                                                  const std::string& prefix);

}  // namespace vernier
