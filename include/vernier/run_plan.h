// The plan of a run: plain data, complete before any framework is loaded.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "vernier/decision_plan.h"
#include "vernier/indirect.h"
#include "vernier/input_plan.h"
#include "vernier/per_output.h"
#include "vernier/runner_plan.h"
#include "vernier/shard_plan.h"
#include "vernier/status.h"

namespace vernier {

struct CompareOptions;

/// What a report is for: people, CI servers, programs, pull requests.
enum class ReportFormat : uint8_t { kHtml, kJunit, kJsonLines, kMarkdown };

/// One --report.
struct ReportFile {
  std::string path;
  ReportFormat format = ReportFormat::kHtml;

  template <typename Plan, typename Fields>
  static void EachField(Plan& report, Fields& field) {
    field("path", report.path);
    field("format", report.format);
  }
};

/// Where a run saves what. An empty path: not saved. Files appear complete or not at all, except
/// for `outputs` and `rows`, whose partial files `resume` reads.
struct SavePlan {
  std::string inputs;               ///< --save-inputs: the feeds of all iterations
  std::string outputs;              ///< --save-outputs: all outputs of all runners
  std::string input_blobs;          ///< --save-input-blob: a file for each input; see docs
  std::string accuracy;             ///< --save-accuracy-results, Polygraphy's format
  std::string record;               ///< --save-record
  std::string rows;                 ///< --save-rows: FILE.jsonl or FILE.npz
  std::vector<ReportFile> reports;  ///< --report
  bool resume = false;              ///< --resume: continue from what was saved to `outputs`
  /// Records and reports leave out what differs in another run of the same plan: times, hosts, the
  /// words of the command, where things are.
  bool reproducible = false;

  bool WantsPage() const {
    return std::any_of(reports.begin(), reports.end(), [](const ReportFile& report) {
      return report.format == ReportFormat::kHtml;
    });
  }
  /// Does anything that is saved hold the statistics of what was compared?
  bool WantsFigures() const { return !record.empty() || !rows.empty() || !reports.empty(); }
  /// Does anything that is saved show charts, or might later?
  bool WantsCharts() const { return WantsPage() || !record.empty(); }

  template <typename Plan, typename Fields>
  static void EachField(Plan& save, Fields& field) {
    field("inputs", save.inputs);
    field("outputs", save.outputs);
    field("input_blobs", save.input_blobs);
    field("accuracy", save.accuracy);
    field("record", save.record);
    field("rows", save.rows);
    field("reports", save.reports);
    field("resume", save.resume);
    field("reproducible", save.reproducible);
  }
};

/// Pictures of the differences that `simple` finds.
struct PicturePlan {
  std::string heatmaps;     ///< --save-heatmaps: a folder; empty: not saved
  std::string error_plots;  ///< --save-error-metrics-plot, likewise
  bool show_heatmaps = false;
  bool show_error_plots = false;

  template <typename Plan, typename Fields>
  static void EachField(Plan& pictures, Fields& field) {
    field("heatmaps", pictures.heatmaps);
    field("error_plots", pictures.error_plots);
    field("show_heatmaps", pictures.show_heatmaps);
    field("show_error_plots", pictures.show_error_plots);
  }
};

/// Which runners are compared: each with the one before it, each with the first, all with all, or
/// the pairs of `PairPlan::named`.
enum class PairRule { kNeighbours, kFirst, kAll, kNamed };

struct PairPlan {
  PairRule rule = PairRule::kNeighbours;
  std::vector<std::pair<std::string, std::string>> named;  ///< labels: reference, candidate

  template <typename Plan, typename Fields>
  static void EachField(Plan& pairs, Fields& field) {
    field("rule", pairs.rule);
    field("named", pairs.named);
  }
};

/// What the search for a layer needs in addition to the run: `--blame`, and the command `blame`.
struct BlameOptions {
  std::string reference;        ///< the label of a runner; empty: the first in the order of kinds
  uint64_t max_host_bytes = 0;  ///< of all processes; 0: half of what is free besides
  uint64_t max_gpu_bytes = 0;   ///< 0: no limit is known
  std::string save;             ///< --save-blame; empty: not saved, like the next two
  std::string bundle;
  std::string resume;
  /// --on-flips: the feeds are those of the iterations whose decisions flip worst, a few of them;
  /// the plan of the run says what is decided.
  bool on_flips = false;
  /// For --bundle, runner by runner: the words of a command line that run it on another model.
  std::vector<std::string> runner_words;

