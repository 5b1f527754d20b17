// --fp-to-fp16: float32 becomes float16 throughout a model, by editing bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "model/onnx/external_data.h"
#include "model/onnx/onnx_model.h"
#include "model/onnx/replaced_values.h"
#include "model/onnx/wire_patch.h"

namespace vernier {

struct Float16Edit {
  std::vector<WirePatch> patches;
  std::vector<ReplacedValues> values;     ///< weights; narrowed when they are written
  std::shared_ptr<Float16Losses> losses;  ///< complete once all values have been written
  size_t kept_nodes = 0;                  ///< compute in float32, between casts
  std::vector<std::string> out_of_range;  ///< those of them that do for the sake of their weights
  std::vector<std::string> near_zero;     ///< and those for the sake of numbers near zero
  std::vector<std::string> float32_only;  ///< and those of other domains that take no float16
  /// Values at such nodes whose type is not known, so that no cast could be placed. Views into the
  /// model.
  std::vector<std::string_view> untyped;

  bool empty() const { return patches.empty() && values.empty(); }
};

/// Where weights are that the file of the model does not hold.
struct WeightSources {
  const ExternalDataReport* external = nullptr;   ///< slices of model.external_tensors()
  std::span<const ReplacedValues> detached = {};  ///< take precedence
  ExternalDataOptions places = {};                ///< where external data is looked for
};

/// What becomes of finite weights beyond float16's range.
enum class Float16Range : uint8_t {
  kKeepNodes,  ///< nodes that read weights beyond 65504 compute in float32, as do those that read
               ///< a single number too near to zero (BeyondFloat16)
  kSaturate,   ///< weights beyond 65504 become 65504
  kClamp       ///< weights beyond 10000 become 10000, as in Polygraphy
};

/// Nodes of the model's graph, or of bodies in it, that are to compute in float32 all the same. A
/// node that holds bodies or calls a function cannot be one of them.
using Float16Kept = std::unordered_set<const OnnxNode*>;

/// Makes every float32 tensor of the main graph and of the bodies of If, Loop and Scan float16,
/// with these exceptions, as in Polygraphy's result: inputs and `outputs` (the names that are or
/// will be the main graph's) keep their types, behind casts; operators that onnxconverter-common
/// blocks, and those that ONNX does not define for float16 in the model's opset or com.microsoft at
/// all, compute in float32 between casts. Beyond Polygraphy: casts are placed wherever types meet,
/// in bodies too; model-local functions are converted as Float16Functions says, and calls of others
/// keep float32; `to` of Cast follows. Nodes of `kept` stay float32 between casts as well, those
/// that `range` says, and but for kClamp those of KeepFusedTransposes(). kUnimplemented for what
/// cannot be converted: graph inputs and outputs that are sequences of float32, a file that splits
/// its graph, float32 weights that --ignore-external-data leaves out.
Result<Float16Edit> ConvertToFloat16(const OnnxModel& model,
                                     std::span<const std::string_view> outputs,
                                     const WeightSources& sources, const Float16Kept& kept,
                                     Float16Range range);

}  // namespace vernier
