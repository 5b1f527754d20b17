#include "run/saved/step_feeding.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <span>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

#include "io/bytes/checksum.h"
#include "record/schema/runner_name.h"
#include "run/maps/name_maps.h"
#include "run/parts/shard_sources.h"
#include "run/saved/fed_states.h"
#include "run/saved/result_origin.h"
#include "run/steps/reset_words.h"
#include "util/text/number_text.h"

namespace vernier {
namespace {

constexpr std::string_view kState = "--state", kFeedBack = "--feed-back", kSlice = "--step-slice",
                           kAdvance = "--advance", kInitial = "--initial-state", kReset = "--reset",
                           kDecode = "--decode", kStop = "--decode-stop", kAxis = "--steps-axis";
// No options: of whom words are, what HashOfSteps() made of them, and which iterations are there.
constexpr std::string_view kInside = "state-inside", kLabelled = "labelled", kHash = "hash",
                           kIterations = "iterations";
// By what tokens were chosen, and the input that took them; whether they were given; --steps.
constexpr std::string_view kLogits = "logits", kTokens = "tokens", kGiven = "given-tokens",
                           kLength = "steps";
// The reference itself has its own state, whatever --state is; and what the reference is.
constexpr std::string_view kTheReference = "of-reference", kReference = "reference";

using Words = std::set<std::string>;
using Feeding = std::map<std::string, Words, std::less<>>;

Feeding Parse(const std::string& text) {
  Feeding feeding;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const size_t space = line.find(' ');
    if (space != std::string::npos) feeding[line.substr(0, space)].insert(line.substr(space + 1));
  }
  return feeding;
}

const Words& WordsOf(const Feeding& feeding, std::string_view flag) {
  static const Words kNone;
  const auto found = feeding.find(flag);
  return found == feeding.end() ? kNone : found->second;
}

bool Has(const Feeding& feeding, std::string_view flag, std::string_view word) {
  return WordsOf(feeding, flag).contains(std::string(word));
}

std::string InWords(const Feeding& feeding, std::string_view flag) {
  const Words& words = WordsOf(feeding, flag);
  if (words.empty()) return "without " + std::string(flag);
  std::string text = "with " + std::string(flag);
  for (const std::string& word : words) text += flag == kInitial ? "" : " " + word;
  return text;
}

FeedingDifference Differ(std::string_view flag, const Feeding& a, const Feeding& b,
                         bool certain = true) {
  return {std::string(flag), InWords(a, flag), InWords(b, flag), certain};
}

bool HasStateOfAnother(const Feeding& side) {
  return Has(side, kState, "reference") && !side.contains(kTheReference);
}

bool HasOtherState(const Feeding& a, const Feeding& b) {
  const auto of_reference = [](const Feeding& side) { return Has(side, kState, "reference"); };
  return (HasStateOfAnother(a) && !of_reference(b)) || (HasStateOfAnother(b) && !of_reference(a));
}

// Of two sides one of which, at least, was fed by a reference that is not itself. What earlier
// versions saved does not say which it was.
std::optional<FeedingDifference> OtherReference(const Feeding& a, const Feeding& b) {
  if (!HasStateOfAnother(a) && !HasStateOfAnother(b)) return std::nullopt;
  const Words &first = WordsOf(a, kReference), &second = WordsOf(b, kReference);
  if (first == second) return std::nullopt;
  const bool known = !first.empty() && !second.empty();
  const auto in_words = [known](const Feeding& side) {
    const bool unsaid = !known && WordsOf(side, kReference).empty();
    return InWords(side, kState) + (unsaid ? " of a runner that is not named" : "");
  };
  return FeedingDifference{std::string(kState),
                           in_words(a),
                           in_words(b),
                           known,
                           known ? ", whose first runner is another, with another state" : "",
                           true};
}

// The inputs of "hn:h".
Words InputsOf(const Words& pairs) {
  Words inputs;
  for (const std::string& pair : pairs) inputs.insert(pair.substr(pair.rfind(':') + 1));
  return inputs;
}

std::optional<FeedingDifference> OtherFeedBack(const Feeding& a, const Feeding& b,
                                               FeedLikeness feeds) {
  const Words &first = WordsOf(a, kFeedBack), &second = WordsOf(b, kFeedBack);
  const bool inside = a.contains(kInside) || b.contains(kInside);
  if (inside || first == second) return std::nullopt;
  if (first.empty() || second.empty()) return Differ(kFeedBack, a, b);
  if (feeds == FeedLikeness::kUnknown) return std::nullopt;
  // The other runner may call its outputs otherwise.
  return Differ(kFeedBack, a, b, InputsOf(first) != InputsOf(second));
}

// A file of the other runner's states may be another. What states hold is in the feeds.
bool HasOtherInitialState(const Feeding& a, const Feeding& b, FeedLikeness feeds) {
  const Words &first = WordsOf(a, kInitial), &second = WordsOf(b, kInitial);
  if (first == second || feeds == FeedLikeness::kEqual) return false;
  return first.empty() || second.empty() || feeds == FeedLikeness::kSameNames;
}

std::optional<FeedingDifference> OtherWords(std::string_view flag, const Feeding& a,
                                            const Feeding& b) {
  if (WordsOf(a, flag) == WordsOf(b, flag)) return std::nullopt;
  return Differ(flag, a, b, !Has(a, kLabelled, flag) && !Has(b, kLabelled, flag));
}

// What the numbers of the first runner depend on, but for its feeds. Tensors that are marked as
// outputs change roundings at most.
std::string HashOfReference(const RunPlan& plan, const StepStates& states) {
  RunPlan first;
  first.runners = {plan.runners.front()};
  const RunnerPlan& runner = first.runners.front();
  std::string text = ChecksumText(HashOfRunners(first)) + '\n' + runner.backend + '\n' +
                     runner.model.type + (runner.model.fp_to_fp16 ? "\nfp16" : "");
  for (const auto* options : {&runner.backend_options, &runner.session_options}) {
    for (const auto& [key, value] : *options) text += '\n' + key + '=' + value;
  }
  for (const StatePair& pair : states.FedBackTo(0)) text += '\n' + pair.output + ':' + pair.input;
  Checksum sum;
  sum.Add(std::as_bytes(std::span(text)));
  return ChecksumText(sum.value());
}

// Writes the lines of a runner.
class FeedingText {
 public:
  void Add(std::string_view flag, std::string word) {
    std::ranges::replace(word, '\n', ' ');
    text_ += std::string(flag) + ' ' + word + '\n';
  }
  // Those of all runners, and of this one, without its label.
  void AddWords(std::string_view flag, const std::vector<std::string>& words,
                const std::vector<std::string>& runners, const std::string& runner) {
    for (std::string word : words) {
      const std::string label = TakeLabel(runners, word);
      if (!label.empty()) Add(kLabelled, std::string(flag));
      if (label.empty() || IsCalled(runner, label)) Add(flag, std::move(word));
    }
  }
  std::string Take() { return std::move(text_); }

