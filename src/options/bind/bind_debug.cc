#include "options/bind/bind_debug.h"
#include "options/table/command_options.h"

#include <ctime>
#include <optional>
#include <span>
#include <utility>

#include "options/bind/bind_run.h"
#include "options/bind/file_conflicts.h"
#include "options/bind/option_use.h"
#include "options/table/command_words.h"
#include "options/table/given_field.h"
#include "util/text/number_text.h"

namespace vernier {
namespace {

// A check that is our own run must leave the model that is looked into alone.
Status CheckFilesOfRun(const ParsedArgs& args, const CheckPlan& check) {
  const OptionTable table = RunOptionTable();
  const ParseResult parsed = ParseCommandLine(table, check.run_options);
  if (parsed.end != ParseEnd::kParsed) return {};  // it says so itself
  const std::string model = ReadField<&ModelPlan::path>(args);
  return CheckFileConflicts(parsed.args, {}, {&model, 1});
}

Result<RunPlan> ReadRunWords(const std::vector<std::string>& words, std::time_t now, Logger& log) {
  static const OptionTable options = RunOptionTable();
  ParseResult parsed = ParseCommandLine(options, words);
  if (parsed.end == ParseEnd::kUsageError) return InvalidArgument(parsed.error);
  if (parsed.end == ParseEnd::kHelp)
    return InvalidArgument(
        "--help: a check runs the model, so"
        " leave --help out");
  TakePluginOptions(parsed);
  if (!parsed.unknown.empty()) {
    return InvalidArgument("Unrecognized Options: " + FormatPythonList(parsed.unknown));
  }
  const UseOf whose =
      ReadField<&Leniency::lenient>(parsed.args) ? UseOf::kOwnOptions : UseOf::kAllOptions;
  VERNIER_TRY(CheckOptionUse(options, parsed.args, whose));
  for (const std::string_view flag :
       {FlagOf<&RunCall::script>(parsed.args), FlagOf<&RunCall::blames>(parsed.args),
        FlagOf<&LogWords::file>(parsed.args)}) {
    if (flag.empty()) continue;
    return Unimplemented(std::string(flag) + ": only a run in a process of its own does that");
  }
  Invocation invocation;
  invocation.now = now;
  return BindRun(parsed.args, invocation, log);
}

Result<CheckPlan> BindCheck(const ParsedArgs& args, CheckWords words) {
  CheckPlan check;
  check.command = std::move(words.command);
  check.run_options = std::move(words.run_options);
  VERNIER_TRY(BindOptions(args, {}, {check}));
  check.reader = {ReadRunWords, CheckRun, [](const std::vector<std::string>& words) {
                    return WithoutComparison(RunOptionTable(), words);
                  }};
  return check;
}

}  // namespace

CheckWords TakeCheckWords(std::vector<std::string>& words) {
  CheckWords taken;
  for (size_t i = 0; i < words.size(); ++i) {
    const bool check = words[i] == "--check" || words[i] == "--check-inference";
    if (!check && words[i] != "--") continue;
    const auto at = words.begin() + static_cast<std::ptrdiff_t>(i);
    (check ? taken.command : taken.run_options).assign(at + 1, words.end());
    words.erase(at, words.end());
  }
  return taken;
}

Result<DebugSessionPlan> BindDebugSession(const ParsedArgs& args, CheckWords check,
                                          const DebugTool& tool) {
  DebugSessionPlan plan;
  VERNIER_ASSIGN_OR_RETURN(plan.check, BindCheck(args, std::move(check)));
  plan.suffix = tool.suffix;
  plan.artifact = tool.default_artifact;
  plan.save_replay = "polygraphy_debug_replay.json";
  VERNIER_TRY(BindOptions(args, {}, {plan}));
  if (!tool.replays) plan.save_replay.clear();
  const bool own_run = plan.check.command.empty() && !plan.artifact.empty();
  if (own_run && !plan.check.run_options.empty()) VERNIER_TRY(CheckFilesOfRun(args, plan.check));
  for (const std::string_view dest : {"output", "min_good"}) {
    if (args.Has(dest)) plan.outputs.push_back(TextOf(args, dest));
  }
  return plan;
}

}  // namespace vernier
