// --feed-back auto.
#include "run/steps/state_likeness.h"

#include <algorithm>

#include "run/steps/state_pairs.h"

namespace vernier {
namespace {

// An output and an input whose names belong together.
struct StateLink {
  const TensorInfo* output;
  const TensorInfo* input;
  NameLikeness likeness;
  std::string why;  // they can never be equal; empty: they can
};

bool ShareStem(const TensorInfo& output, const TensorInfo& input) {
  return LikenessOfNames(output.name, input.name) != NameLikeness::kNone;
}

// "cache_" of cache_0; empty: there is no number, or nothing but "input" before it.
std::string StartOfNumbered(const std::string& name) {
  const size_t digit = name.find_first_of("0123456789");
  if (digit == std::string::npos) return "";
  std::string start = name.substr(0, digit);
  const std::vector<std::string> stems = StateStems(start, false);
  return stems.empty() || stems.front().empty() ? "" : start;
}

// Could the input be the output of the step before, by its type, shape and name?
bool IsCalledLike(const TensorInfo& output, const TensorInfo& input) {
  return ShareStem(output, input) &&
         (IsStateName(input.name) || WhyNeverEqual(output, input).empty());
}

// "cache_0" and "cache_1".
bool IsNumberedLike(const TensorInfo& output, const TensorInfo& input) {
  const std::string start = StartOfNumbered(input.name);
  return !start.empty() && StartOfNumbered(output.name) == start &&
         WhyNeverEqual(output, input).empty();
}

bool IsOpenAxis(const Dim& dim, const RunnerSides& runner) {
  if (!dim.dynamic()) return false;
  return std::ranges::none_of(runner.inputs, [&](const TensorInfo& input) {
    return !dim.symbol.empty() && input.shape &&
           std::ranges::find(*input.shape, dim.symbol, &Dim::symbol) != input.shape->end();
  });
}

bool HasOpenShape(const TensorInfo& info, const RunnerSides& runner) {
  if (info.dtype == DType::kUndefined || !info.shape) return true;
  return std::ranges::any_of(*info.shape, [&](const Dim& dim) { return IsOpenAxis(dim, runner); });
}

// How much a common shape says.
enum class ShapeLikeness : uint8_t {
  kNone,
  kSingle,  // one element a row, as many things have
  kSame,
};

ShapeLikeness LikenessOf(std::span<const Dim> dims) {
  if (dims.size() < 2) return ShapeLikeness::kNone;
  const std::span<const Dim> row = dims.subspan(1);
  const auto says = [](const Dim& dim) {
    return dim.dynamic() ? !dim.symbol.empty() : dim.value != 1;
  };
  if (std::ranges::any_of(row, says)) return ShapeLikeness::kSame;
  const bool single = std::ranges::none_of(row, [](const Dim& dim) { return dim.dynamic(); });
  return single ? ShapeLikeness::kSingle : ShapeLikeness::kNone;
}

// In a step, whatever is declared.
ShapeLikeness LikenessInStep(const Tensor& output, const Tensor& input) {
  if (output.dtype() != input.dtype() || output.dims() != input.dims()) return ShapeLikeness::kNone;
  std::vector<Dim> dims;
  for (const int64_t size : input.dims()) dims.push_back({size, {}});
  return LikenessOf(dims);
}

// Whatever both are called: could the input be the output of the step before? Vectors are as often
// scales.
ShapeLikeness LikenessOfShapes(const TensorInfo& output, const TensorInfo& input,
                               const RunnerSides& runner) {
  const Tensor* const given = runner.given == nullptr ? nullptr : Find(*runner.given, output.name);
  const Tensor* const fed = runner.fed == nullptr ? nullptr : Find(*runner.fed, input.name);
  const bool open = HasOpenShape(output, runner) || HasOpenShape(input, runner);
  if (open && given != nullptr && fed != nullptr) return LikenessInStep(*given, *fed);
  const bool alike = output.dtype != DType::kUndefined && output.dtype == input.dtype &&
                     output.shape && input.shape && *output.shape == *input.shape;
  return alike ? LikenessOf(*input.shape) : ShapeLikeness::kNone;
}

// Is the output, by its name, the next value of something: "new_x", or "o2" where "o1" is fed back?
bool IsCalledNew(const TensorInfo& output, std::span<const StatePair> pairs) {
  if (IsNewName(output.name)) return true;
  const std::string start = StartOfNumbered(output.name);
  if (start.empty() || StateStems(start, true).empty()) return false;
  return std::ranges::any_of(
      pairs, [&](const StatePair& pair) { return StartOfNumbered(pair.output) == start; });
}

bool IsDriven(std::span<const std::string> driven, const TensorInfo& input) {
  return std::ranges::find(driven, input.name) != driven.end();
}

// An input without a next value, and what could be that.
std::string StaysBecause(const RunnerSides& runner, const TensorInfo& input,
                         const std::string& output) {
  return "--feed-back: nothing feeds the input '" + input.name + "' of " + runner.shown() +
         " after the first step, and " + output;
}

std::vector<const TensorInfo*> OutputsShapedLike(const TensorInfo& input, const RunnerSides& runner,
                                                 std::span<const StatePair> pairs) {
  std::vector<const TensorInfo*> outputs;
  for (const TensorInfo& output : runner.outputs) {
    const bool free = std::ranges::find(pairs, output.name, &StatePair::output) == pairs.end();
    if (free && LikenessOfShapes(output, input, runner) != ShapeLikeness::kNone)
      outputs.push_back(&output);
  }
  return outputs;
}

// state_1_out and state_2_out may feed state_0 and state_1 in this order or in another: none of the
// pairs is proposed.
Status CheckNumbered(const RunnerSides& runner, const TensorInfo& input,
                     std::span<const StatePair> pairs) {
  const auto like = std::ranges::find_if(runner.outputs, [&](const TensorInfo& output) {
    const bool free = std::ranges::find(pairs, output.name, &StatePair::output) == pairs.end();
    return free && IsNumberedLike(output, input);
  });
  if (like == runner.outputs.end()) return {};
  const std::string start = StartOfNumbered(input.name);
  std::string outputs, inputs;
  for (const TensorInfo& output : runner.outputs) {
    if (IsNumberedLike(output, input))
      outputs += (outputs.empty() ? "'" : ", '") + output.name + "'";
  }
  for (const TensorInfo& other : runner.inputs) {
    if (StartOfNumbered(other.name) != start) continue;
    inputs += (inputs.empty() ? "'" : ", '") + other.name + "'";
  }
  return InvalidArgument(StaysBecause(
      runner, input,
      "output '" + like->name + "' is numbered like it: write out as OUTPUT:INPUT which of " +
          outputs + " feeds which of " + inputs + ", or add --advance " + input.name +
          ":+0 for a value that stays"));
}

class LikenessPairing {
 public:
  LikenessPairing(const RunnerSides& runner, std::span<const std::string> driven,
                  const std::vector<StatePair>& given)
      : runner_(runner) {
    for (const TensorInfo& input : runner.inputs) {
      const bool taken =
          std::ranges::find(driven, input.name) != driven.end() ||
          std::ranges::any_of(given, [&](const auto& pair) { return pair.input == input.name; });
      if (!taken) inputs_.push_back(&input);
    }
    for (const TensorInfo& output : runner.outputs) {
      const bool taken =
          std::ranges::any_of(given, [&](const auto& pair) { return pair.output == output.name; });
      if (!taken) outputs_.push_back(&output);
    }
  }