 private:
  std::string text_;
};

}  // namespace

std::string DescribeFeeding(const RunPlan& plan, const StepStates& states, size_t runner) {
  const StepPlan& steps = plan.steps;
  const std::vector<std::string>& runners = states.runners();
  FeedingText text;
  text.Add(kHash, ChecksumText(HashOfSteps(steps)));
  text.Add(kState, std::string(kStateSourceNames[static_cast<size_t>(steps.state)]));
  if (steps.state == StateSource::kReference && !plan.runners.empty()) {
    if (runner == 0) text.Add(kTheReference, "yes");
    text.Add(kReference, HashOfReference(plan, states));
  }
  for (const StatePair& pair : states.FedBackTo(runner)) {
    text.Add(kFeedBack, pair.output + ":" + pair.input);
  }
  const bool inside = states.HasStateInside(runner);
  if (inside) text.Add(kInside, "yes");
  text.AddWords(kSlice, steps.slices, runners, runners[runner]);
  if (const auto axis = states.axis(runner)) text.Add(kAxis, std::to_string(*axis));
  for (const std::string& word : steps.advances) text.Add(kAdvance, word);
  if (!steps.initial_state.empty()) text.Add(kInitial, HashOfSource(steps.initial_state));
  if (inside && runner < plan.runners.size()) {
    const std::string method = ResetMethodOf(steps.resets, plan.runners[runner]);
    if (!method.empty()) text.Add(kReset, method);
  }
  for (const std::string& word : steps.decode) text.Add(kDecode, word);
  if (steps.decode_stop) text.Add(kStop, std::to_string(*steps.decode_stop));
  if (const Decoding* const decoding = states.decoding()) {
    if (const TokenPair* const pair = decoding->PairOf(runner)) {
      text.Add(kLogits, pair->logits);
      text.Add(kTokens, pair->tokens);
    }
    if (decoding->given() != nullptr) text.Add(kGiven, "yes");
  }
  if (const auto length = states.StepsAsked()) text.Add(kLength, std::to_string(*length));
  return text.Take();
}

