// Places that faultless runtimes may choose differently: where the values of TopK, ArgMax and
// ArgMin are as good as equal, an error of rounding decides, and among equal ones the runtime.
#pragma once

#include <optional>
#include <string_view>

#include "model/onnx/onnx_model.h"
#include "vernier/tensor.h"

namespace vernier {

/// Is this output of the operator one of places, chosen by values?
bool IsChoice(std::string_view op_type, size_t output);

/// The share of the places that the node chooses from `values` which are near a tie: whose value is
/// within twice `error` of the one before or behind it in order. `error` is relative to the larger
/// one of the tensor's root mean square and the value itself; with 0 only equal values tie. Finite
/// masks do not make the root mean square: it is at most 100 times that of the best values.
/// `places` is how many there are in all. 0 for values that are no floats, or of no shape that the
/// node takes.
double NearTies(const OnnxModel& model, const OnnxNode& node, const Tensor& values, int64_t places,
                double error);

/// Of the places that two sides chose, how many differ, and how many of the second side's are none
/// that a faultless one could choose instead: out of range, twice in a row, or of a value that does
/// not tie with that of the first side's place.
struct OtherPlaces {
  int64_t differ = 0;
  int64_t wrong = 0;
};

/// What the first side chose from, as far as it is known.
struct ChosenFromValues {
  const Tensor& values;  ///< of NearTies
  bool all = true;       ///< the node's input; else what TopK took of it, in the order of places
  double error = 0;      ///< of NearTies
};

/// `first` and `second` are the places of both sides. nullopt where they have no shapes that the
/// node gives, or no order.
std::optional<OtherPlaces> CountOtherPlaces(const OnnxModel& model, const OnnxNode& node,
                                            const ChosenFromValues& from, const Tensor& first,
                                            const Tensor& second);

}  // namespace vernier
