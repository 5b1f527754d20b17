#include "run/comparison/flip_keeper.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <limits>
#include <system_error>

#include "decide/gates/worst_iterations.h"
#include "io/results/shard_file_name.h"
#include "util/text/number_text.h"
#include "util/values/plural_text.h"

namespace vernier {
namespace {

std::vector<const WorstFlip*> WorstFlipsOf(const std::vector<ComparedPair>& pairs) {
  std::vector<const WorstFlip*> worst;
  for (const ComparedPair& pair : pairs) pair.decisions.AddWorst(worst);
  return worst;
}

std::vector<DecisionRecord> AllDecisions(const RunRecord& run) {
  std::vector<DecisionRecord> decisions;
  for (const PairRecord& pair : run.pairs) {
    decisions.insert(decisions.end(), pair.decisions.begin(), pair.decisions.end());
  }
  return decisions;
}

// Iterations of the files have new numbers, from 0.
std::string IterationsInWords(const std::vector<int64_t>& iterations) {
  constexpr size_t kMost = 16;
  std::string text = Noun(iterations.size(), "iteration ", "the iterations ");
  for (size_t i = 0; i < std::min(iterations.size(), kMost); ++i) {
    text += (i > 0 ? ", " : "") + std::to_string(iterations[i]);
  }
  if (iterations.size() > kMost) {
    text += " and " + std::to_string(iterations.size() - kMost) + " more";
  }
  return text + (iterations.size() > 1 ? ", the worst first" : "");
}

std::string WhyNoFlips(const RunRecord& run) {
  if (!run.error.empty()) return "the run was stopped";
  const bool decided = std::ranges::any_of(run.pairs, [](const PairRecord& pair) {
    return std::ranges::any_of(pair.decisions,
                               [](const DecisionRecord& one) { return one.samples > 0; });
  });
  return decided ? "no decision differs" : "nothing was decided";
}

}  // namespace

std::vector<int64_t> WorstIterationsOf(const std::vector<ComparedPair>& pairs) {
  std::vector<int64_t> worst;
  for (const ComparedPair& pair : pairs) {
    std::ranges::move(pair.decisions.WorstIterations(), std::back_inserter(worst));
  }
  return worst;
}

FlipKeeper::FlipKeeper(const RunPlan& plan, Scope scope)
    : plan_(&plan), scope_(std::move(scope)), pictures_(plan) {}

bool FlipKeeper::KeepsFeeds() const {
  return !plan_->decisions.save_flips.empty() || (plan_->blame && plan_->blame->on_flips);
}

void FlipKeeper::SetFeed(const TensorMap& feed) {
  feed_ = KeepsFeeds() ? feed : pictures_.ImagesOf(feed);
}

// The feed is let go of: its memory is wanted for the next one.
Status FlipKeeper::Keep(int64_t iteration, const IterationOutputs& outputs,
                        const std::vector<ComparedPair>& pairs, DeviceMeasure* device) {
  const TensorMap feed = std::exchange(feed_, {});
  VERNIER_TRY(KeepPictures(iteration, feed, pairs));
  if (!KeepsFeeds()) return {};
  const std::vector<int64_t> worst = WorstIterationsOf(pairs);
  if (plan_->decisions.save_flips.empty()) return flips_.Keep(iteration, feed, {}, worst, device);
  if (!scope_.copies || std::ranges::find(worst, iteration) == worst.end()) {
    return flips_.Keep(iteration, feed, outputs, worst, device);
  }
  VERNIER_ASSIGN_OR_RETURN(const IterationOutputs copies, CopyOutputs(outputs));
  return flips_.Keep(iteration, feed, copies, worst, device);
}

Status FlipKeeper::KeepPictures(int64_t iteration, const TensorMap& feed,
                                const std::vector<ComparedPair>& pairs) {
  if (!pictures_.wanted() || feed.empty()) return {};
  pictures_.Keep(iteration, feed, WorstFlipsOf(pairs));
  if (scope_.shard == nullptr) return {};
  VERNIER_ASSIGN_OR_RETURN(std::vector<ShardPicture> drawn, pictures_.DrawnOf(iteration));
  scope_.shard->KeepPictures(std::move(drawn));
  return {};
}

void FlipKeeper::TakePictures(int64_t iteration, std::vector<ShardPicture> pictures,
                              const std::vector<ComparedPair>& pairs) {
  pictures_.Take(iteration, std::move(pictures), WorstFlipsOf(pairs));
}

Status FlipKeeper::Save(RunRecord& run) const {
  VERNIER_TRY(pictures_.AddTo(run));
  return SaveFiles(run);
}

// The part of a shard finds its flips by their iterations.
std::vector<int64_t> FlipKeeper::InOrder(const RunRecord& run) const {
  if (plan_->shard.wanted()) return flips_.iterations();
  constexpr size_t kAll = std::numeric_limits<size_t>::max();
  return flips_.iterations(WorstIterationsOf(AllDecisions(run), kAll));
}

Status FlipKeeper::SaveFiles(RunRecord& run) const {
  const std::string path = PathOfShard(plan_->decisions.save_flips, plan_->shard);
  if (path.empty()) return {};
  if (flips_.empty()) {
    std::error_code ignored;
    const bool earlier = std::filesystem::exists(path, ignored);
    run.notes.push_back("--save-flips: " + WhyNoFlips(run) + ", and '" + path +
                        "' was not written" +
                        (earlier ? "; what it holds is of an earlier run" : ""));
    return {};
  }
  // Sides that were all loaded came without their inputs.
  const bool has_inputs = !plan_->runners.empty();
  const std::vector<int64_t> order = InOrder(run);
  if (has_inputs) {
    VERNIER_TRY(flips_.Save(path, order));
    run.saved.emplace_back("inputs of flips", path);
  }
  const std::string outputs = has_inputs ? FlipOutputsPath(path) : path;
  std::vector<std::string> left_out;
  VERNIER_TRY(flips_.SaveOutputs(outputs, scope_.streams, order, left_out));
  run.saved.emplace_back("outputs of flips", outputs);
  if (!plan_->shard.wanted()) {
    run.notes.push_back("--save-flips: '" + path + "' has " + IterationsInWords(order));
  }
  if (!left_out.empty()) {
    run.notes.push_back("--save-flips: '" + outputs + "' leaves out " +
                        JoinWords(left_out, " and ") +
                        ": not all of these iterations have outputs of it");
  }
  return {};
}

Result<FlipInputs> FlipKeeper::InputsToSearch(const RunRecord& run) const {
  // Each costs an inference of every batch of tensors.
  constexpr size_t kSearchedIterations = 4;
  if (!plan_->blame || !plan_->blame->on_flips) return FlipInputs();
  return flips_.Copy(WorstIterationsOf(AllDecisions(run), kSearchedIterations));
}

}  // namespace vernier
