// Polygraphy's file of tactics.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "vernier/status.h"

namespace vernier::trt {

/// One input or output of a layer as an implementation wants it.
struct TacticTensor {
  std::string dtype;  ///< "DataType.FLOAT"
  std::vector<int64_t> strides;
  std::optional<int64_t> vectorized_dim;
  std::optional<int64_t> components_per_element;
};

struct Tactic {
  int64_t implementation = 0;
  int64_t tactic = 0;
  std::vector<TacticTensor> inputs;
  std::vector<TacticTensor> outputs;
};

/// By the layer's name.
using TacticRecord = std::map<std::string, Tactic>;

/// Are they the same choice? What either does not say is not compared.
bool Matches(const Tactic& a, const Tactic& b);

std::string FormatTactics(const TacticRecord& record);

/// kMalformed with the place for text that is not such a record.
Result<TacticRecord> ParseTactics(std::string_view text);

/// "(Implementation: 1, Tactic: 2) | Inputs: (TensorInfo(...),) | Outputs: (...)", as Polygraphy
/// has it.
std::string Describe(const Tactic& tactic);

}  // namespace vernier::trt
