#include "debug/reference_run.h"

#include <algorithm>
#include <ctime>
#include <initializer_list>
#include <string_view>

#include "debug/check_command.h"
#include "record/schema/runner_name.h"
#include "util/log/no_log.h"

namespace vernier {
namespace {

constexpr std::string_view kReferenceLabel = "reference";

bool HasAny(const std::vector<std::string>& words, std::initializer_list<std::string_view> flags) {
  return std::any_of(words.begin(), words.end(), [&](const std::string& word) {
    return std::any_of(flags.begin(), flags.end(), [&](std::string_view flag) {
      return word == flag || word.starts_with(std::string(flag) + "=");
    });
  });
}

// "reference:onnxrt-runner-N0" where the check is about decisions: their margins are those of the
// first of a pair, and in the words of a run files come last. Empty: the pair stays as it is.
std::string PairForDecisions(const std::vector<std::string>& options, const CheckCommand& check,
                             const std::vector<std::string>& words) {
  if (!HasAny(options, {"--decision"}) || HasAny(options, {"--pairs"})) return "";
  NoLog silence;
  const Result<RunPlan> plan = check.reader().read(words, std::time(nullptr), silence);
  if (!plan.ok() || plan->runners.size() != 1) return "";
  const std::string label = WithoutTime(plan->runners.front().name);
  const bool plain = label.find_first_of(":,") == std::string::npos && label != kReferenceLabel;
  return plain ? std::string(kReferenceLabel) + ":" + label : "";
}

Status RunReference(std::vector<std::string> words, const CheckCommand& check,
                    const CheckCommand::Change& change) {
  LiveRun* const live = check.live();
  const auto elsewhere = [&] {
    words.insert(words.begin(), "run");
    return RunToTheEnd(std::move(words), check.interrupted());
  };
  if (live == nullptr) return elsewhere();
  Result<RunPlan> plan = live->Plan(words, LiveRun::Side::kReference);
  if (!plan.ok() || !LiveRun::CanRun(*plan)) return elsewhere();
  VERNIER_TRY(change(*plan));
  VERNIER_ASSIGN_OR_RETURN(const LiveRun::Outcome outcome, live->Run(*plan));
  return EndOfRun(outcome.code, outcome.reason);
}

}  // namespace

Result<ReferenceRun> ReferenceRun::Make(const std::string& model, CheckCommand& check,
                                        const CheckCommand::Change& change) {
  VERNIER_ASSIGN_OR_RETURN(ScratchFolder folder, ScratchFolder::Create());
  const std::vector<std::string> options = check.RunOptions();
  if (options.empty() || HasAny(options, {"--load-outputs", "--load-results"})) {
    return ReferenceRun(std::move(folder));
  }
  const std::string inputs = folder.path() + "/inputs.json";
  const std::string outputs = folder.path() + "/outputs.json";
  std::vector<std::string> words = {model};
  const std::vector<std::string> alone = check.reader().without_comparison(options);
  words.insert(words.end(), alone.begin(), alone.end());
  const std::string pair = PairForDecisions(options, check, words);
  words.insert(words.end(), {"--save-outputs", outputs});
  const bool fed = HasAny(options, {"--load-inputs", "--load-input-data", "--data-loader-script"});
  if (!fed) words.insert(words.end(), {"--save-inputs", inputs});
  VERNIER_TRY(RunReference(std::move(words), check, change).Annotate("the unchanged model"));
  if (!fed) check.AddRunOptions({"--load-inputs", inputs});
  if (pair.empty()) {
    check.AddRunOptions({"--load-outputs", outputs});
  } else {
    check.AddRunOptions(
        {"--load-outputs", std::string(kReferenceLabel) + "=" + outputs, "--pairs", pair});
  }
  return ReferenceRun(std::move(folder));
}

}  // namespace vernier