  Result<std::vector<StatePair>> Find() {
    for (const TensorInfo* output : outputs_) {
      for (const TensorInfo* input : inputs_) {
        const NameLikeness likeness = LikenessOfNames(output->name, input->name);
        if (likeness == NameLikeness::kNone) continue;
        links_.push_back({output, input, likeness, WhyNeverEqual(*output, *input)});
      }
    }
    LetExactNamesDecide();
    std::vector<StatePair> pairs;
    for (const StateLink& link : links_) {
      if (!link.why.empty()) {
        if (Fitting(link.input) == 0) Doubt(link, link.why);
      } else if (Fitting(link.output) > 1 || Fitting(link.input) > 1) {
        Doubt(link, "more than one fits");
      } else {
        pairs.push_back({link.output->name, link.input->name});
      }
    }
    for (const TensorInfo* input : inputs_) {
      const bool linked =
          std::ranges::any_of(links_, [&](const StateLink& link) { return link.input == input; });
      if (linked || !IsStateName(input->name)) continue;
      doubts_ += "\n    input '" + input->name + "', " + TypeAndShape(*input) +
                 ": no output is called like it";
    }
    if (doubts_.empty()) return pairs;
    return BadStepWord(kFeedBackFlag, "auto",
                       "it is not clear what feeds the inputs of " + runner_.shown() +
                           "; name them as OUTPUT:INPUT:" + doubts_);
  }

