#include "run/phases/step_feeds.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "inputs/random_feeds.h"
#include "inputs/value_ranges.h"
#include "run/feeds/fed_tokens.h"
#include "run/feeds/feed_plan.h"
#include "run/steps/step_tensors.h"
#include "util/log/no_log.h"

namespace vernier {
namespace {

Result<TensorMap> ReadInitialState(const std::string& path) {
  if (path.empty()) return TensorMap();
  VERNIER_ASSIGN_OR_RETURN(const std::unique_ptr<FeedReader> reader, FeedReader::Open({path}));
  VERNIER_ASSIGN_OR_RETURN(std::optional<TensorMap> state, reader->Next());
  const std::string who = "--initial-state: '" + path + "' holds ";
  if (!state || state->empty()) return Malformed(who + "no tensors");
  if (reader->HasMore()) {
    return Malformed(who +
                     "several states, and all sequences begin with the same one: give each "
                     "sequence its own with its inputs (--load-inputs)");
  }
  return *std::move(state);
}

// Nothing is drawn for a state.
Status CheckRanges(const RunPlan& plan, const StepStates& states) {
  VERNIER_ASSIGN_OR_RETURN(const auto ranges, ParseValueRanges(plan.inputs.range_words));
  const std::vector<std::string> inputs = states.StateInputs();
  for (const NamedRange& range : ranges) {
    if (std::ranges::find(inputs, range.name) == inputs.end()) continue;
    return InvalidArgument("--val-range: '" + range.name +
                           "' is fed back, and each sequence begins with zeros there, or with what "
                           "--initial-state gives: leave it out");
  }
  return {};
}

// A state has the batch of the inputs that are given: of leading dimensions with its name.
void AddLeadingSizes(const TensorMap& given, std::span<const TensorInfo> inputs,
                     std::vector<DimSize>& sizes) {
  for (const TensorInfo& input : inputs) {
    const Tensor* const tensor = Find(given, input.name);
    if (tensor == nullptr || tensor->dims().empty() || !input.shape || input.shape->empty())
      continue;
    if (input.shape->front().dynamic()) {
      sizes.push_back({DimensionKey(input, 0), tensor->dims().front()});
    }
  }
}

// Zeros in the shapes that random inputs would have. Those of other inputs may say how long an axis
// is, but nothing is drawn for them: there may be no random ones.
Result<TensorMap> DrawZeros(RunPlan plan, std::span<const TensorInfo> inputs,
                            const std::vector<std::string>& names, const TensorMap& given) {
  AddLeadingSizes(given, inputs, plan.inputs.found_dims);
  plan.inputs.like.clear();
  plan.inputs.from_graph = false;
  NoLog unheard;
  RandomFeedOptions options;
  options.seed = plan.inputs.seed;
  options.strictness = plan.lenient ? Strictness::kPolygraphy : Strictness::kStrict;
  VERNIER_ASSIGN_OR_RETURN(options.shapes,
                           ParseShapeSpecs(plan.inputs.shape_words, options.strictness));
  VERNIER_TRY(AddFeedSources(plan, inputs, options, unheard));
  std::vector<TensorInfo> states, others;
  for (const TensorInfo& input : inputs) {
    (std::ranges::find(names, input.name) != names.end() ? states : others).push_back(input);
  }
  std::erase_if(options.shapes, [&](const ShapeSpec& spec) {
    const auto means = [&](const TensorInfo& input) { return MeansInput(spec.name, input.name); };
    return std::ranges::any_of(others, means) && std::ranges::none_of(states, means);
  });
  VERNIER_ASSIGN_OR_RETURN(const RandomFeeds feeds,
                           RandomFeeds::Create(std::move(options), std::move(states)));
  VERNIER_ASSIGN_OR_RETURN(const TensorMap drawn, feeds.Make(0, unheard));
  TensorMap zeros;
  for (const NamedTensor& input : drawn) {
    VERNIER_ASSIGN_OR_RETURN(Tensor tensor, MakeZeros(input.tensor.dtype(), input.tensor.dims()));
    zeros.push_back({input.name, std::move(tensor)});
  }
  return zeros;
}

struct HeldTokens {
  explicit HeldTokens(const RunPlan& its) : plan(its) {}
  const RunPlan plan;
  const FedTokens tokens{plan};
};

// Of what goes to runners under its own name. A decoding looks at its prompts (`decoded`) by
// itself.
void CheckTokens(const RunPlan& plan, const std::string& decoded, Logger& logger,
                 StepSequence::Source& source) {
  if (!plan.inputs.map_words.empty()) return;
  const auto held = std::make_shared<const HeldTokens>(plan);
  source.check = [held, decoded, &logger](const TensorMap& whole) -> Status {
    TensorMap looked_up = whole;
    std::erase_if(looked_up, [&](const NamedTensor& input) { return input.name == decoded; });
    for (size_t i = 0; i < held->plan.runners.size(); ++i) {
      VERNIER_TRY(held->tokens.Check(i, looked_up, logger));
    }
    return {};
  };
  source.check_made = [held](const AdvanceWord& advance, const NamedTensor& made) -> Status {
    const bool down = advance.amount < 0;
    for (size_t i = 0; i < held->plan.runners.size(); ++i) {
      VERNIER_TRY(held->tokens.CheckMade(i, made, down));
    }
    return {};
  };
}

}  // namespace

Result<std::unique_ptr<FeedStream>> OpenStepFeeds(const RunPlan& plan,
                                                  std::span<const TensorInfo> inputs,
                                                  const PythonFeeds& python, StepStates* states,
                                                  Logger& logger) {
  if (states == nullptr) return FeedStream::Open(plan, inputs, python, logger);
  const bool drawn = python.script == nullptr && plan.inputs.load_paths.empty();
  if (drawn && !plan.lenient) VERNIER_TRY(CheckRanges(plan, *states));
  StepSequence::Source source;
  source.runner = states->fed_for();
  source.inputs.assign(inputs.begin(), inputs.end());
  source.state_is_drawn = drawn;
  VERNIER_ASSIGN_OR_RETURN(source.initial, ReadInitialState(plan.steps.initial_state));
  std::vector<TensorInfo> whole(inputs.begin(), inputs.end());
  if (drawn) {
    // Of texts nothing can be drawn, which other states are in the order of.
    std::erase_if(whole, [&](const TensorInfo& input) {
      return input.dtype == DType::kString && Find(source.initial, input.name) != nullptr;
    });
    VERNIER_ASSIGN_OR_RETURN(whole, InputsOfSequences(*states, source.runner, whole));
  }
  // Feeds are made for the first runner, which may be another than the one with the state.
  std::vector<TensorInfo> known = states->InputsOfStateRunner();
  for (const TensorInfo& input : inputs) {
    if (FindInfo(known, input.name) == nullptr) known.push_back(input);
  }
  if (!known.empty()) {
    source.zeros = [plan, inputs = std::move(known), names = states->StateInputs()](
                       const TensorMap& given) { return DrawZeros(plan, inputs, names, given); };
  }
  CheckTokens(plan, states->TokensInput(), logger, source);
  VERNIER_ASSIGN_OR_RETURN(auto steps, StepSequence::Create(*states, std::move(source)));
  VERNIER_ASSIGN_OR_RETURN(auto stream, FeedStream::Open(plan, whole, python, logger));
  stream->GoInSteps(std::move(steps));
  return stream;
}

}  // namespace vernier
