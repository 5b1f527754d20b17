// An engine as the stand-in keeps it: text behind a header like TensorRT's.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "network.h"

namespace trt_standin {

struct PlanTensor {
  std::string name;
  char role = 'i';  ///< i: an input, s: one that is a shape, o: an output, d: for debugging
  DataType type = DataType::kFLOAT;
  int32_t format = 0;
  Dims dims{};
  std::vector<std::string> symbols;
};

struct PlanShape {
  int32_t profile = 0;
  std::string name;
  int32_t selector = 0;
  Dims dims{};
};

struct Plan {
  std::vector<PlanTensor> tensors;
  std::vector<PlanShape> shapes;
  std::vector<std::string> layers;  ///< what the inspector says of each
  int32_t profiles = 1;
  bool copies = false;  ///< outputs are what the first input is; zeros otherwise
  bool refittable = false;
  bool streams_weights = false;
  ProfilingVerbosity verbosity = ProfilingVerbosity::kLAYER_NAMES_ONLY;

  std::string Write() const;
  /// Nothing where these are no bytes that Write made, in this release.
  static std::optional<Plan> Read(std::string_view bytes);

  const PlanTensor* Find(std::string_view name) const;
  const PlanShape* ShapeOf(std::string_view name, int32_t profile, int32_t selector) const;
};

}  // namespace trt_standin
