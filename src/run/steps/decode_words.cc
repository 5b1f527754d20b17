#include "run/steps/decode_words.h"

#include <algorithm>

#include "record/schema/runner_name.h"
#include "run/maps/name_maps.h"

namespace vernier {
namespace {

constexpr std::string_view kGreedy = "greedy";
constexpr std::string_view kLogitsName = "logits";
constexpr std::string_view kTokensName = "input_ids";
constexpr std::string_view kDecoderTokensName = "decoder_input_ids";  // beside those of an encoder

std::string ListInfos(std::span<const TensorInfo> infos) {
  std::string text;
  for (const TensorInfo& info : infos) {
    text += (text.empty() ? "'" : ", '") + info.name + "' " + TypeAndShape(info);
  }
  return text.empty() ? "none that it declares" : text;
}

Status NotDecoded(const RunnerSides& runner, const std::string& why) {
  return InvalidArgument(std::string(kDecodeFlag) + ": " + runner.shown() + " " + why +
                         "; say which: " + std::string(kDecodeFlag) + " greedy:" + runner.shown() +
                         ":LOGITS=TOKENS");
}

// Of several the one with the usual name; null where that is not clear.
const TensorInfo* OnlyOrUsual(std::span<const TensorInfo> candidates, std::string_view usual) {
  const auto named =
      std::ranges::find_if(candidates, [&](const TensorInfo& info) { return info.name == usual; });
  if (named != candidates.end()) return &*named;
  return candidates.size() == 1 ? &candidates.front() : nullptr;
}

bool HasRank(const TensorInfo& info, size_t least, size_t most) {
  return !info.shape || (info.shape->size() >= least && info.shape->size() <= most);
}

// Why a tensor cannot have the logits; empty: it can, as far as is known.
std::string WhyNoLogits(const TensorInfo& output) {
  const bool known = output.dtype != DType::kUndefined;
  if (known && Kind(output.dtype) != DTypeKind::kFloat) return "is not a floating output";
  return HasRank(output, 2, 3) ? "" : "is not [batch, sequence, vocabulary]";
}

std::string WhyNoTokens(const TensorInfo& input) {
  const bool known = input.dtype != DType::kUndefined;
  if (known && !IsIntegral(input.dtype)) return "is not an integer input";
  return HasRank(input, 1, 2) ? "" : "is not [batch, sequence]";
}

Result<std::string> FindLogits(const RunnerSides& runner, std::span<const StatePair> states) {
  std::vector<TensorInfo> candidates;
  for (const TensorInfo& output : runner.outputs) {
    const bool fed_back =
        std::ranges::find(states, output.name, &StatePair::output) != states.end();
    const size_t least = output.name == kLogitsName ? 2 : 3;
    const bool fits = Kind(output.dtype) == DTypeKind::kFloat && HasRank(output, least, 3);
    if (fits && !fed_back) candidates.push_back(output);
  }
  const TensorInfo* const found = OnlyOrUsual(candidates, kLogitsName);
  if (found != nullptr) return found->name;
  if (!candidates.empty()) {
    return NotDecoded(runner,
                      "has several outputs that may be the logits: " + ListInfos(candidates));
  }
  if (runner.outputs.empty()) return NotDecoded(runner, "does not say which outputs it has");
  return NotDecoded(runner,
                    "has no floating output [batch, sequence, vocabulary] that is not fed back, "
                    "but " +
                        ListInfos(runner.outputs));
}

Result<std::string> FindTokens(const RunnerSides& runner, std::span<const StatePair> states,
                               std::span<const std::string> driven) {
  std::vector<TensorInfo> candidates;
  for (const TensorInfo& input : runner.inputs) {
    const bool fed = std::ranges::find(states, input.name, &StatePair::input) != states.end() ||
                     std::ranges::find(driven, input.name) != driven.end();
    if (!fed && IsIntegral(input.dtype) && HasRank(input, 1, 2)) candidates.push_back(input);
  }
  const bool beside_encoder =
      std::ranges::find(candidates, kDecoderTokensName, &TensorInfo::name) != candidates.end();
  const TensorInfo* const found =
      OnlyOrUsual(candidates, beside_encoder ? kDecoderTokensName : kTokensName);
  if (found != nullptr) return found->name;
  if (!candidates.empty()) {
    return NotDecoded(runner,
                      "has several inputs that may take the tokens: " + ListInfos(candidates));
  }
  if (runner.inputs.empty()) {
    return NotDecoded(runner,
                      "does not say which inputs it takes (a model in Python may, by "
                      "input_metadata)");
  }
  return NotDecoded(
      runner, "has no integer input that is left for the tokens, but " + ListInfos(runner.inputs));
}

// The word about a runner; null: there is none.
const DecodeWord* WordFor(std::span<const DecodeWord> words, const std::string& runner) {
  const DecodeWord* found = nullptr;
  for (const DecodeWord& word : words) {
    if (!word.label.empty() && IsCalled(runner, word.label)) return &word;
    if (word.label.empty()) found = &word;
  }
  return found;
}

Status CheckNamed(const DecodeWord& word, const RunnerSides& runner, const TokenPair& pair,
                  std::span<const StatePair> states, std::span<const std::string> driven) {
  const auto wrong = [&](const std::string& why) {
    return BadStepWord(kDecodeFlag, word.word, why);
  };
  const TensorInfo* const output = FindInfo(runner.outputs, pair.logits);
  if (output == nullptr && !runner.outputs.empty()) {
    return wrong(runner.shown() + " has no output '" + pair.logits + "', but " +
                 ListInfos(runner.outputs));
  }
  const TensorInfo* const input = FindInfo(runner.inputs, pair.tokens);
  if (input == nullptr && !runner.inputs.empty()) {
    return wrong(runner.shown() + " has no input '" + pair.tokens + "', but " +
                 ListInfos(runner.inputs));
  }
  const std::string bad_logits = output == nullptr ? "" : WhyNoLogits(*output);
  if (!bad_logits.empty()) return wrong("'" + pair.logits + "' " + bad_logits);
  const std::string bad_tokens = input == nullptr ? "" : WhyNoTokens(*input);
  if (!bad_tokens.empty()) return wrong("'" + pair.tokens + "' " + bad_tokens);
  const bool twice = std::ranges::find(states, pair.tokens, &StatePair::input) != states.end() ||
                     std::ranges::find(driven, pair.tokens) != driven.end();
  if (!twice) return {};
  return wrong("'" + pair.tokens +
               "' is set twice for each step: leave it out of --feed-back, "
               "--step-slice and --advance");
}

// What the runner declares of the two.
void TakeDeclared(const RunnerSides& runner, TokenPair& pair) {
  const TensorInfo* const input = FindInfo(runner.inputs, pair.tokens);
  if (input != nullptr && IsIntegral(input->dtype)) pair.dtype = input->dtype;
  const TensorInfo* const output = FindInfo(runner.outputs, pair.logits);
  if (output == nullptr || !output->shape || output->shape->empty()) return;
  const Dim& classes = output->shape->back();
  if (!classes.dynamic()) pair.vocabulary = classes.value;
}

}  // namespace

Result<std::vector<DecodeWord>> ParseDecodeWords(std::span<const std::string> words,
                                                 std::span<const std::string> runners) {
  std::vector<DecodeWord> parsed;
  for (const std::string& text : words) {
    DecodeWord word{text, "", "", ""};
    const size_t colon = text.find(':');
    if (text.substr(0, colon) != kGreedy) {
      return BadStepWord(kDecodeFlag, text,
                         "only 'greedy' is known, as greedy or greedy:LOGITS=TOKENS");
    }
    if (colon != std::string::npos) {
      std::string rest = text.substr(colon + 1);
      word.label = TakeLabel(runners, rest);
      const size_t equals = rest.find('=');
      if (equals == std::string::npos || equals == 0 || equals + 1 == rest.size()) {
        return BadStepWord(
            kDecodeFlag, text,
            "expected greedy:LOGITS=TOKENS, an output and an input, with RUNNER: "
            "before them where it is about one runner, got '" +
                rest + "' behind 'greedy:" + (word.label.empty() ? "" : word.label + ":") + "'");
      }
      word.logits = rest.substr(0, equals);
      word.tokens = rest.substr(equals + 1);
    }
    if (std::ranges::find(parsed, word.label, &DecodeWord::label) != parsed.end()) {
      return BadStepWord(kDecodeFlag, text,
                         "there is another word about " +
                             (word.label.empty() ? "all runners" : "'" + word.label + "'"));
    }
    parsed.push_back(std::move(word));
  }
  return parsed;
}

Result<TokenPair> FindTokenPair(std::span<const DecodeWord> words, const RunnerSides& runner,
                                std::span<const StatePair> states,
                                std::span<const std::string> driven) {
  TokenPair pair;
  const DecodeWord* const word = WordFor(words, runner.name);
  if (word != nullptr && !word->logits.empty()) {
    pair.logits = word->logits;
    pair.tokens = word->tokens;
    VERNIER_TRY(CheckNamed(*word, runner, pair, states, driven));
  } else {
    VERNIER_ASSIGN_OR_RETURN(pair.logits, FindLogits(runner, states));
    VERNIER_ASSIGN_OR_RETURN(pair.tokens, FindTokens(runner, states, driven));
  }
  TakeDeclared(runner, pair);
  return pair;
}

}  // namespace vernier
