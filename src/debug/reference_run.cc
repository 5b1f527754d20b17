#include "debug/reference_run.h"

#include <algorithm>
#include <initializer_list>
#include <string_view>

#include "debug/check_command.h"

namespace vernier {
namespace {

bool HasAny(const std::vector<std::string>& words, std::initializer_list<std::string_view> flags) {
  return std::any_of(words.begin(), words.end(), [&](const std::string& word) {
    return std::any_of(flags.begin(), flags.end(), [&](std::string_view flag) {
      return word == flag || word.starts_with(std::string(flag) + "=");
    });
  });
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
  words.insert(words.end(), {"--save-outputs", outputs});
  const bool fed = HasAny(options, {"--load-inputs", "--load-input-data"});
  if (!fed) words.insert(words.end(), {"--save-inputs", inputs});
  VERNIER_TRY(RunReference(std::move(words), check, change).Annotate("the unchanged model"));
  if (!fed) check.AddRunOptions({"--load-inputs", inputs});
  check.AddRunOptions({"--load-outputs", outputs});
  return ReferenceRun(std::move(folder));
}

}  // namespace vernier
