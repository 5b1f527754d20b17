#include "check/runners/sample_drawer.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "check/runners/first_feed.h"
#include "inputs/cast_tensor.h"
#include "inputs/dim_sizes.h"
#include "model/onnx/onnx_attributes.h"
#include "model/onnx/onnx_model.h"
#include "run/feeds/fed_tokens.h"

namespace vernier {
namespace {

// The size that a dimension has by default is left alone where it is more than 1: a sample says it.
bool IsSmall(const TensorMap& base, const TensorInfo& input, size_t axis) {
  const Tensor* const tensor = Find(base, input.name);
  return tensor == nullptr || axis >= tensor->dims().size() || tensor->dims()[axis] <= 1;
}

// Of a dimension that was chosen, by itself or as one of the others.
std::optional<int64_t> ChosenSize(const FreeSizes& sizes, const TensorMap& base,
                                  const TensorInfo& input, size_t axis) {
  const std::string& symbol = (*input.shape)[axis].symbol;
  if (sizes.dimension && symbol == *sizes.dimension) return sizes.size;
  const auto own = std::ranges::find(sizes.also, symbol, &DimSize::dimension);
  if (own != sizes.also.end()) return own->size;
  if (sizes.others > 0 && IsSmall(base, input, axis)) return sizes.others;
  return std::nullopt;
}

// Of the first dimension of that name; what it has by default unless it was chosen.
int64_t SizeOf(const std::string& name, const FreeSizes& sizes, const TensorMap& base,
               std::span<const TensorInfo> inputs) {
  for (const TensorInfo& input : inputs) {
    const Tensor* const tensor = Find(base, input.name);
    if (!input.shape || tensor == nullptr) continue;
    for (size_t axis = 0; axis < std::min(input.shape->size(), tensor->dims().size()); ++axis) {
      if ((*input.shape)[axis].symbol != name) continue;
      return ChosenSize(sizes, base, input, axis).value_or(tensor->dims()[axis]);
    }
  }
  return 0;
}

// The sums as sizes of their own.
FreeSizes Summed(FreeSizes sizes, const TensorMap& base, std::span<const TensorInfo> inputs) {
  for (const SizeSum& sum : std::exchange(sizes.sums, {})) {
    DimSize total{sum.dimension, sum.added};
    for (const std::string& term : sum.terms) total.size += SizeOf(term, sizes, base, inputs);
    sizes.also.push_back(std::move(total));
  }
  return sizes;
}

Result<Tensor> Modulo(const Tensor& indices, int64_t size) {
  VERNIER_ASSIGN_OR_RETURN(const Tensor wide, CastTensor(indices, DType::kInt64));
  const std::span<const int64_t> values = wide.As<int64_t>();
  std::vector<int64_t> bounded(values.begin(), values.end());
  for (int64_t& value : bounded) value %= size;
  VERNIER_ASSIGN_OR_RETURN(const Tensor made, Tensor::Copy(DType::kInt64, indices.dims(),
                                                           std::as_bytes(std::span(bounded))));
  return CastTensor(made, indices.dtype());
}

// The size that a Gather picks from; 0 where it is not known.
int64_t SizePickedFrom(const OnnxModel& model, const OnnxNode& node, const Tensor& data) {
  const auto rank = static_cast<int64_t>(data.dims().size());
  int64_t axis = NodeAttributes(model, node).Int("axis", 0);
  if (axis < 0) axis += rank;
  return axis >= 0 && axis < rank ? data.dims()[static_cast<size_t>(axis)] : 0;
}

// A drawn feed in the names of a model, with the integers that it gives an ONNX model's Gather from
// another input (as the beams of a search pick caches) taken modulo the size that they pick from:
// others would be refused.
Result<TensorMap> WithRowsThatThereAre(const ModelPlan& plan, TensorMap feed) {
  if (plan.type != "onnx") return feed;
  const Result<OnnxModel> model = OnnxModel::Open(plan.path);
  if (!model.ok()) return feed;
  for (const OnnxNode& node : model->graph().nodes) {
    const auto inputs = model->graph().Inputs(node);
    if (node.op_type != "Gather" || !node.domain.empty() || inputs.size() < 2) continue;
    const Tensor* const data = Find(feed, inputs[0]);
    const auto indices = std::ranges::find(feed, inputs[1], &NamedTensor::name);
    if (data == nullptr || indices == feed.end()) continue;
    const int64_t size = SizePickedFrom(*model, node, *data);
    if (size <= 0) continue;
    VERNIER_ASSIGN_OR_RETURN(indices->tensor, Modulo(indices->tensor, size));
  }
  return feed;
}

void KeepSwitches(const TensorMap& base, TensorMap& made) {
  for (NamedTensor& input : made) {
    const Tensor* const before = Find(base, input.name);
    const bool is_switch = before != nullptr && input.tensor.dtype() == DType::kBool &&
                           before->dtype() == DType::kBool && input.tensor.element_count() == 1 &&
                           before->dims() == input.tensor.dims();
    if (is_switch) input.tensor = *before;
  }
}

}  // namespace

bool SameShapes(const TensorMap& a, const TensorMap& b) {
  for (const NamedTensor& input : a) {
    const Tensor* const other = Find(b, input.name);
    if (other == nullptr || other->dims() != input.tensor.dims()) return false;
  }
  return true;
}

bool SampleDrawer::shapes_are_given() const {
  const InputPlan& inputs = plan_.inputs;
  return !inputs.load_paths.empty() || !inputs.shape_words.empty() || inputs.script.given();
}

Status SampleDrawer::CheckTokens(const Probe& probe, const TensorMap& feed, Logger& logger) const {
  return plan_.lenient ? Status() : vernier::CheckTokens(probe.runner().plan().model, feed, logger);
}

Result<TensorMap> SampleDrawer::Fit(const Probe& probe, const TensorMap& feed,
                                    Logger& logger) const {
  VERNIER_ASSIGN_OR_RETURN(TensorMap own, probe.Coerce(feed, logger));
  VERNIER_TRY(CheckTokens(probe, own, logger));
  return own;
}

Result<TensorMap> SampleDrawer::FitDrawn(const Probe& probe, const TensorMap& feed,
                                         Logger& logger) const {
  VERNIER_ASSIGN_OR_RETURN(TensorMap own, Fit(probe, feed, logger));
  const bool drawn = plan_.inputs.load_paths.empty() && !plan_.inputs.script.given();
  if (!drawn) return own;
  return WithRowsThatThereAre(probe.runner().plan().model, std::move(own));
}

Result<TensorMap> SampleDrawer::Make(const Probe& probe, const std::vector<TensorInfo>& inputs,
                                     Logger& logger) const {
  VERNIER_ASSIGN_OR_RETURN(const TensorMap feed, MakeFirstFeed(plan_, inputs, shared_, logger));
  return FitDrawn(probe, feed, logger);
}

Result<TensorMap> SampleDrawer::Default(const Probe& probe, Logger& logger) const {
  VERNIER_ASSIGN_OR_RETURN(const std::vector<TensorInfo> inputs, probe.InputsToFeed(plan_.inputs));
  return Make(probe, inputs, logger);
}

Result<TensorMap> SampleDrawer::WithSizes(const Probe& probe, const TensorMap& base,
                                          const FreeSizes& sizes, Logger& logger) const {
  if (shapes_are_given()) return InvalidArgument("the shapes of the inputs are given");
  VERNIER_ASSIGN_OR_RETURN(std::vector<TensorInfo> inputs, probe.InputsToFeed(plan_.inputs));
  VERNIER_ASSIGN_OR_RETURN(const std::vector<DimSize> given,
                           SizesByName(plan_.inputs.dims, inputs));
  const FreeSizes all = Summed(sizes, base, inputs);
  for (TensorInfo& input : inputs) {
    if (!input.shape) continue;
    for (size_t axis = 0; axis < input.shape->size(); ++axis) {
      Dim& dim = (*input.shape)[axis];
      if (!dim.dynamic() || FindDimSize(given, input, axis)) continue;
      if (const auto size = ChosenSize(all, base, input, axis)) dim = {*size, {}};
    }
  }
  VERNIER_ASSIGN_OR_RETURN(TensorMap made, Make(probe, inputs, logger));
  if (plan_.inputs.load_paths.empty() && !plan_.inputs.script.given()) KeepSwitches(base, made);
  return made;
}

Result<TensorMap> SampleDrawer::Another(const Probe& probe, const TensorMap& like,
                                        Logger& logger) const {
  VERNIER_ASSIGN_OR_RETURN(std::vector<TensorInfo> inputs, probe.InputsToFeed(plan_.inputs));
  VERNIER_ASSIGN_OR_RETURN(const std::vector<DimSize> given,
                           SizesByName(plan_.inputs.dims, inputs));
  for (TensorInfo& input : inputs) {
    const Tensor* const tensor = Find(like, input.name);
    if (shapes_are_given() || !input.shape || tensor == nullptr) continue;
    const size_t rank = std::min(input.shape->size(), tensor->dims().size());
    for (size_t axis = 0; axis < rank; ++axis) {
      Dim& dim = (*input.shape)[axis];
      if (dim.dynamic() && !FindDimSize(given, input, axis)) dim = {tensor->dims()[axis], {}};
    }
  }
  VERNIER_ASSIGN_OR_RETURN(const TensorMap feed, MakeSecondFeed(plan_, inputs, shared_, logger));
  return FitDrawn(probe, feed, logger);
}

Result<std::vector<TensorMap>> SampleDrawer::OfGivenShapes(const Probe& probe,
                                                           Logger& logger) const {
  const InputPlan& given = plan_.inputs;
  if (given.shape_words.empty() || !given.load_paths.empty() || given.script.given()) {
    return std::vector<TensorMap>();
  }
  VERNIER_ASSIGN_OR_RETURN(const std::vector<TensorInfo> inputs, probe.InputsToFeed(given));
  VERNIER_ASSIGN_OR_RETURN(std::vector<TensorMap> feeds,
                           MakeGivenFeeds(plan_, inputs, shared_, logger));
  for (TensorMap& feed : feeds) {
    VERNIER_ASSIGN_OR_RETURN(feed, Fit(probe, feed, logger));
  }
  return feeds;
}

}  // namespace vernier
