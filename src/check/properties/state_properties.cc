#include "check/properties/state_properties.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "check/properties/trial.h"
#include "run/steps/state_pairs.h"
#include "run/steps/step_tensors.h"

namespace vernier {
namespace {

constexpr int64_t kSequences = 3;

// The axis along which each tensor has the sequences of a batch.
struct BatchAxes {
  std::string symbol;
  std::map<std::string, size_t> inputs, outputs;
  std::vector<std::string> left_out;  // outputs of which it is not known
};

// None where it is in no dimension or in several.
std::optional<size_t> AxisOf(const TensorInfo* info, const std::string& symbol) {
  if (info == nullptr || !info->shape) return std::nullopt;
  const std::vector<Dim>& dims = *info->shape;
  if (std::ranges::count(dims, symbol, &Dim::symbol) != 1) return std::nullopt;
  return static_cast<size_t>(std::ranges::find(dims, symbol, &Dim::symbol) - dims.begin());
}

bool IsState(std::span<const StatePair> states, const std::string& input) {
  return std::ranges::find(states, input, &StatePair::input) != states.end();
}

// The axes of the inputs, if this is a dimension of every state and of another input.
std::optional<BatchAxes> AxesOfInputs(std::span<const TensorInfo> inputs,
                                      std::span<const StatePair> states,
                                      const std::string& symbol) {
  BatchAxes axes;
  axes.symbol = symbol;
  bool of_another = false;
  for (const TensorInfo& input : inputs) {
    const std::optional<size_t> axis = AxisOf(&input, symbol);
    if (axis) axes.inputs[input.name] = *axis;
    if (!axis && IsState(states, input.name)) return std::nullopt;
    of_another |= axis && !IsState(states, input.name);
  }
  return of_another && !symbol.empty() ? std::optional(std::move(axes)) : std::nullopt;
}

// kInvalidArgument where there is no such dimension.
Result<BatchAxes> FindAxes(Subject& subject, std::span<const StatePair> states) {
  const SessionDescription& session = subject.probe->runner().session();
  const TensorInfo* const state = FindInfo(session.inputs, states.front().input);
  std::optional<BatchAxes> found;
  for (size_t i = 0; state != nullptr && state->shape && !found && i < state->shape->size(); ++i) {
    found = AxesOfInputs(session.inputs, states, (*state->shape)[i].symbol);
  }
  if (!found) {
    return InvalidArgument("no free dimension occurs in every state and in another input");
  }
  const auto is_first = [&](const StatePair& pair) { return found->inputs.at(pair.input) == 0; };
  // Where inputs have other first dimensions than that, rows are not tried.
  if (std::ranges::all_of(states, is_first) && !subject.bench.Rows().batch.inputs.empty()) {
    return InvalidArgument("'" + found->symbol +
                           "' is the first dimension of every state: see permuted-rows");
  }
  for (const TensorInfo& output : session.outputs) {
    std::optional<size_t> axis = AxisOf(&output, found->symbol);
    const auto pair = std::ranges::find(states, output.name, &StatePair::output);
    if (!axis && pair != states.end()) axis = found->inputs.at(pair->input);
    if (axis) found->outputs[output.name] = *axis;
    if (!axis) found->left_out.push_back(output.name);
  }
  return *std::move(found);
}

// These sequences of all tensors that have an axis of them.
Result<TensorMap> TakeSequences(const TensorMap& tensors, const std::map<std::string, size_t>& axes,
                                const std::vector<int64_t>& sequences) {
  TensorMap taken;
  for (const auto& [name, tensor] : tensors) {
    const auto axis = axes.find(name);
    if (axis == axes.end()) {
      taken.push_back({name, tensor});
      continue;
    }
    const Dims& dims = tensor.dims();
    if (axis->second >= dims.size() || dims[axis->second] <= std::ranges::max(sequences)) {
      return Malformed("'" + name + "' has the shape " + FormatDims(dims) + ", without " +
                       std::to_string(kSequences) + " sequences along axis " +
                       std::to_string(axis->second));
    }
    std::vector<Tensor> parts;
    for (const int64_t sequence : sequences) {
      VERNIER_ASSIGN_OR_RETURN(Tensor part, TakeWindow(tensor, axis->second, sequence, 1));
      parts.push_back(std::move(part));
    }
    VERNIER_ASSIGN_OR_RETURN(Tensor joined, JoinAlong(parts, axis->second));
    taken.push_back({name, std::move(joined)});
  }
  return taken;
}

TensorMap OnlyWithAxis(const TensorMap& outputs, const std::map<std::string, size_t>& axes) {
  TensorMap kept;
  for (const NamedTensor& output : outputs) {
    if (axes.contains(output.name)) kept.push_back(output);
  }
  return kept;
}

// A reason where the feed has fewer sequences than are to be told apart.
std::string WhyTooFew(const TensorMap& feed, const BatchAxes& axes) {
  for (const auto& [name, axis] : axes.inputs) {
    const Tensor* const tensor = Find(feed, name);
    if (tensor == nullptr || axis >= tensor->dims().size()) continue;
    if (tensor->dims()[axis] >= kSequences) continue;
    return "the size of '" + axes.symbol + "' is given: '" + name + "' has the shape " +
           FormatDims(tensor->dims()) + ", fewer than " + std::to_string(kSequences) +
           " sequences along axis " + std::to_string(axis);
  }
  return "";
}

// Leaves out outputs whose sequences share the scale of a dynamic quantisation, or are picked by an
// input; a reason where that leaves none.
std::string DropMeantToMeet(const Subject& subject, BatchAxes& axes,
                            std::vector<NotedOutput>& left_out) {
  std::vector<BatchedInput> inputs;
  for (const auto& [name, axis] : axes.inputs) inputs.push_back({name, axis});
  std::vector<std::string> outputs;
  for (const auto& [name, axis] : axes.outputs) outputs.push_back(name);
  std::string why;
  for (const MeetingRows& each : subject.bench.Meeting(inputs, outputs)) {
    if (!each.by_scale && !each.picked) continue;
    axes.outputs.erase(each.name);
    left_out.push_back({each.name, "its sequences are made of several: " + each.why});
    why = each.why;
  }
  return axes.outputs.empty() && !why.empty() ? "a sequence depends on the others: " + why : "";
}

struct Batch {
  const BatchAxes& axes;
  const TensorMap& feed;
  const TensorMap& outputs;
};

bool HoldSequences(Subject& subject, Trial& trial, const Batch& batch, const std::string& what,
                   const std::vector<int64_t>& sequences) {
  const Result<TensorMap> feed = TakeSequences(batch.feed, batch.axes.inputs, sequences);
  if (!feed.ok()) return trial.Break(what, feed.status().message());
  const Result<TensorMap> expected = TakeSequences(batch.outputs, batch.axes.outputs, sequences);
  if (!expected.ok()) return trial.Break(what, expected.status().message());
  const Result<TensorMap> outputs = subject.probe->Infer(*feed);
  if (!outputs.ok()) return trial.Break(what, outputs.status().message());
  trial.JudgeBy(subject.bench.BoundsOf(batch.feed, *expected));
  return trial.Hold(what, *expected, OnlyWithAxis(*outputs, batch.axes.outputs));
}

void TrySequences(Subject& subject, Trial& trial, const Batch& batch) {
  const std::string of_batch = " of a batch of " + std::to_string(kSequences);
  bool holds =
      HoldSequences(subject, trial, batch, "the sequences" + of_batch + " reversed", {2, 1, 0});
  for (int64_t i = 0; holds && i < kSequences; ++i) {
    holds = HoldSequences(subject, trial, batch,
                          "sequence " + std::to_string(i) + of_batch + " alone", {i});
  }
}

// A reason where none are known.
std::string FindStates(const Subject& subject, std::vector<StatePair>& states) {
  const SessionDescription& session = subject.probe->runner().session();
  if (session.inputs.empty() || session.outputs.empty()) {
    return std::string("the runner does not declare its ") +
           (session.inputs.empty() ? "inputs" : "outputs") + ", so its states are not known";
  }
  const Status paired =
      PairStateByLikeness({subject.runner.plan.name, session.inputs, session.outputs}, {}, states);
  if (paired.ok() && !states.empty()) return "";
  return "the model takes no states: no output's name clearly matches an input's";
}

}  // namespace

PropertyRecord PermutedStates(Subject& subject) {
  std::vector<StatePair> states;
  if (std::string none = FindStates(subject, states); !none.empty()) {
    return NotApplicable(std::move(none));
  }
  Result<BatchAxes> axes = FindAxes(subject, states);
  if (!axes.ok()) return NotApplicable(axes.status().message());
  std::vector<NotedOutput> left_out;
  for (std::string& output : axes->left_out) {
    left_out.push_back({std::move(output), "its shape does not name the batch dimension"});
  }
  std::string why = DropMeantToMeet(subject, *axes, left_out);
  if (!why.empty()) return NotApplicable(std::move(why));
  const Result<TensorMap> feed =
      subject.bench.Draw({.dimension = axes->symbol, .size = kSequences});
  if (!feed.ok()) return NotApplicable(feed.status().message());
  why = WhyTooFew(*feed, *axes);
  if (!why.empty()) return NotApplicable(std::move(why));
  Trial trial(subject);
  trial.AllowRounding(&*feed);
  const Result<TensorMap> made = subject.probe->Infer(*feed);
  if (!made.ok()) {
    trial.Break("a batch of " + std::to_string(kSequences) + " sequences", made.status().message());
    return trial.Finish("");
  }
  const TensorMap outputs = OnlyWithAxis(*made, axes->outputs);
  const Batch batch{*axes, *feed, outputs};
  TrySequences(subject, trial, batch);
  PropertyRecord record =
      trial.Finish("batches", "'" + axes->symbol + "' of size " + std::to_string(kSequences) +
                                  ", reversed, and each alone");
  record.left_out = std::move(left_out);
  return record;
}

}  // namespace vernier
