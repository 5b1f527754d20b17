// How far apart two correct runtimes may be on every tensor of a graph: a model of rounding errors
// that is followed from node to node.
//
// An error is the root mean square of a tensor's differences over the root mean square of its
// values. Rounding is independent from element to element and unbiased, so errors add up as
// variances do, and a sum of K products has one that grows with the square root of K. What the
// model does not know it takes from what is typical: maps that keep the size of errors, and values
// of similar size that meet in a sum. See docs/tolerance.md for the rules and how well they hold.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>

#include "model/onnx/onnx_model.h"
#include "model/rounding/unit_roundoff.h"
#include "model/shapes/onnx_shapes.h"
#include "vernier/tensor.h"

namespace vernier {

/// How a runner computes.
struct RunnerArithmetic {
  DType computes_in = DType::kUndefined;  ///< for all floats; kUndefined: in each tensor's own type
  /// What only copies elements, and layer normalisations, keep to the tensors' own types all the
  /// same: values are rounded on their way in.
  bool copies_in_own_type = false;
  /// Its model is the same without the quantisers of this graph. Where that holds of one side
  /// alone, the other's steps are errors, of the size that well chosen scales make.
  bool unquantised = false;
  /// Computes in floats what operators round to steps within themselves (DynamicQuantizeMatMul and
  /// its like, which are ONNX Runtime's: other runtimes read them as products of floats).
  bool floats_within = false;
};

/// Does the operator round to steps, from them, or compute with weights that are kept in steps?
bool IsQuantiser(std::string_view op_type);

/// Has the graph quantisers, or weights that are kept in steps?
bool HasQuantisers(const OnnxModel& model);

/// What two faultless runners may differ by on one tensor.
struct ErrorPrediction {
  double rms = 0;           ///< bound for the relative error, safety factors included; 0: exact
  double clean = 0;         ///< the same for elements that no flipped step has reached
  double typical = 0;       ///< what is expected of those
  double flipped = 0;       ///< the part of `rms` that flipped steps have made
  double flips = 0;         ///< expected number of steps that differ, of the quantisers before
  double reached = 0;       ///< share of the elements that flips may have reached, at most 1
  double fresh = 0;         ///< share of the elements that flipped and have not spread yet
  int64_t longest_sum = 1;  ///< terms of the longest sum on the way
  int64_t layers = 0;       ///< operators with sums of products, on the longest way
  int64_t quantisers = 0;   ///< on the longest way
  int64_t one_sided = 0;    ///< quantisers and quantised weights that one side alone has, likewise
  int64_t unknown = 0;      ///< operators without a rule, on the longest way
  DType coarsest = DType::kUndefined;  ///< float type with the largest roundoff on the way
  std::string since;   ///< the measured output that this is predicted from; empty: from the inputs
  bool alike = false;  ///< one side alone rounds weights or values: errors that do not average
  double step = 0;     ///< of the coarsest quantiser or narrowing cast, relative; 0: none
  bool steps = false;  ///< integers from quantising: one step up or down is not a fault
  bool positive = false;   ///< no negative values, hence a mean of the size of the deviation
  double absolute = 0;     ///< beside `rms`, in the tensor's own unit: of saturated functions
  bool rectified = false;  ///< zeros have no error, and the others all of it
  bool thinned = false;    ///< likewise, and what was there before is not known
  double largest = 0;      ///< measured error of one element before, as far as it may have grown
  double part = 0;    ///< bound for the relative error of a part that was put together with others
  double chosen = 0;  ///< share of the elements that may be anything, as near ties decide them
  double chosen_rows = 0;  ///< share of the rows, along the last axis, that have such elements
  bool crossed = false;  ///< a product of two tensors with errors, each of which is in a whole row
};

/// What was found on a tensor that both sides gave, relative to its scale.
struct MeasuredError {
  double flipped = 0;  ///< root mean square over all elements of the errors beyond `clean`
  double reached = 0;  ///< share of the rows with such elements
  double typical = 0;  ///< root mean square of the other errors
  double largest = 0;  ///< error of a single element
  double gain = 0;     ///< what all elements share of it
};

/// Asked for every output that the graph reads on. Absent: it was not measured, or it is beyond
/// what is predicted, which must not excuse what follows.
using MeasureError =
    std::function<std::optional<MeasuredError>(const std::string&, const ErrorPrediction&)>;

/// Whether an output that the graph reads is within what is predicted for it. What is not must not
/// excuse what follows.
using IsWithinPrediction = std::function<bool(const std::string&, const ErrorPrediction&)>;

/// The reference's values of a tensor; null where it is no output of the run. They tell by how much
/// an operator makes errors larger.
using FindValues = std::function<const Tensor*(std::string_view)>;

/// The sizes of a tensor; null where it is no output of the run. They serve where no rule finds
/// them.
using FindDims = std::function<const Dims*(std::string_view)>;

/// The share of a tensor's elements that near ties have decided otherwise, as far as the outputs
/// show. Absent as for MeasureError.
using MeasureChoices =
    std::function<std::optional<double>(std::string_view, const ErrorPrediction&)>;

/// What is known of outputs; empty functions: nothing.
struct SeenOutputs {
  MeasureError measure;
  IsWithinPrediction passes;
  MeasureChoices choices;
  FindValues values;
  FindValues others;  ///< the other side's
  FindValues fed;     ///< those of inputs of the graph, which tell of sums of them
  FindDims dims;
};

using ErrorPredictions = std::unordered_map<std::string, ErrorPrediction>;

/// One entry for every tensor of the main graph, for the case that it is an output (which the short
/// float types round once more). `inputs` are the sizes of what is fed; without
/// them, sums over unknown lengths count as 1024 terms. kMalformed for a graph with a cycle.
/// `outputs` are those of the run, besides the graph's own: what reads them may read them rounded.
/// kRounded: the two sides may have been fed with values that differ by one rounding.
/// With `seen.measure`, what follows an output is predicted from what was found there; with
/// `seen.values`, operators whose inputs and output are outputs have the condition that these tell.
enum class FedInputs : uint8_t { kSame, kRounded };
Result<ErrorPredictions> PredictErrors(const OnnxModel& model, std::span<const InputDims> inputs,
                                       RunnerArithmetic first, RunnerArithmetic second,
                                       std::span<const std::string> outputs = {},
                                       FedInputs fed = FedInputs::kSame,
                                       const SeenOutputs& seen = {});

/// What a tensor may differ by when nothing is known of the graph: as after 50 layers with sums of
/// 4096 terms. Integers are exact.
ErrorPrediction PredictFromDType(DType dtype, RunnerArithmetic first, RunnerArithmetic second);

}  // namespace vernier
