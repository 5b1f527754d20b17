// Which tensors become a model's outputs: --onnx-outputs, --onnx-outputs-by-type and
// --onnx-exclude-outputs, in this order, as Polygraphy applies them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/onnx/onnx_model.h"
#include "util/log/log.h"
#include "vernier/status.h"

namespace vernier {

struct OnnxOutputOptions {
  std::optional<std::vector<std::string>> outputs;  ///< names and patterns; "*", or "mark" "all"
  std::optional<std::vector<std::string>> by_type;  ///< operator types, in any case
  std::optional<std::vector<std::string>> exclude;  ///< names and patterns
  bool skips_unknown_types = false;                 ///< logged as errors, and no more than that

  bool empty() const { return !outputs && !by_type && !exclude; }
};

/// Whether the values of --onnx-outputs mean every tensor: a single "*", or the words "mark" "all".
bool MeansAllOutputs(const std::vector<std::string>& outputs);

/// Every tensor that can be marked: the outputs of the main graph's nodes in the file's order, each
/// once, without those of Constant nodes.
std::vector<std::string_view> MarkableTensors(const OnnxModel& model);

/// The names of the model's outputs after the options, views into the model. Names that a pattern
/// matches come in the file's order. A name that exists counts as itself even if it holds the
/// characters of a pattern (Polygraphy would take "a[0]" for a pattern).
/// A pattern without a match is a warning, an unknown operator type an error in the log; kNotFound
/// for a name that the model does not have and when no output remains.
Result<std::vector<std::string_view>> SelectOnnxOutputs(const OnnxModel& model,
                                                        const OnnxOutputOptions& options,
                                                        Logger& logger);

}  // namespace vernier
