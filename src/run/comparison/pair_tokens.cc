#include "run/comparison/pair_tokens.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "kernels/classes/logit_noise.h"
#include "run/steps/greedy_tokens.h"

namespace vernier {
namespace {

constexpr size_t kMostDivergences = 100;
// Iterations wait for their comparison, a few at most.
constexpr int64_t kKeptSteps = 16;

// The length at this place, from 0, where lengths with their counts are in order.
double LengthAt(const std::map<int64_t, int64_t>& lengths, int64_t place) {
  for (const auto& [length, count] : lengths) {
    if (place < count) return static_cast<double>(length);
    place -= count;
  }
  return 0;
}

double MedianLength(const std::map<int64_t, int64_t>& lengths) {
  int64_t all = 0;
  for (const auto& [length, count] : lengths) all += count;
  return (LengthAt(lengths, (all - 1) / 2) + LengthAt(lengths, all / 2)) / 2;
}

// As far apart may two values be, absolutely and relatively, whose errors are within the default
// tolerances.
constexpr double kTolerated = 2e-5;

bool IsClose(const DivergenceRecord& found, size_t row, const Tensor& first, const Tensor& second) {
  const double scale = std::fabs(LogitOf(first, row, found.first_token));
  LogitNoise noise(1, LogitOf(first, row, found.first_token));
  const int64_t classes = std::min(first.dims().back(), second.dims().back());
  for (int64_t token = 0; token < classes; ++token) {
    const double a = LogitOf(first, row, token), b = LogitOf(second, row, token);
    if (!std::isfinite(a - b)) continue;
    noise.Add(a, b, token == found.first_token || token == found.second_token);
  }
  const double most = std::max(kMostLogitNoise * noise.rms(), kTolerated * (1 + scale));
  return found.first_margin <= most && found.second_margin <= most;
}

}  // namespace

void PairTokens::Miss(const std::string& why) {
  if (missed_++ == 0) why_missed_ = why;
}

void PairTokens::EndPrompts() {
  for (const Prompt& prompt : prompts_) ++until_[prompt.agreeing];
  prompts_.clear();
}

void PairTokens::BeginSequence(int64_t sequence) {
  if (sequence == sequence_) return;
  EndPrompts();
  sequence_ = sequence;
  // Each has one iteration at least.
  parted_at_.erase(parted_at_.begin(), parted_at_.lower_bound(sequence - kKeptSteps));
  ended_at_.erase(ended_at_.begin(), ended_at_.lower_bound(sequence - kKeptSteps));
}

// Iterations before it are no longer needed.
void PairTokens::ForgetBefore(int64_t iteration) {
  steps_.erase(steps_.begin(), steps_.lower_bound(iteration));
  going_on_.erase(going_on_.begin(), going_on_.lower_bound(iteration));
  lasts_.erase(lasts_.begin(), lasts_.lower_bound(iteration));
  while (!open_.empty() && open_.begin()->first < iteration) {
    Settle(open_.begin()->first, "not judged", &DecodeRecord::not_judged);
  }
}

void PairTokens::Note(int64_t iteration, const StepPosition& position, const std::string& name,
                      const Logits& logits) {
  record_.logits = name;
  BeginSequence(position.sequence);
  if (logits.first == nullptr || logits.second == nullptr) {
    return Miss("a side has no output '" + name + "'");
  }
  const Result<std::vector<int64_t>> of_first = GreedyTokens(*logits.first);
  const Result<std::vector<int64_t>> of_second = GreedyTokens(*logits.second);
  if (!of_first.ok()) return Miss(of_first.status().message());
  if (!of_second.ok()) return Miss(of_second.status().message());
  Result<std::vector<int64_t>> fed =
      forced_ && logits.fed != nullptr ? GreedyTokens(*logits.fed) : of_first;
  if (logits.given) fed = *logits.given;
  if (!fed.ok()) return Miss(fed.status().message());
  if (of_first->size() != of_second->size() || of_first->size() != fed->size()) {
    return Miss("one side has " + std::to_string(of_first->size()) + " rows of '" + name +
                "', the other " + std::to_string(of_second->size()));
  }
  const bool parted = IsAfterDivergence(position);
  TokensOfStep tokens{*of_first, *of_second, parted, !parted && IsAfterEnd(position)};
  saw_later_step_ |= position.step > 0 && !tokens.after_divergence && !tokens.after_end;
  if (prompts_.empty()) record_.prompts += static_cast<int64_t>(tokens.first.size());
  prompts_.resize(tokens.first.size());
  std::vector<int64_t> going_on;
  const int64_t ended_before = CountEnded();
  for (size_t row = 0; row < prompts_.size(); ++row) {
    if (!TakeRow(prompts_[row], (*fed)[row], tokens.first[row], tokens.second[row])) continue;
    AddRow(iteration, position, row, logits, tokens);
    going_on.push_back(static_cast<int64_t>(row));
  }
  KeepGoingOn(iteration, std::move(going_on), tokens);
  const int64_t ended = CountEnded();
  if (ended == std::ssize(prompts_)) ended_at_.emplace(position.sequence, position.step);
  const bool parts = !parted && parted_at_.contains(position.sequence);
  if (ended > ended_before || parts) lasts_.insert(iteration);
  ForgetBefore(iteration - kKeptSteps);
  steps_.insert_or_assign(iteration, std::move(tokens));
}

int64_t PairTokens::CountEnded() const {
  return std::ranges::count_if(
      prompts_, [](const Prompt& prompt) { return prompt.first_ended && prompt.second_ended; });
}

void PairTokens::KeepGoingOn(int64_t iteration, std::vector<int64_t> rows,
                             const TokensOfStep& tokens) {
  const bool compared = !tokens.after_divergence && !tokens.after_end;
  if (whole_ || !compared || rows.size() == prompts_.size()) return;
  record_.rows_after_end += static_cast<int64_t>(prompts_.size() - rows.size());
  going_on_.insert_or_assign(iteration, std::move(rows));
}

// Does the token at hand count: is it not behind the end of the prompt on both sides? With forced
// tokens, what is fed ends both; a side that only chooses the stop token goes on.
bool PairTokens::TakeRow(Prompt& prompt, int64_t fed, int64_t& first, int64_t& second) const {
  if (!stop_) return true;
  prompt.one_ended = prompt.first_ended != prompt.second_ended;
  const bool over = prompt.first_ended && prompt.second_ended;
  if (prompt.first_ended) first = *stop_;
  if (prompt.second_ended) second = *stop_;
  prompt.first_ended |= (forced_ ? fed : first) == *stop_;
  prompt.second_ended |= (forced_ ? fed : second) == *stop_;
  return !over;
}

void PairTokens::AddRow(int64_t iteration, const StepPosition& position, size_t row,
                        const Logits& logits, const TokensOfStep& tokens) {
  Prompt& prompt = prompts_[row];
  const int64_t a = tokens.first[row], b = tokens.second[row];
  const Tensor &first = *logits.first, &second = *logits.second;
  ++record_.tokens;
  // A side that has ended is fed the stop token, and does not choose it.
  const bool other_vocabulary = first.dims().back() != second.dims().back();
  const bool agrees = a == b && a != kNoChoice && !prompt.one_ended && !other_vocabulary;
  agreement_.Add(position.step, agrees);
  if (agrees) {
    ++record_.agreeing;
    if (!prompt.diverged) ++prompt.agreeing;
    return;
  }
  const bool again = prompt.diverged;
  if (!again) ++record_.diverged;
  prompt.diverged = true;
  if (!forced_) parted_at_.emplace(position.sequence, position.step);
  if (again && !forced_) return;
  const DivergenceRecord found{.sequence = position.sequence,
                               .prompt = static_cast<int64_t>(row),
                               .step = position.step,
                               .first_token = a,
                               .second_token = b,
                               .first_margin = LogitOf(first, row, a) - LogitOf(first, row, b),
                               .second_margin = LogitOf(second, row, b) - LogitOf(second, row, a)};
  open_[iteration].push_back({found, IsClose(found, row, first, second), other_vocabulary});
}

bool PairTokens::IsAfterDivergence(const StepPosition& position) const {
  const auto parted = parted_at_.find(position.sequence);
  return parted != parted_at_.end() && parted->second < position.step;
}

bool PairTokens::IsAfterEnd(const StepPosition& position) const {
  const auto ended = ended_at_.find(position.sequence);
  return ended != ended_at_.end() && ended->second < position.step;
}

void PairTokens::SettleOne(DivergenceRecord divergence, const char* kind,
                           int64_t DecodeRecord::*count) {
  ++(record_.*count);
  divergence.kind = kind;
  if (record_.divergences.size() < kMostDivergences) {
    record_.divergences.push_back(std::move(divergence));
  }
}

void PairTokens::Settle(int64_t iteration, const char* kind, int64_t DecodeRecord::*count) {
  const auto found = open_.find(iteration);
  if (found == open_.end()) return;
  for (Open& open : found->second) {
    if (count == &DecodeRecord::not_judged && !open.is_close) ++clear_not_judged_;
    SettleOne(std::move(open.divergence), kind, count);
  }
  open_.erase(found);
}

void PairTokens::LeaveOut(int64_t iteration, const StepPosition& position) {
  ++(IsAfterDivergence(position) ? record_.steps_after : record_.steps_after_end);
  Settle(iteration, "not judged", &DecodeRecord::not_judged);
}

void PairTokens::Judge(int64_t iteration, std::optional<Verdict> logits) {
  const auto found = open_.find(iteration);
  if (found == open_.end()) return;
  for (Open& open : found->second) {
    const bool chosen =
        open.divergence.first_token != kNoChoice && open.divergence.second_token != kNoChoice;
    const bool tie = chosen && logits && logits->within && (logits->by_element || open.is_close);
    const char* const kind = open.other_vocabulary ? "other vocabulary"
                             : !logits             ? "not compared"
                             : tie                 ? "near tie"
                                                   : "beyond tolerance";
    SettleOne(
        std::move(open.divergence), kind,
        tie && !open.other_vocabulary ? &DecodeRecord::near_ties : &DecodeRecord::beyond_tolerance);
  }
  open_.erase(found);
}

const TokensOfStep* PairTokens::At(int64_t iteration) const {
  const auto found = steps_.find(iteration);
  return found == steps_.end() ? nullptr : &found->second;
}

const std::vector<int64_t>* PairTokens::GoingOnAt(int64_t iteration) const {
  const auto found = going_on_.find(iteration);
  return found == going_on_.end() ? nullptr : &found->second;
}

std::optional<DecodeRecord> PairTokens::Record() const {
  if (record_.logits.empty()) return std::nullopt;
  PairTokens ended = *this;
  ended.EndPrompts();
  while (!ended.open_.empty()) {
    ended.Settle(ended.open_.begin()->first, "not judged", &DecodeRecord::not_judged);
  }
  ended.record_.forced = forced_;
  ended.record_.agreement = agreement_.Points();
  ended.record_.steps_per_point = agreement_.steps_per_point();
  ended.record_.until_median = MedianLength(ended.until_);
  ended.record_.until_least = ended.until_.empty() ? 0 : ended.until_.begin()->first;
  return ended.record_;
}

}  // namespace vernier