 private:
  // new_last_x is the next last_x, and not the next x.
  void LetExactNamesDecide() {
    std::vector<const TensorInfo*> decided;
    for (const StateLink& link : links_) {
      if (link.likeness != NameLikeness::kExact || !link.why.empty()) continue;
      decided.insert(decided.end(), {link.output, link.input});
    }
    std::erase_if(links_, [&](const StateLink& link) {
      const auto has = [&](const TensorInfo* end) {
        return std::ranges::find(decided, end) != decided.end();
      };
      return link.likeness != NameLikeness::kExact && (has(link.output) || has(link.input));
    });
  }

  // Links that could be pairs.
  int64_t Fitting(const TensorInfo* either) const {
    return std::ranges::count_if(links_, [&](const StateLink& link) {
      return link.why.empty() && (link.output == either || link.input == either);
    });
  }

  void Doubt(const StateLink& link, const std::string& why) {
    doubts_ += "\n    output '" + link.output->name + "', " + TypeAndShape(*link.output) +
               ", and input '" + link.input->name + "', " + TypeAndShape(*link.input) + ": " + why;
  }

  const RunnerSides& runner_;
  std::vector<const TensorInfo*> inputs_, outputs_;
  std::vector<StateLink> links_;
  std::string doubts_;
};

}  // namespace

std::vector<TensorInfo> OwnOutputs(const RunnerSides& runner) {
  const bool known = runner.own_outputs && !runner.own_outputs->empty();
  std::vector<TensorInfo> outputs;
  for (const TensorInfo& output : runner.outputs) {
    const bool own =
        !known || std::ranges::find(*runner.own_outputs, output.name) != runner.own_outputs->end();
    if (own) outputs.push_back(output);
  }
  return outputs;
}

bool HasOpenShapes(const RunnerSides& runner) {
  const auto open = [&](const TensorInfo& info) { return HasOpenShape(info, runner); };
  return runner.outputs.empty() || std::ranges::any_of(runner.inputs, open) ||
         std::ranges::any_of(runner.outputs, open);
}

std::string WordsToFeed(const TensorInfo& input, const RunnerSides& runner,
                        std::span<const StatePair> pairs) {
  if (pairs.empty()) return "";
  std::string words;
  for (const TensorInfo* output : OutputsShapedLike(input, runner, pairs)) {
    words += (words.empty() ? "" : " or ") + output->name + ":" + input.name;
  }
  return words;
}

Status CheckAllStatesFed(const RunnerSides& runner, std::span<const std::string> driven,
                         std::span<const StatePair> pairs) {
  if (pairs.empty()) return {};
  for (const TensorInfo& input : runner.inputs) {
    if (IsDriven(driven, input)) continue;
    if (std::ranges::find(pairs, input.name, &StatePair::input) != pairs.end()) continue;
    const auto like = std::ranges::find_if(runner.outputs, [&](const TensorInfo& output) {
      const bool free = std::ranges::find(pairs, output.name, &StatePair::output) == pairs.end();
      return free && IsCalledLike(output, input);
    });
    if (like != runner.outputs.end()) {
      return InvalidArgument(StaysBecause(runner, input,
                                          "output '" + like->name + "' is called like it: add " +
                                              like->name + ":" + input.name + ", or --advance " +
                                              input.name + ":+0 for a value that stays"));
    }
    VERNIER_TRY(CheckNumbered(runner, input, pairs));
    if (std::ranges::find(runner.mapped, input.name) != runner.mapped.end()) continue;
    // Of several outputs none is better than the others, nor than that it stays.
    const bool is_state =
        std::ranges::any_of(OutputsShapedLike(input, runner, pairs), [&](const auto* output) {
          return IsCalledNew(*output, pairs) &&
                 LikenessOfShapes(*output, input, runner) == ShapeLikeness::kSame;
        });
    if (!is_state) continue;
    return InvalidArgument(
        StaysBecause(runner, input,
                     "an output that feeds nothing has its type and shape: add --advance " +
                         input.name + ":+0 for a value that stays, or " +
                         WordsToFeed(input, runner, pairs) + " for a state"));
  }
  return {};
}

Status CheckNoStateStays(const RunnerSides& runner, std::span<const std::string> driven) {
  for (const TensorInfo& input : runner.inputs) {
    const bool flat = input.shape && input.shape->size() < 2;
    if (IsDriven(driven, input) || (flat && !IsStateName(input.name))) continue;
    const auto like = std::ranges::find_if(runner.outputs, [&](const TensorInfo& output) {
      return ShareStem(output, input) && WhyNeverEqual(output, input).empty();
    });
    if (like == runner.outputs.end()) continue;
    return InvalidArgument(StaysBecause(
        runner, input,
        "output '" + like->name + "' is called like it: add --feed-back " + like->name + ":" +
            input.name + ", or --advance " + input.name + ":+0 for a value that stays"));
  }
  return {};
}

Status PairStateByLikeness(const RunnerSides& runner, std::span<const std::string> driven,
                           std::vector<StatePair>& pairs) {
  if (runner.inputs.empty() || runner.outputs.empty()) {
    return BadStepWord(kFeedBackFlag, "auto",
                       runner.shown() +
                           " does not name its inputs and outputs; name them as "
                           "OUTPUT:INPUT");
  }
  VERNIER_ASSIGN_OR_RETURN(const std::vector<StatePair> found,
                           LikenessPairing(runner, driven, pairs).Find());
  pairs.insert(pairs.end(), found.begin(), found.end());
  if (!pairs.empty()) return {};
  for (const TensorInfo& input : runner.inputs) {
    const auto like = std::ranges::find_if(
        runner.outputs, [&](const TensorInfo& output) { return ShareStem(output, input); });
    if (!IsDriven(driven, input) || like == runner.outputs.end()) continue;
    return BadStepWord(kFeedBackFlag, "auto",
                       "output '" + like->name + "' of " + runner.shown() +
                           " is called like the input '" + input.name +
                           "', which --step-slice or --advance sets already: leave it out of one "
                           "of the two");
  }
  std::string text = runner.shown() +
                     " has no output that is called like one of its inputs; name them"
                     " as OUTPUT:INPUT:";
  for (const TensorInfo& output : runner.outputs) {
    text += "\n    output '" + output.name + "', " + TypeAndShape(output);
  }
  for (const TensorInfo& input : runner.inputs) {
    text += "\n    input '" + input.name + "', " + TypeAndShape(input);
  }
  return BadStepWord(kFeedBackFlag, "auto", text);
}

}  // namespace vernier
