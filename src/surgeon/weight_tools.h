// Weights of a model made sparse, taken out of it, and put back as stand-ins; each step is logged
// in Polygraphy's words.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "model/onnx/replaced_values.h"
#include "surgeon/editable_model.h"
#include "util/log/log.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

/// New values for initializers of the main graph.
class ReplacedWeights {
 public:
  using Values = std::unordered_map<std::string, Tensor>;  ///< by name

  ReplacedWeights() = default;
  explicit ReplacedWeights(Values values) : values_(std::move(values)) {}

  /// For EditableModel::Save; views into this.
  std::vector<ReplacedValues> Of(const OnnxModel& model) const;

 private:
  Values values_;
};

/// Reports of each weight that could be 2:4 sparse whether it is. The names of those that are, as
/// views into model.now(). Errors of EditableModel::ValuesOf.
Result<std::unordered_set<std::string_view>> FindSparseWeights(const EditableModel& model,
                                                               Logger& log);

/// Makes every weight 2:4 sparse that can be. Errors of EditableModel::ValuesOf.
Result<ReplacedWeights> PruneWeights(EditableModel& model, Logger& log);

struct WeightStripPlan {
  std::optional<std::string> exclude_list;  ///< a file with the name of one initializer per line
};

/// The names in the plan's file. kNotFound, kIo.
Result<std::set<std::string>> ReadExcludeList(const WeightStripPlan& plan);

/// Empties the weights that TensorRT can refit, but those of `exclude`; one that is not there is
/// warned of.
Status StripWeights(EditableModel& model, std::set<std::string> exclude, Logger& log);

/// Fills what StripWeights emptied with random values, the same each time, sparse where they were.
Result<ReplacedWeights> ReconstructWeights(EditableModel& model, Logger& log);

}  // namespace vernier