namespace {

// Of "3-5 8".
std::vector<size_t> ParseIterations(const std::string& ranges) {
  std::vector<size_t> iterations;
  std::istringstream words(ranges);
  for (std::string word; words >> word;) {
    const size_t dash = word.find('-');
    const auto first = ParseInt(word.substr(0, dash));
    const auto last = dash == std::string::npos ? first : ParseInt(word.substr(dash + 1));
    for (int64_t i = first.value_or(0); i <= last.value_or(-1); ++i) {
      iterations.push_back(static_cast<size_t>(i));
    }
  }
  return iterations;
}

std::string InRanges(const std::vector<size_t>& iterations) {
  std::string text;
  for (size_t i = 0; i < iterations.size();) {
    size_t end = i + 1;
    while (end < iterations.size() && iterations[end] == iterations[end - 1] + 1) ++end;
    text += (text.empty() ? "" : " ") + std::to_string(iterations[i]);
    if (end > i + 1) text += '-' + std::to_string(iterations[end - 1]);
    i = end;
  }
  return text;
}

}  // namespace

std::vector<size_t> IterationsIn(const std::string& feeding) {
  return ParseIterations(CutIterations(feeding));
}

std::string WithIterations(const std::string& feeding, const std::vector<size_t>& numbers) {
  std::string text;
  std::istringstream lines(feeding);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(std::string(kIterations) + ' ')) text += line + '\n';
  }
  if (numbers.empty()) return text;
  return text + std::string(kIterations) + ' ' + InRanges(numbers) + '\n';
}

std::string FeedingOfIterations(const std::string& feeding, const std::vector<size_t>& places,
                                bool in_sequence) {
  const std::string before = CutIterations(feeding);
  if (feeding.empty()) return feeding;
  if (!in_sequence && before.empty()) return FedStatesAt(feeding, places);
  const std::vector<size_t> numbers = ParseIterations(before);
  std::vector<size_t> kept;
  for (const size_t place : places) {
    if (before.empty() || place < numbers.size()) {
      kept.push_back(before.empty() ? place : numbers[place]);
    }
  }
  return WithIterations(FedStatesAt(feeding, places), kept);
}