  template <typename Plan, typename Fields>
  static void EachField(Plan& blame, Fields& field) {
    field("reference", blame.reference);
    field("max_host_bytes", blame.max_host_bytes);
    field("max_gpu_bytes", blame.max_gpu_bytes);
    field("save", blame.save);
    field("bundle", blame.bundle);
    field("resume", blame.resume);
    field("on_flips", blame.on_flips);
    field("runner_words", blame.runner_words);
  }
};

/// A complete description of a run. Default-constructed: no runners. Fill it, then ValidatePlan()
/// or Run(). Copies are independent; several threads may read one.
struct RunPlan {
  std::string command;  ///< what requested the run, for banners and records
  /// Behave like Polygraphy: warnings instead of errors for coerced inputs, one-sided outputs and
  /// missing iterations.
  bool lenient = false;
  bool strict = false;     ///< vacuous agreement fails, and so does what `same_type` says
  bool same_type = false;  ///< outputs of different types fail
  std::vector<RunnerPlan> runners;
  InputPlan inputs;
  ShardPlan shard;  ///< which of the iterations are this process's
  StepPlan steps;
  SavePlan save;
  PicturePlan pictures;
  ExecutionPlan execution;
  PairPlan pairs;
  std::vector<std::string> output_map_words;  ///< --map-outputs: `[FIRST:[SECOND:]]NAME=[SOURCE]`
  Indirect<CompareOptions> compare;           ///< compare_options.h
  std::vector<std::string> load_outputs;      ///< files of saved outputs, compared as runners
  std::vector<std::string> load_labels;  ///< of these, in their order; empty: the file's own names
  bool inputs_as_outputs = false;        ///< files of saved inputs may stand in load_outputs
  PerOutput<TopK> postprocess;
  ScriptFunction postprocess_script;  ///< replaces `postprocess`
  ScriptFunction compare_script;      ///< replaces the functions of `compare`
  DecisionOptions decisions;          ///< what outputs decide, seen before `postprocess`
  /// Bounds of --tolerance auto come from the reference run against itself with other settings.
  bool noise_floor = false;
  bool validate = false;
  bool comparison_asked = false;      ///< --compare-outputs: a single side is then an error
  std::optional<BlameOptions> blame;  ///< --blame: search where outputs differ, after the run

  /// `shard`, which keeps the feeds of one inference together.
  ShardPlan ShardOfFeeds() const {
    ShardPlan own = shard;
    own.multiple = std::max<int64_t>(1, execution.batch_feeds);
    return own;
  }

  template <typename Plan, typename Fields>
  static void EachField(Plan& plan, Fields& field) {
    field("command", plan.command);
    field("lenient", plan.lenient);
    field("strict", plan.strict);
    field("same_type", plan.same_type);
    field("runners", plan.runners);
    field("inputs", plan.inputs);
    field("shard", plan.shard);
    field("steps", plan.steps);
    field("load_outputs", plan.load_outputs);
    field("load_labels", plan.load_labels);
    field("inputs_as_outputs", plan.inputs_as_outputs);
    field("execution", plan.execution);
    field("postprocess", plan.postprocess);
    field("postprocess_script", plan.postprocess_script);
    field("pairs", plan.pairs);
    field("output_maps", plan.output_map_words);
    field("compare", *plan.compare);
    field("compare_script", plan.compare_script);
    field("decisions", plan.decisions);
    field("noise_floor", plan.noise_floor);
    field("validate", plan.validate);
    field("comparison_asked", plan.comparison_asked);
    field("save", plan.save);
    field("pictures", plan.pictures);
    field("blame", plan.blame);
  }
};

/// The plan as the file of a run (`--save-run-file`): JSON with what differs from a new plan, under
/// the names of docs/run-file.md.
std::string ToJson(const RunPlan& plan);

/// A plan from what ToJson() made of it, or from a file written by hand: what is absent keeps its
/// default. `what` names the text in messages. kInvalidArgument, naming the setting, for one that
/// is unknown or given twice, and for a value of another type; and, naming the line, for what is
/// not JSON. kMalformed for a text that is not a plan, or one of a later version.
Result<RunPlan> ReadPlan(const std::string& text, const std::string& what);

}  // namespace vernier
