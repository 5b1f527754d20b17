// What both sides' values show of an operator behind quantisers: the differences of its inputs, as
// it passes them on, and the values that lie where a step ends.
//
// Behind a quantiser errors are few and large: single codes that differ by a step. What is typical
// of errors that are spread evenly says little of them, but what an operator makes of them can be
// computed: element by element where it treats elements apart, and by the sums of squares of its
// channels where it multiplies matrices.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "model/onnx/onnx_model.h"
#include "model/rounding/byte_lstm.h"
#include "model/rounding/error_model.h"
#include "model/rounding/operand.h"

namespace vernier {

/// Relative to the root mean square of the output's values.
struct PassedOn {
  double rms = 0;      ///< of the output's differences
  double largest = 0;  ///< of them
  double differ = 0;   ///< share of the elements that differ by more than the limit
  double ties = 0;     ///< share of the elements that may go to either of two steps
  double step = 0;     ///< between these
};

/// How large a difference counts, and how far values are known, as shares of their scales.
struct PassedLimits {
  double differs = 0;
  double known = 0;
};

using PlacesOfAxes = std::vector<std::vector<size_t>>;

class PassedDifferences {
 public:
  /// All must outlive it.
  PassedDifferences(const OnnxModel& model, const SeenOutputs& seen, FloatsWithin floats)
      : model_(model), operands_(model, seen), floats_(floats) {}

  /// Of an output of a node of the main graph, whose first output has that type; nullopt where
  /// values are not known or the operator has no rule here.
  std::optional<PassedOn> Of(const OnnxNode& node, size_t output, DType type, PassedLimits limits);

  /// How large the products of scale and zero point are beside the values that are left: of a
  /// DequantizeLinear of codes of that type. Where they are not known they count as typical ones.
  double Shift(const OnnxNode& node, DType codes);

  /// From the lowest code to the highest, as a DequantizeLinear of codes of that type scales them;
  /// 0 where its scale is not known.
  double Range(const OnnxNode& node, DType codes);

  /// Whether a tensor has whole numbers of at most that size on both sides, as far as is known.
  bool IsWhole(std::string_view name, double most);

 private:
  std::optional<PassedOn> OfElements(const OnnxNode& node, PassedLimits limits);
  std::optional<std::vector<Operand>> Scaled(const OnnxNode& node);
  std::optional<PassedOn> OfCodes(const OnnxNode& node, PassedLimits limits);
  std::optional<PassedOn> OfQuotients(const OnnxNode& node, DType type, PassedLimits limits);
  std::optional<PassedOn> OfSteps(const OnnxNode& node, PassedLimits limits);
  std::optional<PassedOn> OfRange(const OnnxNode& node, size_t output, PassedLimits limits);
  std::optional<PassedOn> OfConvolution(const OnnxNode& node, PassedLimits limits);
  std::optional<PassedOn> OfProduct(const OnnxNode& node, PassedLimits limits);
  std::optional<PassedOn> OfLargest(const OnnxNode& node);
  std::optional<PassedOn> OfExtremes(const OnnxNode& node, PassedLimits limits);
  std::optional<PassedOn> OfTopValues(const OnnxNode& node, PassedLimits limits);
  std::optional<PassedOn> OfSums(const OnnxNode& node, PassedLimits limits);
  std::optional<PassedOn> OfCopies(const OnnxNode& node, PassedLimits limits);
  std::optional<PassedOn> OfPart(const OnnxNode& node, size_t output, PassedLimits limits);
  std::optional<PassedOn> OfGatheredElements(const OnnxNode& node, PassedLimits limits);
  std::optional<PassedOn> OfNormalisation(const OnnxNode& node, PassedLimits limits);
  std::optional<PassedOn> OfSoftmax(const OnnxNode& node, PassedLimits limits);
  /// The share of a convolution's output that reads a value which differs by more than the limit,
  /// at most: each place is counted as often as it is read.
  double ShareReached(const OnnxNode& node, const Operand& x, const Dims& w, const Dims& y,
                      double limit) const;
  /// Of a product's differences, where a row has all of one sign, say; 0: not known.
  static double RmsOfSums(const Operand& x, const Operand& w, bool by_rows);
  std::optional<PassedOn> OfLstm(const OnnxNode& node, size_t output, PassedLimits limits);
  std::optional<Operand> Find(const OnnxNode& node, size_t input);
  /// Of these numbers both sides have the same; nullopt where they are not known.
  std::optional<std::vector<int64_t>> FindNumbers(const OnnxNode& node, size_t input);
  /// Which axes a reduction makes one value of; nullopt where that is not known.
  std::optional<std::vector<bool>> AxesOf(const OnnxNode& node, const Dims& dims);
  /// Which places along each axis an operator takes; nullopt where that is not known.
  std::optional<PlacesOfAxes> PlacesOfPart(const OnnxNode& node, size_t output, const Dims& dims);
  std::optional<PlacesOfAxes> PlacesOfGather(const OnnxNode& node, const Dims& dims);
  std::optional<PlacesOfAxes> PlacesOfSplit(const OnnxNode& node, size_t output, const Dims& dims);
  std::optional<PlacesOfAxes> PlacesOfSlice(const OnnxNode& node, const Dims& dims);
  /// What a matrix operator multiplies, without its zero point.
  std::optional<Operand> Factor(const OnnxNode& node, size_t input);

  const OnnxModel& model_;
  OperandFinder operands_;
  const FloatsWithin floats_;
  const OnnxNode* lstm_ = nullptr;  // the last one that was computed
  std::optional<LstmSides> lstm_sides_;
};

}  // namespace vernier
