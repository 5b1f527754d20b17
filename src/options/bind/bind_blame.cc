#include "options/bind/bind_blame.h"

#include <filesystem>

#include "backend/known/python_program.h"
#include "options/bind/bind_runners.h"
#include "options/bind/file_conflicts.h"
#include "options/table/given_field.h"
#include "run/feeds/token_sources.h"
#include "run/runner/own_python.h"
#include "util/text/shell_words.h"
#include "vernier/compare_options.h"

namespace vernier {
namespace {

// Here tokens are fed, and never judge logits.
Status CheckTokens(const ParsedArgs& args) {
  if (!IsGiven<&CompareOptions::tokens>(args)) return {};
  const std::string tokens = ReadField<&CompareOptions::tokens>(args);
  const bool fed = GivesTokens(tokens);
  if (fed && IsGiven<&StepPlan::decode>(args)) return {};
  return InvalidArgument("--tokens " + tokens + ": " +
                         (fed ? "nothing is fed with them: add --decode greedy"
                              : "expected FILE.npy or SCRIPT.py with the tokens to feed beside "
                                "--decode, not an input: blame judges no tokens"));
}

}  // namespace

Result<BlameOptions> BindBlame(const ParsedArgs& args, const RunPlan& run) {
  VERNIER_TRY(CheckBundlePlace(args));
  BlameOptions options;
  VERNIER_TRY(BindOptions(args, {}, {options}));
  for (const RunnerPlan& runner : run.runners) {
    std::vector<std::string> words = RunnerWords(runner);
    std::string python = OwnPython(runner);
    if (python.empty()) python = run.execution.python;
    if (!python.empty() && IsPythonBackend(runner.backend)) {
      const bool is_path = python.find('/') != std::string::npos;
      words.insert(words.end(),
                   {"--python", is_path ? std::filesystem::absolute(python).string() : python});
    }
    options.runner_words.push_back(JoinForShell(words));
  }
  return options;
}

Result<BlamePlan> BindBlamePlan(const ParsedArgs& args, const Invocation& invocation, Logger& log) {
  BlamePlan plan;
  VERNIER_TRY(CheckTokens(args));
  VERNIER_ASSIGN_OR_RETURN(plan.run, BindRun(args, invocation, log));
  VERNIER_ASSIGN_OR_RETURN(static_cast<BlameOptions&>(plan), BindBlame(args, plan.run));
  if (!plan.run.decisions.decisions.empty() && !plan.on_flips) {
    return InvalidArgument(
        "--decision has no effect without --on-flips: add that, or leave --decision out");
  }
  plan.charts = plan.run.save.WantsPage();
  return plan;
}

}  // namespace vernier
