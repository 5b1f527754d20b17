// Which outputs certainly have their positions along the axis of a mask that is fed, by the names
// that ONNX models give their dimensions.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "run/maps/pair_matching.h"
#include "run/runner/model_signatures.h"
#include "vernier/run_plan.h"

namespace vernier {

class InferenceScheduler;

/// Does a tensor [batch, positions, values] or [batch, heads, positions, values] have its positions
/// along the axis of a mask [batch, positions], for sure?
bool LiesAlongMask(const std::vector<Dim>& mask, const std::vector<Dim>& tensor);

class MaskAxes {
 public:
  /// All must outlive it; without `live` (null) nothing is fed.
  MaskAxes(const RunPlan& plan, const InferenceScheduler* live, ModelSignatures& models)
      : plan_(&plan), live_(live), models_(&models) {}

  /// Streams that are compared.
  struct Streams {
    size_t first = 0, second = 0;
  };

  /// Are runners among the two, all of which take this input, and no other in its place or
  /// elsewhere? Those that do not declare their inputs get whole feeds.
  bool IsFed(const std::string& input, const Streams& streams) const;

  /// The outputs of A whose positions are along the mask's axis: a model names the two dimensions
  /// alike, and no other of the output so, nor names the batches differently; and the other's model
  /// does not say otherwise. All runners among the two say that they take the mask, and feed the
  /// output back into none.
  std::vector<std::string> OutputsAlong(const std::string& mask, const Streams& streams,
                                        const MatchedSides& sides);

  /// The outputs of A whose positions may be others than those of tokens that an input gives, or
  /// masks: a runner among the two says so by the names of axes, or says nothing by them, and has
  /// not one input for tokens, but none or several.
  std::vector<std::string> OutputsElsewhere(const std::string& input, const Streams& streams,
                                            const MatchedSides& sides);

 private:
  bool IsElsewhere(const std::string& input, size_t stream, const std::string& output);
  bool HasAxis(const std::vector<TensorInfo>& inputs, size_t stream, const std::string& axis);
  bool IsRunner(size_t stream) const;
  bool Declares(size_t stream, const std::string& input) const;

  const RunPlan* plan_;
  const InferenceScheduler* live_;
  ModelSignatures* models_;
};

}  // namespace vernier
