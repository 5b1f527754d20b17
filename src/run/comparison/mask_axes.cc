#include "run/comparison/mask_axes.h"

#include <algorithm>
#include <cstdint>

#include "run/live/inference_scheduler.h"
#include "run/steps/prompt_inputs.h"

namespace vernier {
namespace {

enum class Along : uint8_t { kUnknown, kMask, kElsewhere };

// Where the positions of [batch, positions, values] and [batch, heads, positions, values] lie.
Along AxisOf(const std::vector<Dim>* mask, const std::vector<Dim>* output) {
  const bool fits = mask != nullptr && output != nullptr && mask->size() == 2 &&
                    (output->size() == 3 || output->size() == 4);
  if (!fits) return Along::kUnknown;
  const Dim& positions = (*mask)[1];
  const Dim& axis = (*output)[output->size() - 2];
  if (positions.symbol.empty() || axis.symbol.empty()) return Along::kUnknown;
  const bool batch_known = !mask->front().dynamic() || !mask->front().symbol.empty();
  const bool same = axis == positions && output->front() == mask->front() && batch_known;
  const bool single = std::ranges::count(*output, positions) == 1;
  return same && single ? Along::kMask : Along::kElsewhere;
}

}  // namespace

bool LiesAlongMask(const std::vector<Dim>& mask, const std::vector<Dim>& tensor) {
  return AxisOf(&mask, &tensor) == Along::kMask;
}

bool MaskAxes::IsRunner(size_t stream) const { return live_ != nullptr && stream < live_->size(); }

bool MaskAxes::Declares(size_t stream, const std::string& input) const {
  const std::vector<TensorInfo>& inputs = (*live_)[stream].session().inputs;
  return std::ranges::find(inputs, input, &TensorInfo::name) != inputs.end();
}

bool MaskAxes::IsFed(const std::string& input, const Streams& streams) const {
  // The tensor that an input is given may differ from runner to runner.
  const bool mapped = std::ranges::any_of(plan_->inputs.map_words, [&](const std::string& word) {
    return word.find(input) != std::string::npos;
  });
  if (mapped) return false;
  bool any = false;
  for (const size_t stream : {streams.first, streams.second}) {
    if (!IsRunner(stream)) continue;
    any = true;
    if (!(*live_)[stream].inputs_unknown() && !Declares(stream, input)) return false;
  }
  return any;
}

std::vector<std::string> MaskAxes::OutputsAlong(const std::string& mask, const Streams& streams,
                                                const MatchedSides& sides) {
  const auto declares = [&](size_t stream) { return !IsRunner(stream) || Declares(stream, mask); };
  if (!declares(streams.first) || !declares(streams.second)) return {};
  std::vector<std::string> outputs;
  for (const OutputPair& pair : sides.pairing.pairs) {
    const std::string& name = sides.a().outputs[pair.a].name;
    const std::string& other = sides.b().outputs[pair.b].name;
    // What is fed back counts at every position: the steps that follow are made from it.
    const StepStates* const steps = live_ == nullptr ? nullptr : live_->steps();
    const bool state = steps != nullptr && (steps->IsState(streams.first, name) ||
                                            steps->IsState(streams.second, other));
    const auto along = [&](size_t stream, const std::string& output) {
      if (!IsRunner(stream)) return Along::kUnknown;
      return AxisOf(models_->InputShape(stream, mask), models_->OutputShape(stream, output));
    };
    const Along first = along(streams.first, name);
    const Along second = along(streams.second, other);
    const bool doubtful = first == Along::kElsewhere || second == Along::kElsewhere;
    if (!state && !doubtful && (first == Along::kMask || second == Along::kMask))
      outputs.push_back(name);
  }
  return outputs;
}

// A name that no input has says nothing: exporters make some up.
bool MaskAxes::IsElsewhere(const std::string& input, size_t stream, const std::string& output) {
  if (!IsRunner(stream)) return false;
  const std::vector<TensorInfo>& inputs = (*live_)[stream].session().inputs;
  const auto self = std::ranges::find(inputs, input, &TensorInfo::name);
  if (self == inputs.end() || !self->shape || self->shape->empty()) return false;
  const size_t rank = self->shape->size();
  const auto axis_of = [&](const TensorInfo& info) {
    const std::vector<Dim>* const axes = models_->InputShape(stream, info.name);
    return axes == nullptr || axes->empty() ? std::string() : axes->back().symbol;
  };
  const auto tokens_along = [&](const std::string& axis) {
    return std::ranges::any_of(inputs, [&](const TensorInfo& other) {
      return MayBeTokens(other, rank) && axis_of(other) == axis;
    });
  };
  const std::vector<Dim>* const shape = models_->OutputShape(stream, output);
  const std::string own = axis_of(*self);
  const std::string wanted = shape != nullptr && shape->size() == 3 ? (*shape)[1].symbol : "";
  const bool known = !own.empty() && !wanted.empty() && HasAxis(inputs, stream, wanted);
  if (known) return own != wanted && (tokens_along(own) || !tokens_along(wanted));
  // Then outputs are the decoder's, if they do not say otherwise.
  if (input.starts_with("decoder_")) return output.starts_with("encoder_");
  return std::ranges::count_if(
             inputs, [&](const TensorInfo& other) { return MayBeTokens(other, rank); }) != 1;
}

bool MaskAxes::HasAxis(const std::vector<TensorInfo>& inputs, size_t stream,
                       const std::string& axis) {
  return std::ranges::any_of(inputs, [&](const TensorInfo& input) {
    const std::vector<Dim>* const axes = models_->InputShape(stream, input.name);
    return axes != nullptr && std::ranges::find(*axes, axis, &Dim::symbol) != axes->end();
  });
}

std::vector<std::string> MaskAxes::OutputsElsewhere(const std::string& input,
                                                    const Streams& streams,
                                                    const MatchedSides& sides) {
  std::vector<std::string> outputs;
  for (const OutputPair& pair : sides.pairing.pairs) {
    const std::string& name = sides.a().outputs[pair.a].name;
    const std::string& other = sides.b().outputs[pair.b].name;
    const bool elsewhere =
        IsElsewhere(input, streams.first, name) || IsElsewhere(input, streams.second, other);
    if (elsewhere) outputs.push_back(name);
  }
  return outputs;
}

}  // namespace vernier
