#include "run/steps/decoding.h"

#include <algorithm>
#include <utility>

#include "inputs/cast_tensor.h"
#include "run/steps/greedy_tokens.h"
#include "run/steps/prompt_inputs.h"
#include "util/values/plural_text.h"

namespace vernier {
namespace {

std::string OfSequence(const StepPosition& position) {
  return " of sequence " + std::to_string(position.sequence);
}

// What a prompt goes on with whose logits are NaN: nothing behind it is compared, but other prompts
// of the batch may go on, and what is saved has all steps.
constexpr int64_t kInPlaceOfNone = 0;

std::string PlaceOfNan(const StepPosition& position, size_t row, size_t rows) {
  return "step " + std::to_string(position.step) + OfSequence(position) +
         (rows > 1 ? ", prompt " + std::to_string(row) : "");
}

Status NotContinued(const std::string& input, const Tensor& prompt) {
  return InvalidArgument(
      "--decode: '" + input + "' has a value for each of the " +
      std::to_string(prompt.dims().back()) +
      " tokens of the prompt, and nothing says what it is for those behind it: add --advance " +
      input + ":+1, '" + input + ":append 1', or " + input + ":+0 for a value that stays");
}

// Is it an attention mask with a value for each token of the prompt, or of what was before it, too?
bool MasksPrompt(const std::string& mask, const Tensor& values, const Tensor& prompt) {
  if (!mask.ends_with("attention_mask")) return false;
  const Dims &has = values.dims(), &wants = prompt.dims();
  const bool alike = !has.empty() && has.size() == wants.size() && has.back() >= wants.back() &&
                     std::equal(has.begin(), has.end() - 1, wants.begin());
  const bool whole = values.dtype() == DType::kBool || IsIntegral(values.dtype());
  return alike && whole && CanCast(values.dtype(), DType::kInt64);
}

}  // namespace

Result<Decoding> Decoding::Create(const StepPlan& plan, std::span<const std::string> runners) {
  Decoding decoding(plan, runners.size());
  VERNIER_ASSIGN_OR_RETURN(decoding.words_, ParseDecodeWords(plan.decode, runners));
  return decoding;
}

void Decoding::NameMask(const std::string& input) {
  any_mask_ &= input != "none";
  masks_.push_back(input);
}

Status Decoding::Give(GivenTokens tokens) {
  given_ = std::move(tokens);
  const std::optional<int64_t>& steps = plan_->steps;
  if (!steps || *steps <= given_->columns() + 1) return {};
  return Malformed("--tokens " + given_->source() + ": it has " +
                   Counted(given_->columns(), "token") + " behind a prompt, enough for " +
                   Counted(given_->columns() + 1, "step") + ", not for --steps " +
                   std::to_string(*steps));
}

std::string Decoding::DescribeUnusedRows() const {
  if (!given_ || prompts_ == 0 || given_->rows() == batch_ || given_->rows() <= prompts_) return "";
  return "--tokens " + given_->source() + ": it has " + Counted(given_->rows(), "row") + " for " +
         Counted(prompts_, "prompt") + ": the rows from " + std::to_string(prompts_) +
         " on were not used";
}

Status Decoding::Pair(size_t runner, const RunnerSides& sides, std::span<const StatePair> states,
                      std::vector<std::string> driven, Logger& logger) {
  driven.insert(driven.end(), masks_.begin(), masks_.end());
  VERNIER_ASSIGN_OR_RETURN(TokenPair found, FindTokenPair(words_, sides, states, driven));
  for (const Runner& other : runners_) {
    if (!other.pair || !other.pair->vocabulary || !found.vocabulary) continue;
    if (&other == &runners_[runner] || *other.pair->vocabulary == *found.vocabulary) continue;
    return InvalidArgument("--decode: the vocabulary of " + sides.shown() + " has " +
                           Counted(*found.vocabulary, "token") + ", that of another runner " +
                           std::to_string(*other.pair->vocabulary) +
                           ": their tokens do not mean the same");
  }
  if (found.vocabulary) VERNIER_TRY(CheckStop(*found.vocabulary, found.logits, sides.shown()));
  if (given_ && found.vocabulary) {
    VERNIER_TRY(
        given_->CheckVocabulary(*found.vocabulary, "'" + found.logits + "' of " + sides.shown()));
  }
  logger.Info(sides.name + " | Decodes greedily: the largest of the last position of '" +
              found.logits + "' is " +
              (given_ ? "compared; '" + found.tokens + "' of the next step is the token of '" +
                            given_->source() + "'"
                      : "'" + found.tokens + "' of the next step"));
  if (states.empty() && !sides.keeps_state) {
    logger.Warning(
        sides.name +
        " | Only tokens are fed back: unless the model keeps its state itself, each step "
        "knows no token but the last (--feed-back says which outputs are its state)");
  }
  runners_[runner].pair = std::move(found);
  runners_[runner].inputs.assign(sides.inputs.begin(), sides.inputs.end());
  return {};
}

Status Decoding::CheckStop(int64_t vocabulary, const std::string& logits,
                           const std::string& runner) const {
  if (!plan_->decode_stop || *plan_->decode_stop < vocabulary) return {};
  return InvalidArgument("--decode-stop " + std::to_string(*plan_->decode_stop) + ": '" + logits +
                         "' of " + runner + " has " + Counted(vocabulary, "token") +
                         ", from 0 to " + std::to_string(vocabulary - 1) +
                         ": no sequence would end");
}

const TokenPair* Decoding::PairOf(size_t runner) const {
  const bool there = runner < runners_.size() && runners_[runner].pair.has_value();
  return there ? &*runners_[runner].pair : nullptr;
}

Status Decoding::CheckPrompt(const TokenPair& pair, const StepPosition& position,
                             const Tensor& prompt) const {
  const size_t rank = prompt.dims().size();
  if (!IsIntegral(prompt.dtype()) || rank < 1 || rank > 2 || prompt.element_count() == 0) {
    return Malformed("--decode: the prompt '" + pair.tokens + "'" + OfSequence(position) +
                     " is to be integers [batch, sequence] with one token at least, and is " +
                     std::string(DTypeName(prompt.dtype())) + " " + FormatDims(prompt.dims()));
  }
  VERNIER_ASSIGN_OR_RETURN(const Tensor wide, CastTensor(prompt, DType::kInt64));
  const std::span<const int64_t> tokens = wide.As<int64_t>();
  const auto row = static_cast<size_t>(prompt.dims().back());
  for (size_t i = 0; i < tokens.size(); ++i) {
    const bool above = pair.vocabulary && tokens[i] >= *pair.vocabulary;
    if (tokens[i] >= 0 && !above) continue;
    std::string why = "--decode: token " + std::to_string(tokens[i]) + " at place " +
                      std::to_string(i % row) + " of prompt " + std::to_string(i / row) +
                      OfSequence(position) + " is not in the vocabulary";
    if (pair.vocabulary) {
      why += ": '" + pair.logits + "' has " + std::to_string(*pair.vocabulary) +
             " (random prompts: --val-range " + pair.tokens + ":[0," +
             std::to_string(*pair.vocabulary - 1) + "])";
    }
    return Malformed(std::move(why));
  }
  return {};
}

// The last position chooses the token, so it must be one of the prompt.
Status Decoding::CheckPadding(const Runner& runner, const StepPosition& position,
                              const TensorMap& feed) const {
  if (!any_mask_) return {};
  const std::string& tokens = runner.pair->tokens;
  const Tensor& prompt = *Find(feed, tokens);
  for (const auto& [name, mask] : feed) {
    if (!MasksPrompt(name, mask, prompt)) continue;
    if (IsOfOtherTokens(name, tokens, runner.inputs, feed)) continue;
    VERNIER_ASSIGN_OR_RETURN(const Tensor wide, CastTensor(mask, DType::kInt64));
    const std::span<const int64_t> values = wide.As<int64_t>();
    const auto row = static_cast<size_t>(mask.dims().back());
    for (size_t end = row; end <= values.size(); end += row) {
      if (values[end - 1] != 0) continue;
      return Malformed(
          "--decode: '" + name + "' excludes the last position of prompt " +
          std::to_string(end / row - 1) + OfSequence(position) +
          ", which chooses the next token: pad prompts on the left, or feed those of "
          "each length by themselves; if 0 is a token in this mask, and 1 padding, add "
          "--mask none (random masks: --val-range " +
          name + ":[1,1])");
    }
  }
  return {};
}

Status Decoding::CheckAppends(const AdvanceWord& advance, const TensorMap& feed) const {
  const Tensor* const mask = Find(feed, advance.input);
  if (!any_mask_ || mask == nullptr || !advance.appends || advance.amount == 1) return {};
  const std::string why = advance.amount == 0
                              ? "0 excludes each token that is decoded, and the last position "
                                "chooses the next one: append 1; if 0 is a token in this mask, and "
                                "1 padding, add --mask none"
                              : "a mask marks positions by 1 and 0: append 1, or add --mask none";
  for (const Runner& runner : runners_) {
    const Tensor* const prompt = runner.pair ? Find(feed, runner.pair->tokens) : nullptr;
    if (prompt == nullptr || !MasksPrompt(advance.input, *mask, *prompt)) continue;
    if (IsOfOtherTokens(advance.input, runner.pair->tokens, runner.inputs, feed)) continue;
    return BadStepWord(kAdvanceFlag, advance.word, why);
  }
  return {};
}

Status Decoding::Begin(const StepPosition& position, const TensorMap& feed,
                       std::span<const std::string> driven) {
  const Tensor* prompt = nullptr;
  const Runner* first = nullptr;
  for (Runner& runner : runners_) {
    runner.ended.clear();
    const Tensor* const own = runner.pair ? Find(feed, runner.pair->tokens) : nullptr;
    if (own == nullptr) continue;
    VERNIER_TRY(CheckPrompt(*runner.pair, position, *own));
    VERNIER_TRY(CheckPadding(runner, position, feed));
    if (!runner.pair->vocabulary) runner.prompt = *own;
    if (first != nullptr) continue;
    first = &runner;
    prompt = own;
  }
  if (prompt == nullptr) return {};
  rank_ = prompt->dims().size();
  batch_ = rank_ == 1 ? 1 : prompt->dims().front();
  if (position.sequence >= begun_) prompts_ += batch_;
  begun_ = std::max(begun_, position.sequence + 1);
  for (const NamedTensor& input : feed) {
    const bool told = std::ranges::find(driven, input.name) != driven.end();
    if (told || !IsUsuallyPerToken(input.name)) continue;
    if (IsOfOtherTokens(input.name, first->pair->tokens, first->inputs, feed)) continue;
    if (IsPerToken(input.tensor.dims(), prompt->dims())) return NotContinued(input.name, *prompt);
  }
  return {};
}

Result<std::optional<Tensor>> Decoding::Choose(size_t runner, const std::string& name,
                                               const StepPosition& position,
                                               const TensorMap& outputs) {
  Runner& here = runners_[runner];
  if (!here.pair) return std::optional<Tensor>();
  const Tensor* const logits = Find(outputs, here.pair->logits);
  if (logits == nullptr && position.step > 0) {
    return BackendError("gave no output '" + here.pair->logits + "' at step " +
                        std::to_string(position.step) + OfSequence(position) +
                        ", which chooses the next token");
  }
  if (logits == nullptr) {
    return InvalidArgument("--decode: " + name + " has no output '" + here.pair->logits +
                           "' that could choose tokens");
  }
  Result<std::vector<int64_t>> chosen = GreedyTokens(*logits);
  if (!chosen.ok() && position.step > 0) {
    return BackendError("gave no logits as '" + here.pair->logits + "' at step " +
                        std::to_string(position.step) + OfSequence(position) + ": " +
                        chosen.status().message());
  }
  if (!chosen.ok()) {
    return Malformed("--decode: output '" + here.pair->logits + "' of " + name + " at step " +
                     std::to_string(position.step) + OfSequence(position) + ": " +
                     chosen.status().message());
  }
  if (rank_ != 1 && !here.ended.empty() && chosen->size() != here.ended.size()) {
    return BackendError("gave '" + here.pair->logits + "' of " + FormatDims(logits->dims()) +
                        " at step " + std::to_string(position.step) + OfSequence(position) +
                        ", for a batch of " + std::to_string(here.ended.size()));
  }
  if (position.step == 0) {
    VERNIER_TRY(CheckStop(logits->dims().back(), here.pair->logits, name));
  }
  if (here.prompt) {
    TokenPair known = *here.pair;
    known.vocabulary = logits->dims().back();
    VERNIER_TRY(CheckPrompt(known, position, *std::exchange(here.prompt, std::nullopt)));
  }
  if (given_) return TakeGiven(runner, name, position, *logits, chosen->size());
  std::vector<int64_t>& tokens = *chosen;
  here.ended.resize(tokens.size(), false);
  for (size_t row = 0; row < tokens.size(); ++row) {
    if (here.ended[row]) tokens[row] = *plan_->decode_stop;
    if (tokens[row] == kNoChoice) {
      if (here.nans++ == 0) here.first_nan = PlaceOfNan(position, row, tokens.size());
      tokens[row] = kInPlaceOfNone;
    }
    here.ended[row] = plan_->decode_stop && tokens[row] == *plan_->decode_stop;
  }
  VERNIER_ASSIGN_OR_RETURN(Tensor input, TokensAsInput(tokens, here.pair->dtype, rank_));
  return std::optional(std::move(input));
}

std::vector<std::string> Decoding::DescribeNans(std::span<const std::string> runners) const {
  std::vector<std::string> sentences;
  for (size_t i = 0; i < runners_.size(); ++i) {
    const Runner& here = runners_[i];
    if (here.nans == 0) continue;
    sentences.push_back(runners[i] + ": '" + here.pair->logits +
                        "' holds NaN at its last position and chooses no token " +
                        (here.nans == 1 ? "at " : Counted(here.nans, "time") + ", first at ") +
                        here.first_nan);
  }
  return sentences;
}

Result<std::optional<Tensor>> Decoding::TakeGiven(size_t runner, const std::string& name,
                                                  const StepPosition& position,
                                                  const Tensor& logits, size_t batch) const {
  const TokenPair& pair = *runners_[runner].pair;
  if (position.step == 0) {
    VERNIER_TRY(given_->CheckVocabulary(logits.dims().back(), "'" + pair.logits + "' of " + name));
  }
  VERNIER_ASSIGN_OR_RETURN(const std::optional<std::vector<int64_t>> tokens,
                           given_->Behind(position, static_cast<int64_t>(batch)));
  if (!tokens) return std::optional<Tensor>();
  VERNIER_ASSIGN_OR_RETURN(Tensor input, TokensAsInput(*tokens, pair.dtype, rank_));
  return std::optional(std::move(input));
}

}  // namespace vernier
