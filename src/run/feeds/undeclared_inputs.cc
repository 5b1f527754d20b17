#include "run/feeds/undeclared_inputs.h"

#include <algorithm>

#include "inputs/dim_sizes.h"
#include "inputs/shape_spec.h"
#include "util/text/number_text.h"
#include "util/values/plural_text.h"

namespace vernier {
namespace {

// Of those that nothing says, where others were given.
std::string NoteOfTriedSizes(const InputPlan& plan, std::span<const TensorInfo> taken,
                             int64_t tried) {
  const Result<std::vector<ShapeSpec>> shapes =
      ParseShapeSpecs(plan.shape_words, Strictness::kPolygraphy);
  if (!shapes.ok()) return "";
  const OpenDimensions open = FindOpenDimensions(*shapes, taken, {.given = plan.dims});
  return "\nNote: of " + FormatPythonList(open.keys) + ", which were taken as 1, " +
         Counted(static_cast<size_t>(tried), "other size") +
         " were tried and none worked; give theirs with --dim or --input-shapes, or others for " +
         "those that you gave";
}

}  // namespace

Result<std::vector<TensorInfo>> DescribedInputs(std::span<const std::string> shape_words,
                                                const RunnerSession* silent) {
  VERNIER_ASSIGN_OR_RETURN(const std::vector<ShapeSpec> shapes,
                           ParseShapeSpecs(shape_words, Strictness::kPolygraphy));
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

std::string NoteOfFreeSizes(const InputPlan& plan, std::span<const TensorInfo> taken,
                            int64_t tried) {
  const bool drawn = plan.load_paths.empty() && !plan.script.given();
  if (!drawn || !plan.found_dims.empty() || tried < 0) return "";
  if (!plan.shape_words.empty() || !plan.dims.empty()) {
    return tried > 0 ? NoteOfTriedSizes(plan, taken, tried) : "";  // the user knows how
  }
  std::string names;
  for (const TensorInfo& input : taken) {
    if (!input.shape || std::ranges::none_of(*input.shape, &Dim::dynamic)) continue;
    names += names.empty() ? "" : ", ";
    names += input.name + " [";
    for (const Dim& dim : *input.shape) {
      names += &dim == &input.shape->front() ? "" : ", ";
      names += !dim.dynamic() ? std::to_string(dim.value) : dim.symbol.empty() ? "?" : dim.symbol;
    }
    names += "]";
  }
  if (names.empty()) return "";
  return "\nNote: sizes that the model leaves free were taken as 1: " + names +
         (tried > 0
              ? ", and none of " + Counted(static_cast<size_t>(tried), "other size") + " worked"
              : std::string()) +
         ". If it needs others, give them with --input-shapes NAME:[...]";
}

}  // namespace vernier
