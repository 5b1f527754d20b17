#include <algorithm>

#include "compare/functions/metric_table.h"
#include "options/table/command_words.h"
#include "options/table/groups.h"
#include "options/table/option_values.h"
#include "options/words/arg_parser.h"
#include "util/text/number_text.h"
#include "vernier/compare_options.h"

namespace vernier {
namespace {

constexpr std::string_view kPictures =
    "No matplotlib is needed; equal elements and large tensors can be drawn: see pictures.md.";

// What --compare takes: a group of metrics stands behind the last of them, ours are at the end.
std::vector<std::string_view> CompareChoices() {
  std::vector<std::string_view> choices = {"simple", "indices"};
  const std::span<const MetricRow* const> metrics = MetricsByOrigin();
  for (size_t i = 0; i < metrics.size(); ++i) {
    const std::string_view group = metrics[i]->group;
    choices.push_back(metrics[i]->name);
    const bool last = i + 1 == metrics.size() || metrics[i + 1]->group != group;
    if (!group.empty() && last) choices.push_back(group);
  }
  choices.emplace_back("logits");
  return choices;
}

std::vector<std::string> OwnChoices() {
  std::vector<std::string> names;
  for (const MetricRow* metric : MetricsByOrigin()) {
    if (metric->is_ours()) names.emplace_back(metric->name);
  }
  names.emplace_back("logits");
  return names;
}

// "distance_metrics (l2 and cosine_similarity)"; of anything but a group, the choice itself.
std::string DescribeChoice(std::string_view choice) {
  std::vector<std::string> members;
  for (const MetricRow& metric : MetricTable()) {
    if (metric.group == choice) members.emplace_back(metric.name);
  }
  const std::string text(choice);
  return members.empty() ? text : text + " (" + JoinWords(members, " and ") + ")";
}

Status SetFunctions(const OptionInput& input, CompareOptions& options) {
  VERNIER_TRY(ReadValue(input, options.functions));
  return ReadLogitsAxes(input, options.logits_axis);
}

OptionRow CompareRow() {
  static const std::vector<std::string_view> choices = CompareChoices();
  static const std::vector<std::string> own = OwnChoices();
  std::vector<std::string> described;
  for (const std::string_view choice : choices) described.push_back(DescribeChoice(choice));
  static const std::string help =
      "How to compare: " + JoinWords(described, " or ") +
      ". All functions named must pass. [OUTPUT:]logits[:axis=N] selects the output that holds"
      " the logits and the axis of the classes (default: the last).";
  static const std::string note =
      JoinWords(own, " and ") + " are ours. A metric that cannot be computed has not passed.";
  return {.flags = {"--compare", "--compare-func"},
          .dest = "compare",
          .sets = SetBy<&SetFunctions, &CompareWords>(),
          .arity = Arity::kPlus,
          .choices = choices,
          .own_choices = own.size(),
          .accepts = &IsLogitsWord,
          .fallback = "simple",
          .metavar = "FUNCTION",
          .help = help,
          .standing = Standing::kBetter,
          .note = note,
          .needs = {kTwoSides},
          .idle_beside = kOwnJudge};
}

constexpr OptionRow kConduct[] = {
    {.flags = {"--no-shape-check"},
     .dest = "no_shape_check",
     .sets = Sets<&CompareOptions::no_shape_check>(),
     .help = "Reshape or transpose outputs whose shapes differ instead of failing.",
     .needs = {kTwoSides},
     .idle_beside = kOwnJudge},
    {.flags = {"--validate"},
     .dest = "validate",
     .sets = Sets<&RunPlan::validate>(),
     .help = "Fail on NaN and infinity in outputs."},
    {.flags = {"--fail-fast"},
     .dest = "fail_fast",
     .sets = Sets<&CompareOptions::fail_fast>(),
     .help = "Stop at the first failure.",
     .needs = {kTwoSides}},
    {.flags = {"--check-average"},
     .dest = "check_average",
     .sets = Sets<&CompareOptions::check_average>(),
     .help = "Judge each metric by its mean over all iterations instead of per iteration.",
     .needs = {kTwoSides}},
    {.flags = {"--sequential-runners"},
     .dest = "sequential_runners",
     .sets = Sets<&ExecutionPlan::sequential>(),
     .help = "Run each runner to completion before the next one starts.",
     .standing = Standing::kBetter,
     .note = "Outputs wait in a file, not in memory; chosen by itself when a device runs out of"
             " memory."},
};

constexpr OptionRow kSidesAndScope[] = {
    {.flags = {"--compare-func-script"},
     .dest = "compare_func_script",
     .sets = SetsScript<&RunPlan::compare_script>("compare_outputs"),
     .files = FileUse::kReads,
     .arity = Arity::kOne,
     .metavar = "FILE[:FUNCTION]",
     .help = "A Python function (compare_outputs) that compares in place of --compare.",
     .standing = Standing::kBetter,
     .note =
         "Runs in the Python of --python, also without Polygraphy; imported once; a function that"
         " returns no verdict does not pass.",
     .needs = {kTwoSides}},
    {.flags = {"--load-outputs", "--load-results"},
     .dest = "load_outputs_paths",
     .sets = Sets<&SavedSideWords::loaded>(),
     .files = FileUse::kReadsSides,
     .arity = Arity::kPlus,
     .metavar = "[LABEL=]PATH",
     .help = "Compare with saved outputs. Each file or folder adds one side, named by LABEL= or by"
             " the name in the file.",
     .standing = Standing::kBetter,
     .note = "Read one iteration at a time in every mode; .npz and .safetensors too."},
    {.flags = {"--save-accuracy-results"},
     .dest = "save_accuracy_results_path",
     .sets = Saves<&SavePlan::accuracy>(),
     .arity = Arity::kOne,
     .metavar = "FILE",
     .help = "Save metrics and verdicts as JSON, without the tensors.",
     .needs = {kTwoSides}},
    {.flags = {"--compare-outputs"},
     .dest = "compare_outputs",
     .sets = Sets<&RunPlan::comparison_asked>(),
     .files = FileUse::kReadsSides,
     .in_api = InApi::kYes,
     .arity = Arity::kStar,
     .metavar = "PATH",
     .help = "Compare, which is the default if there are two sides; with files, compare these saved"
             " outputs.",
     .origin = Origin::kOurs},
    {.flags = {"--lenient"},
     .dest = "lenient",
     .sets = Sets<&Leniency::lenient>(),
     .help =
         "Warn instead of failing, as Polygraphy does, if outputs or iterations are missing on one"
         " side, images cannot be read, or inputs had to be adjusted to fit, even if only one"
         " iteration remains. With --strict, missing outputs and iterations still fail. Enabled"
         " when the program is called polygraphy.",
     .origin = Origin::kOurs},
    {.flags = {"--strict"},
     .dest = "strict",
     .sets = Sets<&RunPlan::strict>(),
     .help =
         "Also fail if an agreement is meaningless: an output is all NaN in an iteration, or all"
         " zero, constant or empty in every iteration; both sides share the same memory; or a file"
         " is compared with itself. Also fail if the element types of an output differ.",
     .origin = Origin::kOurs,
     .needs = {kTwoSides}},
    {.flags = {"--same-type"},
     .dest = "same_type",
     .sets = Sets<&RunPlan::same_type>(),
     .help = "Also fail if an output has different element types on the two sides. Without this"
             " option the last lines report it.",
     .origin = Origin::kOurs,
     .needs = {kTwoSides}},
    {.flags = {"--worst"},
     .dest = "worst",
     .sets = SetsNumber<&CompareOptions::worst_elements>(),
     .arity = Arity::kOne,
     .type = ValueType::kInt,
     .fallback = "5",
     .metavar = "K",
     .help = "Show the K worst elements of each output that does not match, with both values.",
     .origin = Origin::kOurs,
     .needs = {kTwoSides},
     .idle_beside = kOwnJudge},
};

constexpr OptionRow kSimple[] = {
    {.flags = {"--rtol", "--rel-tol"},
     .dest = "rtol",
     .sets = SetsNumber<&CompareOptions::rtol>(),
     .arity = Arity::kPlus,
     .fallback = DefaultText("1e-5", kDefaultTolerance),
     .metavar = "[OUTPUT:]X",
     .help =
         "Relative tolerance, relative to the second runner of a pair. An element passes if it is"
         " within --rtol or within --atol: one of the two suffices.",
     .needs = {kTwoSides},
     .idle_beside = kOwnJudge},
    {.flags = {"--atol", "--abs-tol"},
     .dest = "atol",
     .sets = SetsNumber<&CompareOptions::atol>(),
     .arity = Arity::kPlus,
     .fallback = DefaultText("1e-5", kDefaultTolerance),
     .metavar = "[OUTPUT:]X",
     .help = "Absolute tolerance. An element passes if it is within --atol or within --rtol: one of"
             " the two suffices.",
     .needs = {kTwoSides},
     .idle_beside = kOwnJudge},
    {.flags = {"--tolerance"},
     .dest = "tolerance",
     .sets = Sets<&CompareOptions::tolerance>(),
     .arity = Arity::kPlus,
     .fallback = "fixed",
     .metavar = "[OUTPUT:]RULE",
     .help = "Where tolerances come from: fixed (--atol, --rtol), or auto: the error bound for"
             " correct runners, derived from the graph, the lengths of its sums and the precisions"
             " actually used. Outputs named in --atol or --rtol keep those tolerances.",
     .origin = Origin::kOurs,
     .needs = {kTwoSides},
     .idle_beside = kOwnJudge},
    {.flags = {"--noise-floor"},
     .dest = "noise_floor",
     .sets = Sets<&RunPlan::noise_floor>(),
     .help = "Implies --tolerance auto and measures the error bound: the first runner is compared"
             " with itself, using one thread and no graph optimisations.",
     .origin = Origin::kOurs,
     .needs = {kTwoSides},
     .idle_beside = kOwnJudge},
    {.flags = {"--check-error-stat"},
     .dest = "check_error_stat",
     .sets = Sets<&CompareOptions::check_error_stat>(),
     .arity = Arity::kPlus,
     .fallback = "elemwise",
     .metavar = "[OUTPUT:]STATISTIC",
     .help =
         "Which statistic must be within tolerance: elemwise, max, mean, median or quantile. If"
         " several are named for one output, each must be. With median or quantile the record has"
         " exact quantiles over all elements of all iterations.",
     .standing = Standing::kBetter,
     .note = "All statistics named are checked; Polygraphy keeps only the last.",
     .needs = {kTwoSides},
     .idle_beside = kOwnJudge},
    {.flags = {"--infinities-compare-equal"},
     .dest = "infinities_compare_equal",
     .sets = Sets<&CompareOptions::infinities_compare_equal>(),
     .help = "Infinities of the same sign match.",
     .needs = {kTwoSides},
     .idle_beside = kOwnJudge},
    {.flags = {"--save-heatmaps"},
     .dest = "save_heatmaps",
     .sets = SavesFolder<&PicturePlan::heatmaps>(),
     .arity = Arity::kOne,
     .metavar = "DIR",
     .help = "Save heat maps of the absolute and relative errors as SVG and PNG.",
     .standing = Standing::kBetter,
     .note = kPictures},
    {.flags = {"--show-heatmaps"},
     .dest = "show_heatmaps",
     .sets = Sets<&PicturePlan::show_heatmaps>(),
     .help = "Open the heat maps; without a display, print their paths.",
     .standing = Standing::kBetter,
     .note = kPictures},
    {.flags = {"--save-error-metrics-plot"},
     .dest = "save_error_metrics_plot",
     .sets = SavesFolder<&PicturePlan::error_plots>(),
     .arity = Arity::kOne,
     .metavar = "DIR",
     .help =
         "Save plots of the errors against the magnitude of the reference values, as PNG and SVG.",
     .standing = Standing::kBetter,
     .note = kPictures},
    {.flags = {"--show-error-metrics-plot"},
     .dest = "show_error_metrics_plot",
     .sets = Sets<&PicturePlan::show_error_plots>(),
     .help = "Open the plots; without a display, print their paths.",
     .standing = Standing::kBetter,
     .note = kPictures},
    {.flags = {"--error-quantile"},
     .dest = "error_quantile",
     .sets = SetsNumber<&CompareOptions::error_quantile>(),
     .arity = Arity::kPlus,
     .fallback = DefaultText("0.99", kDefaultErrorQuantile),
     .metavar = "[OUTPUT:]X",
     .help = "Quantile for --check-error-stat quantile, 0 to 1.",
     .standing = Standing::kBetter,
     .note = "A value outside 0 to 1 is refused before anything runs.",
     .needs = {"--check-error-stat quantile"},
     .idle_beside = kOwnJudge},
    {.flags = {"--max-mismatch-share"},
     .dest = "max_mismatch_share",
     .sets = SetsNumber<&CompareOptions::max_mismatch_share>(),
     .arity = Arity::kPlus,
     .fallback = "0",
     .metavar = "[OUTPUT:]X",
     .help =
         "Allow this fraction (0 to 1) of an output's elements to exceed the tolerance; NaNs,"
         " infinite errors, and errors over --max-mismatch-excess times the tolerance, still fail.",
     .origin = Origin::kOurs,
     .needs = {kTwoSides},
     .idle_beside = kOwnJudge},
    {.flags = {"--max-mismatch-excess"},
     .dest = "max_mismatch_excess",
     .sets = SetsNumber<&CompareOptions::max_mismatch_excess>(),
     .arity = Arity::kPlus,
     .fallback = DefaultText("10", kDefaultMismatchExcess),
     .metavar = "[OUTPUT:]N",
     .help = "Largest error that --max-mismatch-share allows, as a multiple of an element's"
             " tolerance; inf allows any finite error.",
     .origin = Origin::kOurs,
     .needs = {"--max-mismatch-share"},
     .idle_beside = kOwnJudge},
};

constexpr OptionRow kIndices[] = {
    {.flags = {"--index-tolerance"},
     .dest = "index_tolerance",
     .sets = SetsNumber<&CompareOptions::index_tolerance>(),
     .arity = Arity::kPlus,
     .fallback = "0",
     .metavar = "[OUTPUT:]N",
     .help = "How many positions an index may move.",
     .needs = {kTwoSides},
     .idle_beside = kOwnJudge},
};

std::span<const OptionRow> ComparisonRows() {
  static const std::vector<OptionRow> all = [] {
    std::vector<OptionRow> rows(std::begin(kConduct), std::end(kConduct));
    rows.push_back(CompareRow());
    rows.insert(rows.end(), std::begin(kSidesAndScope), std::end(kSidesAndScope));
    return rows;
  }();
  return all;
}

CompareFunction MetricOf(const OptionRow& row) {
  return std::ranges::find(MetricTable(), row.dest, &MetricRow::threshold)->function;
}

Status SetThreshold(const OptionInput& input, CompareOptions& options) {
  return ReadValue(input, options.thresholds[MetricOf(*input.given.row)]);
}

OptionWords ThresholdWords(const OptionRow& row, const CompareOptions& options) {
  return ValueWords(row, options.thresholds[MetricOf(row)]);
}

std::span<const OptionRow> ThresholdRows() {
  static const std::vector<OptionRow> all = [] {
    std::vector<OptionRow> rows;
    for (const MetricRow* metric : MetricsByOrigin()) {
      const bool cosine = metric->function == CompareFunction::kCosineSimilarity;
      const NumberRule most = cosine ? kAtMost1 : NumberRule{};
      const NumberRule rule = metric->higher_is_better ? most : kAtLeast0;
      rows.push_back({.flags = {metric->flag, metric->alias},
                      .dest = metric->threshold,
                      .sets = SetBy<&SetThreshold, &ThresholdWords>(rule).OneEach(),
                      .arity = Arity::kPlus,
                      .fallback = metric->builtin,
                      .metavar = metric->metavar,
                      .help = metric->help,
                      .origin = metric->is_ours() ? Origin::kOurs : Origin::kPolygraphy,
                      .needs = {kTwoSides},
                      .idle_beside = kOwnJudge});
    }
    return rows;
  }();
  return all;
}

}  // namespace

OptionGroup ComparisonGroup() {
  return {"Comparison", "what is compared, and what counts as a failure", ComparisonRows()};
}

OptionGroup CompareSimpleGroup() {
  return {"Comparison: simple", "absolute and relative tolerances", kSimple};
}

OptionGroup CompareIndicesGroup() {
  return {"Comparison: indices", "comparing top-K indices", kIndices};
}

OptionGroup CompareMetricsGroup() {
  return {"Comparison: other metrics", "metrics with a single value", ThresholdRows()};
}

std::vector<OptionGroup> CompareGroup() {
  return {ComparisonGroup(),    CompareSimpleGroup(), CompareIndicesGroup(),
          CompareLogitsGroup(), CompareTokensGroup(), CompareMetricsGroup()};
}

}  // namespace vernier
