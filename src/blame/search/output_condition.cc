#include "blame/search/output_condition.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "blame/judge/verdicts.h"
#include "blame/search/unseen_outputs.h"
#include "model/onnx/random_operators.h"
#include "model/ranges/input_steps.h"
#include "model/rounding/error_model.h"
#include "run/runner/nudged_floats.h"
#include "run/runner/nudged_weights.h"
#include "util/text/number_text.h"

namespace vernier {
namespace {

constexpr size_t kMostNudged = 8;  // iterations
constexpr uint64_t kOutputDraws = 3;
// One draw of two may flip no step at all.
constexpr uint64_t kFlippingDraws = 8;
// Two right sides flip steps of their own, in each layer, and the movement of one side that rounds
// its inputs alone is a sample of that.
constexpr double kTimesFlipped = 2;

// What movements of the outputs are counted in: roundoffs, or their error bounds where they come of
// steps that flip, whose size has nothing to do with a roundoff.
enum class CountedIn : uint8_t { kRoundoffs, kBounds };

// As for the verdicts: bounds are known to a factor only.
constexpr double kClearly = 3;

// Outputs that move by more on the same inputs do not repeat themselves.
constexpr double kFewMovements = 8;
constexpr double kFloat32Step = 0x1p-24;

// A Dropout drops in training alone, which its third input says.
bool IsRandomNode(const OnnxGraph& graph, const OnnxNode& node) {
  if (node.op_type == "Dropout") return graph.Inputs(node).size() > 2;
  return IsRandomOperator(node.op_type);
}

// Which outputs do not repeat themselves. Twice: a session that has just been opened may begin with
// the same random numbers as the one before it.
Status RepeatOutputs(const SearchSubject& subject, RunnerSession& session, BlameRecord& record) {
  if (subject.unprobed.feeds.empty()) return {};
  const TensorMap& feed = subject.unprobed.feeds.front();
  const double limit = kFewMovements * std::max(CoarsestRoundoff(feed), kFloat32Step);
  bool all = true;
  for (int i = 0; i < 2; ++i) {
    VERNIER_ASSIGN_OR_RETURN(const TensorMap made, subject.sides.candidate.Infer(session, feed));
    const std::map<std::string, double> movements = subject.unprobed.outputs.Movements(0, made);
    for (BlameOutputCondition& output : record.output_conditions) {
      const auto moved = movements.find(output.name);
      if (moved != movements.end() && moved->second > limit) output.repeats = false;
      all &= output.repeats;
    }
  }
  const OnnxGraph& graph = subject.graph().graph();
  for (const uint32_t index : subject.graph().order()) {
    if (all || !IsRandomNode(graph, graph.nodes[index])) continue;
    record.random_nodes.push_back(subject.graph().NodeName(index));
  }
  return {};
}

// An error that is made explains what the outputs differ by. Of random values there is no right.
// Kernels that compute several nodes round, and flip steps, at other places than the nodes: what
// does not reach the group's end, and is no clear error, is none.
bool MakesError(const BlameLayerRecord& layer, CountedIn counted) {
  if (IsRandomOperator(layer.op_type)) return false;
  const bool doubtful = counted == CountedIn::kBounds && layer.total_error <= 1;
  const double together = std::max(layer.fused_error.value_or(0), layer.in_place_error.value_or(0));
  return layer.own_error.value_or(0) > 1 || together > (doubtful ? kClearly : 1);
}

// The outputs that are over their bounds, with probes or without; none where a layer makes an
// error.
std::vector<BlameOutputCondition> UnexplainedOutputs(const SearchSubject& subject,
                                                     const AmplifiedTensors& amplified,
                                                     CountedIn counted, const BlameRecord& record) {
  const bool made = std::ranges::any_of(
      record.layers, [&](const BlameLayerRecord& layer) { return MakesError(layer, counted); });
  if (made) return {};
  std::map<std::string, double> errors = subject.unprobed.outputs.Errors();
  for (const BlameLayerRecord& layer : record.layers) {
    for (const BlameTensorRecord& tensor : layer.outputs) {
      const std::string& name = tensor.name_in_candidate();
      if (!subject.graph().IsOutput(name)) continue;
      errors[name] = std::max(errors[name], tensor.total_error);
    }
  }
  std::vector<BlameOutputCondition> outputs;
  for (const auto& [name, error] : errors) {
    if (error <= 1 || IsStored(subject.graph().graph(), name)) continue;
    const auto found = amplified.find(name);
    outputs.push_back({name, error, found == amplified.end() ? 0 : found->second});
  }
  return outputs;
}

// What the values of the tensors before an output show: with probes it differs by more than its
// bound without them, as it does without probes, and is within the one that the values give.
void ExplainByValues(const SearchSubject& subject, const BlameRecord& record,
                     std::vector<BlameOutputCondition>& outputs) {
  if (outputs.empty()) return;
  const std::map<std::string, double> bounds = subject.unprobed.outputs.Bounds();
  for (const BlameLayerRecord& layer : record.layers) {
    for (const BlameTensorRecord& tensor : layer.outputs) {
      const auto output =
          std::ranges::find(outputs, tensor.name_in_candidate(), &BlameOutputCondition::name);
      const auto bound = bounds.find(tensor.name_in_candidate());
      if (output == outputs.end() || bound == bounds.end() || !(bound->second > 0)) continue;
      const double wider = tensor.total_bound / bound->second;
      const bool shown = tensor.total_error <= 1 && tensor.total_rms > bound->second;
      if (!shown || wider <= output->condition) continue;
      output->condition = wider;
      output->by_values = true;
    }
  }
}

// What iteration `i` shows, of which `made` are the moved outputs.
void RaiseOutputs(const SearchSubject& subject, size_t i, const TensorMap& made, double roundoff,
                  CountedIn counted, std::vector<BlameOutputCondition>& outputs) {
  const bool in_bounds = counted == CountedIn::kBounds;
  UnprobedOutputs& plain = subject.unprobed.outputs;
  const std::map<std::string, double> movements =
      in_bounds ? plain.TimesMoved(i, made) : plain.Movements(i, made);
  for (BlameOutputCondition& output : outputs) {
    const auto moved = movements.find(output.name);
    const bool told = moved != movements.end() && std::isfinite(moved->second);
    if (!told || !output.repeats) continue;
    const double steps = in_bounds ? kTimesFlipped * moved->second : moved->second / roundoff;
    output.condition = std::max(output.condition, steps);
  }
}

// How far the outputs move when each float of the inputs moves by one rounding step.
Status NudgeInputs(const SearchSubject& subject, const SteppedInputs& steps, RunnerSession& session,
                   uint64_t draw, CountedIn counted, std::vector<BlameOutputCondition>& outputs) {
  const std::vector<TensorMap>& feeds = subject.unprobed.feeds;
  for (size_t i = 0; i < std::min(feeds.size(), kMostNudged); ++i) {
    VERNIER_TRY(subject.context.CheckInterrupted());
    const double roundoff = CoarsestRoundoff(feeds[i], steps);
    if (roundoff == 0) continue;
    VERNIER_ASSIGN_OR_RETURN(const TensorMap nudged, NudgedFeed(feeds[i], Nudge{draw}, steps));
    VERNIER_ASSIGN_OR_RETURN(const TensorMap made, subject.sides.candidate.Infer(session, nudged));
    RaiseOutputs(subject, i, made, roundoff, counted, outputs);
  }
  return {};
}

// The same of the weights, for feeds of which no float is moved; where steps flip, of weights,
// scales and inputs together, as `run` does.
Status NudgeWeights(const SearchSubject& subject, const SteppedInputs& steps,
                    const NudgedWeights& weights, uint64_t draw, CountedIn counted,
                    std::vector<BlameOutputCondition>& outputs) {
  ProbeSide& candidate = subject.sides.candidate;
  VERNIER_ASSIGN_OR_RETURN(const std::shared_ptr<const ModelSource> model,
                           weights.Move(Nudge{draw}));
  VERNIER_ASSIGN_OR_RETURN(std::unique_ptr<RunnerSession> session, candidate.Open(*model));
  const std::vector<TensorMap>& feeds = subject.unprobed.feeds;
  for (size_t i = 0; i < std::min(feeds.size(), kMostNudged); ++i) {
    VERNIER_TRY(subject.context.CheckInterrupted());
    if (counted == CountedIn::kRoundoffs && CoarsestRoundoff(feeds[i], steps) > 0) continue;
    VERNIER_ASSIGN_OR_RETURN(const TensorMap nudged, NudgedFeed(feeds[i], Nudge{draw}, steps));
    VERNIER_ASSIGN_OR_RETURN(const TensorMap made, candidate.Infer(*session, nudged));
    RaiseOutputs(subject, i, made, weights.roundoff(), counted, outputs);
  }
  ProbeSide::Close(session);
  return {};
}

// None: no feed wants them, or they cannot be moved.
std::optional<NudgedWeights> WeightsToMove(const SearchSubject& subject, const SteppedInputs& steps,
                                           CountedIn counted) {
  const ProbeSide& candidate = subject.sides.candidate;
  const bool flips = counted == CountedIn::kBounds;
  const bool wanted =
      flips || std::ranges::any_of(subject.unprobed.feeds, [&](const TensorMap& feed) {
        return CoarsestRoundoff(feed, steps) == 0;
      });
  if (!wanted || candidate.BuildsEngines()) return {};
  Result<NudgedWeights> weights = NudgedWeights::Of(
      candidate.plan().model, flips ? MovedWeights::kMatricesAndScales : MovedWeights::kMatrices);
  if (!weights.ok()) return {};
  return *std::move(weights);
}

Status MeasureOutputs(const SearchSubject& subject, CountedIn counted, BlameRecord& record) {
  VERNIER_ASSIGN_OR_RETURN(std::unique_ptr<RunnerSession> session,
                           subject.sides.candidate.OpenPlain());
  VERNIER_TRY(RepeatOutputs(subject, *session, record));
  const SteppedInputs steps = FindSteppedInputs(subject.graph().model());
  const std::optional<NudgedWeights> weights = WeightsToMove(subject, steps, counted);
  const uint64_t draws = counted == CountedIn::kBounds ? kFlippingDraws : kOutputDraws;
  std::vector<BlameOutputCondition>& outputs = record.output_conditions;
  for (uint64_t draw = 0; draw < draws && !ExplainedByRounding(record); ++draw) {
    VERNIER_TRY(NudgeInputs(subject, steps, *session, draw, counted, outputs));
    if (weights && !ExplainedByRounding(record))
      VERNIER_TRY(NudgeWeights(subject, steps, *weights, draw, counted, outputs));
  }
  ProbeSide::Close(session);
  return {};
}

}  // namespace

Status ExplainOutputs(const SearchSubject& subject, const AmplifiedTensors& amplified,
                      BlameRecord& record) {
  // Where one side alone makes steps, rounding explains little of what they do.
  const CountedIn counted =
      HasQuantisers(subject.graph().model()) ? CountedIn::kBounds : CountedIn::kRoundoffs;
  std::vector<BlameOutputCondition> outputs =
      UnexplainedOutputs(subject, amplified, counted, record);
  const bool finite = std::all_of(outputs.begin(), outputs.end(),
                                  [](const auto& output) { return std::isfinite(output.error); });
  if (outputs.empty() || !finite) return {};
  record.output_conditions = std::move(outputs);
  if (!record.quantises_alone && !ExplainedByRounding(record)) {
    VERNIER_TRY(MeasureOutputs(subject, counted, record));
  }
  // What is measured says more than what values allow for.
  if (!ExplainedByRounding(record)) ExplainByValues(subject, record, record.output_conditions);
  for (const BlameOutputCondition& output : record.output_conditions) {
    record.condition = std::max(record.condition, output.condition);
  }
  return {};
}

std::string DescribeCondition(const BlameRecord& record, bool quantises) {
  if (!ExplainedByRounding(record)) return {};
  const auto& outputs = record.output_conditions;
  const auto worst =
      std::max_element(outputs.begin(), outputs.end(),
                       [](const auto& a, const auto& b) { return a.error < b.error; });
  const std::string differ =
      "the outputs differ by " + FormatG(worst->error, 3) + " times their error bound, ";
  if (worst->by_values) {
    return differ + "and the values of the tensors before them explain " +
           FormatG(worst->condition, 3) +
           " times: the model amplifies rounding, which is not a fault of a layer";
  }
  if (quantises) {
    return differ + "and steps that rounding of the inputs flips explain " +
           FormatG(worst->condition, 3) +
           " times: the model makes much of single steps, which is not a fault of a layer";
  }
  return differ + "which a condition number of " + FormatG(worst->condition, 3) +
         " explains: the model amplifies rounding, which is not a fault of a layer";
}

}  // namespace vernier
