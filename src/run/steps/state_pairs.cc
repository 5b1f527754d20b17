#include "run/steps/state_pairs.h"

#include <algorithm>
#include <optional>

#include "record/schema/runner_name.h"
#include "util/text/star_pattern.h"

namespace vernier {
namespace {

std::string QuotedInfoNames(std::span<const TensorInfo> infos) {
  std::string text;
  for (const TensorInfo& info : infos) text += (text.empty() ? "'" : ", '") + info.name + "'";
  return text.empty() ? "none that it names" : text;
}

// One word, with what it names in one runner.
class WordPairs {
 public:
  WordPairs(const FeedBackWord& word, const RunnerSides& runner) : word_(word), runner_(runner) {}

  Result<std::vector<StatePair>> Find() const {
    for (const auto& [output, input] : word_.Splits()) {
      VERNIER_ASSIGN_OR_RETURN(std::vector<StatePair> pairs, FindAs(output, input));
      if (!pairs.empty()) return pairs;
    }
    if (word_.label.empty()) return std::vector<StatePair>();
    if (runner_.outputs.empty() && word_.rest.find('*') != std::string::npos) {
      return Bad(runner_.shown() +
                 " does not name its outputs, so none fits a pattern: write out each OUTPUT:INPUT");
    }
    return Bad(runner_.shown() + " has no such output and input; its outputs are " +
               QuotedInfoNames(runner_.outputs) + ", its inputs " +
               QuotedInfoNames(runner_.inputs));
  }

 private:
  Status Bad(const std::string& why) const { return BadStepWord(kFeedBackFlag, word_.word, why); }

  // Names that nobody can check are believed.
  bool MayHave(std::span<const TensorInfo> infos, const std::string& name) const {
    return infos.empty() || FindInfo(infos, name) != nullptr;
  }

  Result<std::vector<StatePair>> FindAs(const std::string& output, const std::string& input) const {
    const bool pattern = output.find('*') != std::string::npos;
    std::vector<StatePair> pairs;
    if (!pattern) {
      const bool fits = MayHave(runner_.outputs, output) && MayHave(runner_.inputs, input);
      if (fits) pairs.push_back({output, input});
      return pairs;
    }
    std::vector<StatePair> lost;
    for (const TensorInfo& info : runner_.outputs) {
      const std::optional<std::string> text = MatchStar(output, info.name);
      if (!text) continue;
      const std::string fed = FillStar(input, *text);
      (MayHave(runner_.inputs, fed) ? pairs : lost).push_back({info.name, fed});
    }
    if (pairs.empty() || lost.empty()) return pairs;
    return Bad("output '" + lost.front().output + "' of " + runner_.shown() + " would go to '" +
               lost.front().input + "', which is not an input");
  }

  const FeedBackWord& word_;
  const RunnerSides& runner_;
};

Status CheckStatePair(const std::string& word, const RunnerSides& runner, const StatePair& pair,
                      std::span<const std::string> driven) {
  if (std::ranges::find(driven, pair.input) != driven.end()) {
    return BadStepWord(kFeedBackFlag, word,
                       "input '" + pair.input + "' is set by --step-slice or --advance already: '" +
                           pair.input + "' cannot take '" + pair.output +
                           "' of the step before as well, so leave it out of one of the two");
  }
  const TensorInfo* const output = FindInfo(runner.outputs, pair.output);
  const TensorInfo* const input = FindInfo(runner.inputs, pair.input);
  if (output == nullptr || input == nullptr) return {};
  const std::string why = WhyNeverEqual(*output, *input);
  if (why.empty()) return {};
  return BadStepWord(kFeedBackFlag, word,
                     "output '" + pair.output + "' of " + runner.shown() + " is " +
                         TypeAndShape(*output) + ", but its input '" + pair.input + "' is " +
                         TypeAndShape(*input) + ": " + why);
}

Status AddStatePair(const std::string& word, const RunnerSides& runner, StatePair pair,
                    std::vector<StatePair>& pairs) {
  for (const StatePair& other : pairs) {
    if (other == pair) return {};
    // Where names are only believed, words may be about other runners.
    const bool twice = other.output == pair.output && !runner.inputs.empty();
    if (other.input != pair.input && !twice) continue;
    if (other.input != pair.input) {
      return BadStepWord(kFeedBackFlag, word,
                         "output '" + pair.output + "' of " + runner.shown() + " feeds '" +
                             other.input + "' already, and cannot feed '" + pair.input + "' too");
    }
    return BadStepWord(kFeedBackFlag, word,
                       "input '" + pair.input + "' of " + runner.shown() + " is fed by '" +
                           other.output + "' already, and cannot be by '" + pair.output + "' too");
  }
  pairs.push_back(std::move(pair));
  return {};
}

}  // namespace

Result<std::vector<StatePair>> PairState(std::span<const FeedBackWord> words,
                                         const RunnerSides& runner,
                                         std::span<const std::string> driven,
                                         std::vector<bool>& used) {
  std::vector<StatePair> pairs;
  bool automatic = false;
  // What keeps its state inside need not have any outside: without a label, `auto` is not for it,
  // and no word is where it tells no names.
  const bool nameless = runner.inputs.empty() || runner.outputs.empty();
  for (size_t i = 0; i < words.size(); ++i) {
    const FeedBackWord& word = words[i];
    const bool needs_label = runner.keeps_state && (nameless || word.automatic());
    if (word.label.empty() ? needs_label : !IsCalled(runner.name, word.label)) continue;
    if (word.automatic()) {
      automatic = used[i] = true;
      continue;
    }
    VERNIER_ASSIGN_OR_RETURN(std::vector<StatePair> found, WordPairs(word, runner).Find());
    for (StatePair& pair : found) {
      used[i] = true;
      VERNIER_TRY(CheckStatePair(word.word, runner, pair, driven));
      VERNIER_TRY(AddStatePair(word.word, runner, std::move(pair), pairs));
    }
  }
  if (automatic) VERNIER_TRY(PairStateByLikeness(runner, driven, pairs));
  return pairs;
}

namespace {

// A cache that slides is often cut outside of the model.
std::string HowToCut(int64_t size) {
  return " (whole outputs are fed back: of one that is longer, such as a cache of which the last " +
         std::to_string(size) + " elements are the state, let the model return that part)";
}

}  // namespace

std::string WhyNeverEqual(const TensorInfo& output, const TensorInfo& input) {
  const bool typed = output.dtype != DType::kUndefined && input.dtype != DType::kUndefined;
  if (typed && output.dtype != input.dtype) return "the types differ";
  if (!output.shape || !input.shape) return "";
  if (output.shape->size() != input.shape->size()) return "the numbers of axes differ";
  for (size_t i = 0; i < output.shape->size(); ++i) {
    const Dim &from = (*output.shape)[i], &to = (*input.shape)[i];
    if (from.dynamic() || to.dynamic() || from.value == to.value) continue;
    return "axis " + std::to_string(i) + " differs" +
           (from.value > to.value ? HowToCut(to.value) : "");
  }
  return "";
}

std::string TypeAndShape(const TensorInfo& info) {
  const std::string type =
      info.dtype == DType::kUndefined ? "any type" : std::string(DTypeName(info.dtype));
  return type + (info.shape ? " " + FormatShape(info.shape) : "");
}

const TensorInfo* FindInfo(std::span<const TensorInfo> infos, const std::string& name) {
  const auto found =
      std::ranges::find_if(infos, [&](const auto& info) { return info.name == name; });
  return found == infos.end() ? nullptr : &*found;
}

}  // namespace vernier
