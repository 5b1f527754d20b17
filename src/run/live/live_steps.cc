#include "run/live/live_steps.h"

#include <algorithm>
#include <utility>

#include "run/live/output_uses.h"
#include "run/steps/prompt_inputs.h"
#include "vernier/compare_options.h"

namespace vernier {
namespace {

Result<std::optional<StepStates>> MakeStates(const RunPlan& plan, Logger& logger) {
  if (!plan.steps.wanted()) return std::optional<StepStates>();
  std::vector<std::string> runners;
  for (const RunnerPlan& runner : plan.runners) runners.push_back(runner.name);
  VERNIER_ASSIGN_OR_RETURN(StepStates steps,
                           StepStates::Create(plan.steps, std::move(runners), logger));
  if (steps.decoding() != nullptr) steps.decoding()->NameMask(plan.compare->mask);
  return std::optional<StepStates>(std::move(steps));
}

std::string InWords(const StepPosition& position) {
  return "step " + std::to_string(position.step) + " of sequence " +
         std::to_string(position.sequence);
}

}  // namespace

LiveSteps::LiveSteps(const RunPlan& plan, std::deque<RunnerSession>& runners,
                     RunnerReports& reports, const DeviceOutputs& devices, Logger& logger,
                     const Embedder* caller)
    : plan_(plan),
      runners_(runners),
      reports_(reports),
      devices_(devices),
      logger_(logger),
      states_(MakeStates(plan, logger)),
      may_stay_(StatesMayStay(plan, caller)) {}

Status LiveSteps::Begin(size_t index, int64_t iteration) {
  RunnerSession& runner = runners_[index];
  const bool within_sequence = states() != nullptr && !states()->axis(index) && iteration >= 0;
  runner.GoOn(false);
  if (!within_sequence) ForgetInside(index);
  if (!runner.keeps_state() || !within_sequence) return {};
  const StepPosition here = states()->timeline().Of(iteration);
  const auto before = inside_.find(index);
  const bool follows = before != inside_.end() && before->second.sequence == here.sequence &&
                       before->second.step + 1 == here.step;
  if (here.step > 0 && !follows) {
    return BackendError("its internal state before " + InWords(here) +
                        " is lost: a run cannot resume within a sequence");
  }
  runner.GoOn(here.step > 0);
  inside_.insert_or_assign(index, here);
  return {};
}

std::vector<std::string> LiveSteps::Staying(size_t index, int64_t iteration) const {
  if (!may_stay_ || iteration < 0 || !runners_[index].session().takes_steps) return {};
  std::vector<std::string> outputs = states()->StateOutputs(index);
  if (runners_.size() == 1) return outputs;
  // Comparisons leave out what a mask excludes, so its values are needed here.
  for (const StatePair& pair : states()->FedBackTo(index)) {
    if (IsMaskName(pair.input)) std::erase(outputs, pair.output);
  }
  return outputs;
}

std::optional<TensorBlock> LiveSteps::EncodeAhead(size_t index, const TensorMap& feed) const {
  const std::span<const StatePair> pairs = states()->FedBackAlone(index);
  TensorBlockBuilder builder;
  size_t fed_back = 0;
  for (const auto& [name, tensor] : feed) {
    const auto pair = std::ranges::find(pairs, name, &StatePair::input);
    if (pair == pairs.end()) {
      builder.Add(name, tensor.dtype(), tensor.dims(), tensor.bytes());
      continue;
    }
    const auto place = static_cast<uint64_t>(pair - pairs.begin());
    builder.AddKept(name, tensor.dtype(), tensor.dims(), kOfLastStep + place);
    ++fed_back;
  }
  if (fed_back == 0 || fed_back != pairs.size()) return std::nullopt;
  Result<TensorBlock> block = builder.Finish();
  return block.ok() ? std::optional(*std::move(block)) : std::nullopt;
}

Status LiveSteps::CheckState(size_t index) const {
  if (!may_stay_) return {};
  const bool lost = std::ranges::any_of(states()->StateOf(index), [&](const NamedTensor& state) {
    return devices_.Lost(state.tensor);
  });
  if (!lost) return {};
  return BackendError("its state before " + InWords(states()->position()) +
                      " was in the worker that ended (--use-subprocess gives each runner one of "
                      "its own)");
}

bool LiveSteps::Has(size_t index, int64_t iteration) const {
  const auto whole = whole_.find(index);
  return whole != whole_.end() && iteration >= 0 &&
         whole->second.Has(states()->timeline().Of(iteration));
}

Result<IterationResult> LiveSteps::Take(size_t index, int64_t iteration) {
  runners_[index].TakeOver(std::nullopt);
  return whole_.at(index).OfStep(states()->timeline().Of(iteration));
}

Result<IterationResult> LiveSteps::Keep(size_t index, int64_t iteration, IterationResult whole) {
  const std::optional<size_t> axis = states() == nullptr ? std::nullopt : states()->axis(index);
  if (!axis || iteration < 0) return whole;
  const StepPosition position = states()->timeline().Of(iteration);
  const std::optional<double> seconds = whole.runtime_s;
  WholeSequence& kept = whole_.try_emplace(index, *axis).first->second;
  VERNIER_ASSIGN_OR_RETURN(const std::vector<std::string> left,
                           kept.Keep(position, std::move(whole)));
  for (const std::string& name : left) {
    reports_.NoteOnce(runners_[index].name() + ": output '" + name +
                      "' has no element for any step along --steps-axis");
  }
  VERNIER_ASSIGN_OR_RETURN(IterationResult part, kept.OfStep(position));
  part.runtime_s = seconds;
  return part;
}

bool LiveSteps::HasLostSequence(size_t index) const {
  const auto lost = lost_.find(index);
  return lost != lost_.end() && lost->second == states()->position().sequence;
}

bool LiveSteps::HasState(size_t index) {
  if (!runners_[index].alive()) return false;
  if (may_stay_ && HasLostSequence(index)) return false;
  const Status state = CheckState(index);
  if (!state.ok()) LoseSequence(index, state);
  return state.ok();
}

void LiveSteps::LoseSequence(size_t index, const Status& why) {
  const std::string& name = runners_[index].name();
  lost_.insert_or_assign(index, states()->position().sequence);
  logger_.Error(PadName(name) + " | MISSING up to the end of the sequence: " + why.message());
  reports_.Note(name + ": " + why.message() + ", so the rest of this sequence is missing");
}

std::optional<IterationResult> LiveSteps::Miss(size_t index) {
  missed_[index] += runners_[index].alive() ? 1 : 0;
  return std::nullopt;
}

int64_t LiveSteps::IterationsOf(size_t index) const {
  const auto missed = missed_.find(index);
  return runners_[index].iterations() + (missed == missed_.end() ? 0 : missed->second);
}

Status LiveSteps::Remember(size_t index, const TensorMap& outputs) {
  Status remembered = states()->Remember(index, outputs);
  if (remembered.ok()) remembered = states()->CheckHandedOn(index, plan_.lenient);
  return FailWithoutState(index, std::move(remembered));
}

Status LiveSteps::RememberAgain(size_t index, const TensorMap& outputs) {
  if (states() == nullptr) return {};
  return FailWithoutState(index, states()->RememberAgain(index, outputs));
}

Status LiveSteps::FailWithoutState(size_t index, Status remembered) {
  if (remembered.code() != StatusCode::kBackend) return remembered;
  reports_.Fail(runners_[index], remembered);
  return {};
}

}  // namespace vernier
