// Tensors on their way between Python and the libraries: lists of pairs of a name and a Tensor.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "vernier/tensor.h"

namespace vernier::python {

using NamedTensors = std::vector<std::pair<std::string, Tensor>>;

/// Runner, seconds, outputs.
using IterationTuple = std::tuple<std::string, std::optional<double>, NamedTensors>;

TensorMap ToMap(NamedTensors tensors);
NamedTensors FromMap(const TensorMap& map);
IterationResult ToResult(IterationTuple iteration);
IterationTuple FromResult(const IterationResult& result);

}  // namespace vernier::python
