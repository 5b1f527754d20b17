// By how much an operator makes the errors of its inputs larger, as the values show: its condition
// (Higham, Accuracy and Stability of Numerical Algorithms, sections 1.6 and 3.3) for errors that
// are spread evenly over the elements of an input: over those of each channel, where a product or
// a normalisation treats channels apart.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <unordered_map>

#include "model/onnx/onnx_model.h"
#include "model/rounding/error_model.h"
#include "model/rounding/function_slopes.h"

namespace vernier {

/// The most that a bound is widened by.
inline constexpr double kMostGrowth = 1000;
/// So few extremes may all be picked for their errors.
inline constexpr int64_t kFewPicked = 64;

/// What an operator makes of its inputs' errors.
struct PairGrowth {
  double times = 1;    ///< of the root mean square
  double largest = 0;  ///< of a single element, relative to the output's scale
};

class ValueGrowth {
 public:
  /// `values` may be empty: then nothing is known. `others` are the other side's, or empty.
  ValueGrowth(const OnnxModel& model, const FindValues& values, const FindValues& others)
      : model_(model), values_(values), others_(others) {}

  /// The root mean square of a float tensor's finite values; 0 where it is not known.
  double Scale(std::string_view name);

  /// The growth of a relative error of the input with that place: at least 1 and at most
  /// kMostGrowth; 1 where values are not known or the operator has no rule here.
  double Of(const OnnxGraph& graph, const OnnxNode& node, size_t input);

  /// The same for errors as they lie: those of both sides' inputs, element by element, through a
  /// function of one value, or a product of two tensors, of one shape or with one factor for
  /// neighbours; of their errors the larger one counts. Errors that are large where the slope is
  /// steep, and those of factors that have them in common, grow by more than such that are spread
  /// evenly. 1 for other operators.
  PairGrowth OfPairs(const OnnxGraph& graph, const OnnxNode& node);

 private:
  PairGrowth FunctionGrowth(Slope slope, std::string_view input, std::string_view output);
  PairGrowth ProductGrowth(std::string_view values, std::string_view scales,
                           std::string_view output);
  double Raw(const OnnxNode& node, std::span<const std::string_view> inputs,
             std::string_view output, size_t input);
  double Quotient(std::span<const std::string_view> inputs, size_t input);
  double MatrixGrowth(const OnnxNode& node, std::span<const std::string_view> inputs,
                      std::string_view output);
  const OnnxTensor* FindWeight(std::string_view name);
  double ChannelGrowth(std::string_view input, std::string_view output);
  double PickedGrowth(std::string_view input, std::string_view output);
  double HardSigmoidGrowth(const OnnxNode& node, std::string_view input, std::string_view output);
  double NormGrowth(std::string_view input);
  double KeptShare(std::string_view input, std::string_view output);

  const OnnxModel& model_;
  const FindValues& values_;
  const FindValues& others_;
  std::unordered_map<std::string_view, double> scales_;
  std::unordered_map<std::string_view, OnnxTensor> weights_;  // of the main graph; made when asked
  bool found_weights_ = false;
};

}  // namespace vernier
