#include "blame/sides/feed_names.h"

#include <algorithm>
#include <utility>

#include "inputs/coerce_feed.h"
#include "record/runner_name.h"

namespace vernier {
namespace {

Status AddTensor(const LiveRunner& runner, const std::string& name, const Tensor& tensor,
                 TensorMap& feed) {
  const Tensor* const there = Find(feed, name);
  if (there == nullptr) {
    feed.push_back({name, tensor});
  } else if (there->bytes().data() != tensor.bytes().data() || there->dims() != tensor.dims()) {
    return Unimplemented("--map-inputs: blame gives both sides one tensor of a name, and '" + name +
                         "' would be another one for " + runner.name());
  }
  return {};
}

}  // namespace

Status AddNamesOf(const LiveRunner& runner, const InputMaps& maps,
                  std::span<const TensorInfo> made_for, Logger& logger, TensorMap& feed) {
  const std::vector<TensorInfo>& inputs = runner.session().inputs;
  VERNIER_ASSIGN_OR_RETURN(MappedFeed own, maps.Apply(runner.name(), inputs, feed));
  if (runner.inputs_unknown()) {
    // It takes what has its names, and all in order where nothing has.
    for (const NamedTensor& tensor : own.tensors) {
      VERNIER_TRY(AddTensor(runner, tensor.name, tensor.tensor, feed));
    }
    return {};
  }
  const bool named = std::all_of(inputs.begin(), inputs.end(), [&](const TensorInfo& input) {
    return Find(own.tensors, input.name) != nullptr;
  });
  if (named && own.mapped.empty()) return {};
  if (!named) {
    CoerceOptions options;
    options.advise_lenient = false;
    options.label = WithoutTime(runner.name());
    options.made_for = made_for;
    VERNIER_ASSIGN_OR_RETURN(CoercedFeed coerced, CoerceFeed(own.tensors, inputs, options, logger));
    own.tensors = std::move(coerced.tensors);
  }
  for (const TensorInfo& input : inputs) {
    VERNIER_TRY(AddTensor(runner, input.name, *Find(own.tensors, input.name), feed));
  }
  return {};
}

}  // namespace vernier
