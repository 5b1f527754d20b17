#include "debug/debug_session.h"
#include "debug/precision_debugging.h"
#include "debug/reducing.h"
#include "debug/repetition.h"
#include "options/table/groups.h"
#include "options/table/option_values.h"
#include "options/table/parsed_args.h"
#include "util/text/number_text.h"

namespace vernier {
namespace {

Status ReadCodes(const OptionInput& input, std::vector<int64_t>& codes) {
  codes.clear();
  for (const std::string& word : input.given.values) {
    const std::optional<int64_t> code = ParseInt(word);
    if (!code) {
      return InvalidArgument(std::string(input.given.flag) + ": expected exit codes, got '" + word +
                             "'");
    }
    codes.push_back(*code);
  }
  return {};
}

Status SetFailCodes(const OptionInput& input, CheckPlan& plan) {
  return ReadCodes(input, plan.fail_codes);
}

Status SetIgnoredCodes(const OptionInput& input, CheckPlan& plan) {
  return ReadCodes(input, plan.ignored_codes);
}

Status KeepArtifact(const OptionInput&, DebugSessionPlan& plan) {
  plan.keep_artifact = true;
  return {};
}

// A size_t by itself would be read as bytes.
Status ReadCount(const OptionInput& input, size_t& out) {
  int64_t count = 0;
  VERNIER_TRY(ReadValue(input, count));
  out = static_cast<size_t>(count);
  return {};
}

Status SetJobs(const OptionInput& input, DebugSessionPlan& plan) {
  return ReadCount(input, plan.jobs);
}

Status SetMostChecks(const OptionInput& input, PrecisionDebugPlan& plan) {
  return ReadCount(input, plan.most_checks);
}

Status SetReduceMode(const OptionInput& input, ReduceDebugPlan& plan) {
  plan.bisect = TextOf(input) == "bisect";
  return {};
}

Status SetPrecisionMode(const OptionInput& input, PrecisionDebugPlan& plan) {
  plan.linear = TextOf(input) == "linear";
  return {};
}

Status SetDirection(const OptionInput& input, PrecisionDebugPlan& plan) {
  plan.reverse = TextOf(input) == "reverse";
  return {};
}

Status SetUntil(const OptionInput& input, RepeatUntil& until) {
  const std::string word = TextOf(input);
  until = {std::nullopt, word == "good"};
  if (word == "good" || word == "bad") return {};
  until.count = ParseInt(word);
  if (until.count && *until.count >= 1) return {};
  return InvalidArgument("--until: expected a whole number >= 1, 'good' or 'bad', got '" + word +
                         "'");
}

constexpr OptionRow kCheck[] = {
    {.flags = {"--check", "--check-inference"},
     .dest = "check",
     .sets = kBoundTogether,
     .arity = Arity::kStar,
     .metavar = "WORD",
     .help =
         "The command whose exit code says whether an iteration is good. It takes all words after"
         " it, so it must come last.",
     .standing = Standing::kBetter,
     .note = "There are no interactive questions: reduce and precision also take options of "
             "vernier run after --."},
    {.flags = {"--fail-code", "--fail-returncode"},
     .dest = "fail_codes",
     .sets = SetBy<&SetFailCodes>(),
     .arity = Arity::kPlus,
     .type = ValueType::kInt,
     .metavar = "CODE",
     .help = "Only these exit codes count as failures.",
     .excludes = {"ignore_fail_codes"}},
    {.flags = {"--ignore-fail-code", "--ignore-fail-returncode"},
     .dest = "ignore_fail_codes",
     .sets = SetBy<&SetIgnoredCodes>(),
     .arity = Arity::kPlus,
     .type = ValueType::kInt,
     .metavar = "CODE",
     .help = "These exit codes do not count as failures.",
     .excludes = {"fail_codes"}},
    {.flags = {"--fail-regex"},
     .dest = "fail_regex",
     .sets = Sets<&CheckPlan::fail_patterns>(),
     .arity = Arity::kPlus,
     .metavar = "PATTERN",
     .help = "An iteration fails if the check prints a line that one of these regular expressions"
             " matches, whatever its exit code; with --fail-code both must apply."},
    {.flags = {"--show-output"},
     .dest = "show_output",
     .sets = Sets<&CheckPlan::show_output>(),
     .help = "Show the output of the check even if it passes.",
     .excludes = {"hide_fail_output"}},
    {.flags = {"--hide-fail-output"},
     .dest = "hide_fail_output",
     .sets = Sets<&CheckPlan::hide_failures>(),
     .help = "Do not show the output of the check.",
     .excludes = {"show_output"}},
    {.flags = {"--artifacts"},
     .dest = "artifacts",
     .sets = Sets<&DebugSessionPlan::artifacts>(),
     .files = FileUse::kUnchecked,
     .arity = Arity::kPlus,
     .metavar = "PATH",
     .help =
         "Files that the check writes. After each iteration they are moved into the folder good or"
         " the folder bad."},
    {.flags = {"--art-dir", "--artifacts-dir"},
     .dest = "artifacts_dir",
     .sets = Sets<&DebugSessionPlan::artifacts_folder>(),
     .files = FileUse::kWritesInto,
     .arity = Arity::kOne,
     .fallback = "polygraphy_artifacts",
     .metavar = "DIR",
     .help = "Where the folders good and bad are created.",
     .needs = {"--artifacts"}},
    {.flags = {"--iter-info", "--iteration-info"},
     .dest = "iteration_info_path",
     .sets = Sets<&DebugSessionPlan::info_path>(),
     .files = FileUse::kWritesThere,
     .arity = Arity::kOne,
     .metavar = "FILE",
     .help = "Write the iteration's number to this JSON file while the check runs."},
    {.flags = {"--load-debug-replay"},
     .dest = "load_debug_replay",
     .sets = Sets<&DebugSessionPlan::load_replay>(),
     .files = FileUse::kUnchecked,
     .arity = Arity::kOne,
     .metavar = "FILE",
     .help = "Resume an interrupted session: skip the checks whose results are in this replay."},
    {.flags = {"--save-debug-replay"},
     .dest = "save_debug_replay",
     .sets = Sets<&DebugSessionPlan::save_replay>(),
     .files = FileUse::kWrites,
     .arity = Arity::kOne,
     .fallback = "polygraphy_debug_replay.json",
     .metavar = "FILE",
     .help =
         "Write the result of each iteration after it ends; and, to a file with _skip_current in"
         " its name, before it starts, as if it had failed."},
};

constexpr OptionRow kArtifact[] = {
    {.flags = {"--iter-artifact", "--intermediate-artifact"},
     .dest = "iter_artifact_path",
     .sets = Sets<&DebugSessionPlan::artifact>(),
     .files = FileUse::kUnchecked,
     .arity = Arity::kOne,
     .fallback = "polygraphy_debug.onnx or, for debug build, polygraphy_debug.engine",
     .metavar = "FILE",
     .help = "The model or engine of each iteration, which the check reads."},
    {.flags = {"--no-remove-intermediate"},
     .dest = "remove_intermediate",
     .sets = SetBy<&KeepArtifact>(),
     .turns_off = true,
     .help = "Keep the file of each iteration."},
};

constexpr std::string_view kDebugModes[] = {"bisect", "linear"};

constexpr OptionRow kReduce[] = {
    {.flags = {"-o", "--output"},
     .dest = "output",
     .sets = Sets<&ReduceDebugPlan::output>(),
     .files = FileUse::kWritesThere,
     .arity = Arity::kOne,
     .metavar = "FILE",
     .help = "The reduced model, which still fails."},
    {.flags = {"--min-good", "--minimal-good"},
     .dest = "min_good",
     .sets = Sets<&ReduceDebugPlan::min_good>(),
     .files = FileUse::kWritesThere,
     .arity = Arity::kOne,
     .metavar = "FILE",
     .help = "A model of similar size that passes, if there is one."},
    {.flags = {"--mode"},
     .dest = "mode",
     .sets = SetBy<&SetReduceMode>(),
     .arity = Arity::kOne,
     .choices = kDebugModes,
     .fallback = "bisect",
     .metavar = "MODE",
     .help = "bisect: find the part of the graph that fails, then remove ever smaller"
             " parts of it; linear: single nodes from the start.",
     .standing = Standing::kBetter,
     .note = "Both end with a model in which no single node can be left out."},
    {.flags = {"--no-reduce-inputs"},
     .dest = "reduce_inputs",
     .sets = Sets<&ReduceDebugPlan::reduce_inputs>(),
     .turns_off = true,
     .help = "Keep the model's own inputs: a node stays together with all nodes that it depends"
             " on.",
     .excludes = {"reduce_outputs"}},
    {.flags = {"--no-reduce-outputs"},
     .dest = "reduce_outputs",
     .sets = Sets<&ReduceDebugPlan::reduce_outputs>(),
     .turns_off = true,
     .help = "Keep the model's own outputs: a node stays together with all nodes that depend on"
             " it.",
     .excludes = {"reduce_inputs"}},
    {.flags = {"--model-input-shapes", "--model-inputs"},
     .dest = "input_shapes",
     .sets = Sets<&ReduceDebugPlan::inputs>(),
     .arity = Arity::kPlus,
     .metavar = "NAME:SHAPE",
     .help =
         "Shapes of the model's inputs, from which the shapes of tensors at the edges of a part are"
         " inferred."},
};

constexpr std::string_view kDirections[] = {"forward", "reverse"};
constexpr std::string_view kDebugPrecisions[] = {"float32", "float16"};

constexpr OptionRow kPrecision[] = {
    {.flags = {"-o", "--output"},
     .dest = "output",
     .sets = Sets<&PrecisionDebugPlan::output>(),
     .files = FileUse::kWritesThere,
     .arity = Arity::kOne,
     .metavar = "FILE",
     .help = "The model with casts: float16 except for the nodes found.",
     .origin = Origin::kOurs},
    {.flags = {"--mode"},
     .dest = "mode",
     .sets = SetBy<&SetPrecisionMode>(),
     .arity = Arity::kOne,
     .choices = kDebugModes,
     .fallback = "bisect",
     .metavar = "MODE",
     .help = "bisect: first all nodes of an operator at a time, then single nodes; linear: single"
             " nodes from the start.",
     .standing = Standing::kBetter,
     .note = "Both end with named nodes, none of which can be left out."},
    {.flags = {"--dir", "--direction"},
     .dest = "direction",
     .sets = SetBy<&SetDirection>(),
     .arity = Arity::kOne,
     .choices = kDirections,
     .fallback = "forward",
     .metavar = "WHERE",
     .help = "Which of two nodes with equal evidence to try first: the one nearer to the inputs"
             " (forward) or to the outputs (reverse)."},
    {.flags = {"-p", "--precision"},
     .dest = "precision",
     .sets = Sets<&PrecisionDebugPlan::higher>(),
     .arity = Arity::kOne,
     .choices = kDebugPrecisions,
     .fallback = "float32",
     .metavar = "TYPE",
     .help = "The higher precision, for the nodes that need it.",
     .standing = Standing::kBetter,
     .note = "float16 only where a TensorRT before 10 builds engines: elsewhere the lower one is"
             " float16, in the model itself."},
    {.flags = {"--max-checks"},
     .dest = "max_checks",
     .sets = SetBy<&SetMostChecks>(kAtLeast1),
     .arity = Arity::kOne,
     .type = ValueType::kInt,
     .fallback = "100",
     .metavar = "N",
     .help = "Stop after this many checks, and keep the smallest set of nodes that passed one.",
     .origin = Origin::kOurs},
};

constexpr OptionRow kJobs[] = {
    {.flags = {"--jobs"},
     .dest = "jobs",
     .sets = SetBy<&SetJobs>(kAtLeast1),
     .arity = Arity::kOne,
     .type = ValueType::kInt,
     .fallback = "1",
     .metavar = "N",
     .help = "Run this number of checks at once, each with a file of its own: if the check names"
             " polygraphy_debug.onnx, the second gets polygraphy_debug.2.onnx, and so on.",
     .origin = Origin::kOurs},
};

constexpr OptionRow kRepeat[] = {
    {.flags = {"--until"},
     .dest = "until",
     .sets = SetBy<&SetUntil>(),
     .arity = Arity::kOne,
     .required = true,
     .metavar = "WHEN",
     .help = "When to stop: a number of iterations, good or bad."},
};

}  // namespace

OptionGroup DebugCheckGroup() { return {"Check", "checking an iteration", kCheck}; }

OptionGroup DebugArtifactGroup() { return {"Iterations", "the file of an iteration", kArtifact}; }

OptionGroup DebugPrecisionGroup() { return {"Precision", "the search and its result", kPrecision}; }

OptionGroup DebugJobGroup() { return {"Jobs", "checks that run at the same time", kJobs}; }

OptionGroup DebugReduceGroup() { return {"Reduction", "what is reduced", kReduce}; }

OptionGroup DebugRepeatGroup() { return {"Repetition", "when to stop", kRepeat}; }

}  // namespace vernier
