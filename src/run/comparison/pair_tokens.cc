#include "run/comparison/pair_tokens.h"

#include <algorithm>

#include "run/steps/greedy_tokens.h"

namespace vernier {
namespace {

constexpr size_t kMostDivergences = 100;
// Iterations wait for their comparison, a few at most.
constexpr int64_t kKeptSteps = 16;

double MedianLength(std::vector<int64_t> values) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  const size_t middle = values.size() / 2;
  const auto upper = static_cast<double>(values[middle]);
  if (values.size() % 2 == 1) return upper;
  return (static_cast<double>(values[middle - 1]) + upper) / 2;
}

}  // namespace

void PairTokens::Miss(const std::string& why) {
  if (missed_++ == 0) why_missed_ = why;
}

void PairTokens::EndPrompts() {
  for (const Prompt& prompt : prompts_) until_.push_back(prompt.agreeing);
  prompts_.clear();
}

void PairTokens::Note(int64_t iteration, const StepPosition& position, const std::string& name,
                      const Tensor* first, const Tensor* second) {
  record_.logits = name;
  if (position.sequence != sequence_) EndPrompts();
  sequence_ = position.sequence;
  if (first == nullptr || second == nullptr) return Miss("a side has no output '" + name + "'");
  const Result<std::vector<int64_t>> of_first = GreedyTokens(*first);
  const Result<std::vector<int64_t>> of_second = GreedyTokens(*second);
  if (!of_first.ok()) return Miss(of_first.status().message());
  if (!of_second.ok()) return Miss(of_second.status().message());
  if (of_first->size() != of_second->size()) {
    return Miss("one side has " + std::to_string(of_first->size()) + " rows of '" + name +
                "', the other " + std::to_string(of_second->size()));
  }
  TokensOfStep tokens{*of_first, *of_second, IsAfterDivergence(position)};
  if (prompts_.empty()) record_.prompts += static_cast<int64_t>(tokens.first.size());
  prompts_.resize(tokens.first.size());
  for (size_t row = 0; row < prompts_.size(); ++row) {
    AddRow(iteration, position, row, *first, *second, tokens);
  }
  steps_.erase(steps_.begin(), steps_.lower_bound(iteration - kKeptSteps));
  steps_.insert_or_assign(iteration, std::move(tokens));
}

void PairTokens::AddRow(int64_t iteration, const StepPosition& position, size_t row,
                        const Tensor& first, const Tensor& second, TokensOfStep& tokens) {
  Prompt& prompt = prompts_[row];
  int64_t& a = tokens.first[row];
  int64_t& b = tokens.second[row];
  if (prompt.first_ended) a = *stop_;
  if (prompt.second_ended || (forced_ && prompt.first_ended)) b = *stop_;
  const bool over = prompt.first_ended && (forced_ || prompt.second_ended);
  prompt.first_ended = stop_ && a == *stop_;
  prompt.second_ended = stop_ && b == *stop_;
  if (over) return;
  ++record_.tokens;
  agreement_.Add(position.step, a == b && a != kNoChoice);
  if (a == b && a != kNoChoice) {
    ++record_.agreeing;
    if (!prompt.diverged) ++prompt.agreeing;
    return;
  }
  const bool again = prompt.diverged;
  if (!again) ++record_.diverged;
  prompt.diverged = true;
  if (!forced_) parted_at_.emplace(position.sequence, position.step);
  if (again && !forced_) return;
  open_[iteration].push_back({.sequence = position.sequence,
                              .prompt = static_cast<int64_t>(row),
                              .step = position.step,
                              .first_token = a,
                              .second_token = b,
                              .first_margin = LogitOf(first, row, a) - LogitOf(first, row, b),
                              .second_margin = LogitOf(second, row, b) - LogitOf(second, row, a)});
}

bool PairTokens::IsAfterDivergence(const StepPosition& position) const {
  const auto parted = parted_at_.find(position.sequence);
  return parted != parted_at_.end() && parted->second < position.step;
}

void PairTokens::Settle(int64_t iteration, const char* kind, int64_t DecodeRecord::*count) {
  const auto found = open_.find(iteration);
  if (found == open_.end()) return;
  for (DivergenceRecord& divergence : found->second) {
    ++(record_.*count);
    divergence.kind = kind;
    if (record_.divergences.size() >= kMostDivergences) continue;
    record_.divergences.push_back(std::move(divergence));
  }
  open_.erase(found);
}

void PairTokens::LeaveOut(int64_t iteration) {
  ++record_.steps_after;
  Settle(iteration, "not judged", &DecodeRecord::not_judged);
}

void PairTokens::Judge(int64_t iteration, bool within) {
  if (within) return Settle(iteration, "near tie", &DecodeRecord::near_ties);
  Settle(iteration, "beyond tolerance", &DecodeRecord::beyond_tolerance);
}

const TokensOfStep* PairTokens::At(int64_t iteration) const {
  const auto found = steps_.find(iteration);
  return found == steps_.end() ? nullptr : &found->second;
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
  ended.record_.until_least = ended.until_.empty() ? 0 : std::ranges::min(ended.until_);
  return ended.record_;
}

}  // namespace vernier
