#include "run/described_inputs.h"

#include <algorithm>

#include "inputs/shape_spec.h"

namespace vernier {

Result<std::vector<TensorInfo>> DescribedInputs(std::span<const std::string> shape_words,
                                                const LiveRunner* silent) {
  VERNIER_ASSIGN_OR_RETURN(const std::vector<ShapeSpec> shapes,
                           ParseShapeSpecs(shape_words, Strictness::kPeer));
  std::vector<TensorInfo> inputs;
  for (const ShapeSpec& spec : KeepLastShapes(shapes)) {
    inputs.push_back({spec.name, spec.dtype.value_or(DType::kFloat32), spec.shape});
  }
  const std::vector<TensorInfo> named =
      silent == nullptr ? std::vector<TensorInfo>() : silent->session().inputs;
  const std::string name = silent == nullptr ? "the runner" : "'" + silent->name() + "'";
  if (!inputs.empty() && (named.empty() || inputs.size() == named.size())) return inputs;
  std::string names;
  for (const TensorInfo& input : named) {
    names += (names.empty() ? " (" : ", ") + input.name;
    const bool given = std::any_of(inputs.begin(), inputs.end(),
                                   [&](const TensorInfo& i) { return i.name == input.name; });
    if (given || inputs.empty()) continue;
    return InvalidArgument("the shape of input '" + input.name + "' of " + name +
                           " is not known: give it with --input-shapes " + input.name +
                           ":[...], with :DTYPE after it for another type than float32");
  }
  if (!names.empty()) names += ")";
  return InvalidArgument("what " + name + " takes as inputs" + names +
                         " is not known: give --input-shapes NAME:[...], with :DTYPE after it for "
                         "another type than float32, --load-inputs or --data-loader-script, or let "
                         "its script say so with input_metadata");
}

}  // namespace vernier
