// A TensorRT engine as text, in Polygraphy's form.
#pragma once

#include <map>
#include <string>

#include "record/schema/engine_record.h"
#include "vernier/tensor.h"

namespace vernier {

/// NaN where the values hold one, or where there are none.
struct TensorRange {
  double min = 0, max = 0, mean = 0;
};

/// Of values without order (strings) and of empty tensors: none.
std::map<std::string, TensorRange> RangesOf(const TensorMap& tensors);

struct EngineTextOptions {
  bool layers = false;
  bool attributes = false;  ///< origin and tactic of each layer; needs `layers`
  std::map<std::string, TensorRange> ranges = {};  ///< shown beside the layers' tensors, by name
};

std::string FormatEngine(const EngineRecord& engine, const EngineTextOptions& options);

}  // namespace vernier