SavedFeeding ReadFeeding(const std::string& text) {
  const Feeding feeding = Parse(text);
  const auto first = [&](std::string_view flag) {
    const Words& words = WordsOf(feeding, flag);
    return words.empty() ? std::string() : *words.begin();
  };
  SavedFeeding found;
  const Words &pairs = WordsOf(feeding, kFeedBack), &decode = WordsOf(feeding, kDecode);
  found.plan.feed_back.assign(pairs.begin(), pairs.end());
  found.plan.decode.assign(decode.begin(), decode.end());
  found.plan.decode_stop = ParseInt(first(kStop));
  found.plan.steps = ParseInt(first(kLength));
  if (Has(feeding, kState, "reference")) found.plan.state = StateSource::kReference;
  for (const std::string& pair : pairs) {
    const size_t colon = pair.rfind(':');
    found.pairs.push_back({pair.substr(0, colon), pair.substr(colon + 1)});
  }
  if (const std::string logits = first(kLogits); !logits.empty()) {
    found.tokens = TokenPair{.logits = logits, .tokens = first(kTokens)};
  }
  found.given_tokens = feeding.contains(kGiven);
  found.all_at_once = feeding.contains(kAxis);
  return found;
}

std::string CutIterations(const std::string& feeding) {
  const Words ranges = WordsOf(Parse(feeding), kIterations);
  return ranges.empty() ? "" : *ranges.begin();
}

uint64_t StepsHashIn(const std::string& feeding) {
  const Words hashes = WordsOf(Parse(feeding), kHash);
  return hashes.empty() ? 0 : ParseChecksum(*hashes.begin()).value_or(0);
}

bool AreOfOneRun(const std::string& first, const std::string& second) {
  const Feeding a = Parse(first), b = Parse(second);
  return std::ranges::all_of(std::array{kHash, kInitial, kReference}, [&](std::string_view flag) {
    return WordsOf(a, flag) == WordsOf(b, flag);
  });
}

FeedLikeness LikenessOf(std::optional<uint64_t> a, std::optional<uint64_t> b) {
  if (!a || !b) return FeedLikeness::kUnknown;
  if (*a == *b) return FeedLikeness::kEqual;
  return AreOfOtherValues(*a, *b) ? FeedLikeness::kSameNames : FeedLikeness::kUnknown;
}

std::optional<FeedingDifference> FindOtherFeeding(const std::string& first,
                                                  const std::string& second, FeedLikeness feeds) {
  const Feeding a = Parse(first), b = Parse(second);
  std::vector<FeedingDifference> found;
  const auto add = [&](std::optional<FeedingDifference> difference) {
    if (difference) found.push_back(*std::move(difference));
  };
  if (HasOtherState(a, b)) add(Differ(kState, a, b));
  add(OtherFeedBack(a, b, feeds));
  if (HasOtherInitialState(a, b, feeds)) add(Differ(kInitial, a, b));
  if (WordsOf(a, kDecode).empty() != WordsOf(b, kDecode).empty()) add(Differ(kDecode, a, b));
  if (feeds != FeedLikeness::kUnknown) {
    add(OtherWords(kSlice, a, b));
    add(OtherWords(kAdvance, a, b));
    // Methods of models that keep their state where the other side has it outside say nothing.
    if (a.contains(kInside) && b.contains(kInside)) add(OtherWords(kReset, a, b));
  }
  if (!HasOtherState(a, b)) add(OtherReference(a, b));
  if (found.empty()) return std::nullopt;
  const auto certain = std::ranges::find_if(found, &FeedingDifference::certain);
  return certain == found.end() ? found.front() : *certain;
}

bool AreOwnErrors(const std::string& first, const std::string& second, bool otherwise) {
  const Feeding a = Parse(first), b = Parse(second);
  if (HasStateOfAnother(a) || HasStateOfAnother(b)) return true;
  if (a.empty() && b.empty()) return otherwise;
  // Of a side that does not say it, the other's state is assumed.
  const Feeding& known = a.empty() ? b : a;
  return (a.empty() || b.empty()) && Has(known, kState, "reference") && otherwise;
}

std::string FeedingInWords(const std::string& feeding) {
  const Feeding parsed = Parse(feeding);
  std::string text;
  for (const auto& [flag, words] : parsed) {
    if (!flag.starts_with("--") || flag == kState) continue;
    text += (text.empty() ? "" : " ") + InWords(parsed, flag).substr(5);
  }
  return text.empty() ? "--steps" : text;
}

}  // namespace vernier
