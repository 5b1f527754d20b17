// What can be known of a plan before anything is opened.
#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "blame/sides/reference_choice.h"
#include "decide/labels/label_scores.h"
#include "inputs/dim_sizes.h"
#include "io/results/file_kind.h"
#include "model/onnx/model_type.h"
#include "model/onnx/onnx_model.h"
#include "run/maps/name_maps.h"
#include "run/runner/resolve_runner.h"
#include "run/saved/row_writer.h"
#include "run/workers/embedder.h"
#include "session/blame/flip_blame.h"
#include "session/plan/decision_check.h"
#include "session/plan/plan_batches.h"
#include "session/plan/plan_devices.h"
#include "session/plan/plan_files.h"
#include "session/plan/plan_numbers.h"
#include "session/plan/plan_shard.h"
#include "session/plan/plan_steps.h"
#include "session/plan/plan_workers.h"
#include "util/files/paths.h"
#include "vernier/compare_options.h"
#include "vernier/session.h"

namespace vernier {
namespace {

namespace fs = std::filesystem;

fs::path Absolute(const std::string& path) { return fs::absolute(path).lexically_normal(); }

std::string PolygraphysWords(const std::string& path) {
  return "Two of save_inputs_path, save_outputs_path, and save_input_blob_path resolve to the same "
         "path ('" +
         path + "'). Use distinct paths.";
}

Status CheckPaths(const RunPlan& plan) {
  const std::pair<std::string_view, const std::string&> kinds[] = {
      {"--save-inputs", plan.save.inputs},
      {"--save-outputs", plan.save.outputs},
      {"--save-input-blob", plan.save.input_blobs}};
  std::vector<std::string> saved;
  for (size_t i = 0; i < std::size(kinds); ++i) {
    const auto& [flag, path] = kinds[i];
    if (path.empty()) continue;
    for (size_t j = 0; j < i; ++j) {
      const auto& [other_flag, other] = kinds[j];
      if (other.empty() || PlaceOfFile(path) != PlaceOfFile(other)) continue;
      return InvalidArgument(plan.lenient
                                 ? PolygraphysWords(path)
                                 : std::string(other_flag) + " and " + std::string(flag) +
                                       " name the same path '" + path + "'; give each its own");
    }
    saved.push_back(path);
  }
  std::vector<std::string> loaded = plan.inputs.load_paths;
  loaded.insert(loaded.end(), plan.load_outputs.begin(), plan.load_outputs.end());
  for (const std::string& save : saved) {
    for (const std::string& load : loaded) {
      if (!LiesWithin(Absolute(load), Absolute(save))) continue;
      return InvalidArgument("The load path '" + load + "' overlaps the save path '" + save +
                             "'. Saving would overwrite or conflict with the data being loaded. "
                             "Use distinct paths for loading and saving.");
    }
  }
  return {};
}

// Of an unknown extension the file is JSON, as in Polygraphy, and is read as such.
Status CheckSavedFormats(const RunPlan& plan) {
  const auto check = [](std::string_view flag, const std::string& path) -> Status {
    if (!IsReadAsAnotherKind(path)) return {};
    return InvalidArgument(std::string(flag) + ": '" + path + "' cannot be saved as '" +
                           fs::path(path).extension().string() +
                           "': name a .json, .npz or .safetensors file, or a folder");
  };
  VERNIER_TRY(check("--save-inputs", plan.save.inputs));
  return check("--save-outputs", plan.save.outputs);
}

Status CheckResume(const RunPlan& plan) {
  if (!plan.save.resume) return {};
  if (plan.save.outputs.empty()) {
    return InvalidArgument("--resume needs --save-outputs, which names the file to continue");
  }
  if (plan.runners.empty()) {
    return InvalidArgument("--resume needs a runner");
  }
  return {};
}

Status CheckRows(const RunPlan& plan) {
  if (plan.save.rows.empty() || RowWriter::Takes(plan.save.rows)) return {};
  return InvalidArgument("--save-rows: expected FILE.jsonl or FILE.npz, got '" + plan.save.rows +
                         "'");
}

// Of this decision are there, or may there be, labels of `labels`?
bool IsLabelledBy(const LabelsPlan& labels, const DecisionPlan& decision) {
  const bool about =
      labels.output.empty() || decision.output.empty() || labels.output == decision.output;
  const bool boxes = decision.kind == DecisionKind::kBoxes;
  return about && (labels.of_boxes() ? boxes : TakesLabels(decision.kind));
}

Status CheckLabels(const DecisionOptions& options) {
  if (options.gates_drop() && options.labels.empty()) {
    return InvalidArgument("--max-drop needs --labels, which give the right answers");
  }
  std::set<std::pair<bool, std::string_view>> taken;
  for (const LabelsPlan& labels : options.labels) {
    const std::string flag =
        "--labels " + (labels.output.empty() ? "" : labels.output + ":") + labels.path;
    const auto fits = [&](const DecisionPlan& decision) { return IsLabelledBy(labels, decision); };
    if (std::ranges::none_of(options.decisions, fits)) {
      return InvalidArgument(
          flag + ": no --decision" + (labels.output.empty() ? "" : " about that output") +
          (labels.of_boxes()
               ? " has boxes: add boxes:FORMAT"
               : " takes labels: add topK, threshold=X, argmax, ctc or regression=X"));
    }
    if (taken.emplace(labels.of_boxes(), labels.output).second) continue;
    return InvalidArgument("--labels: '" + labels.path + "' is the second file" +
                           (labels.output.empty() ? std::string(" for every output")
                                                  : " for output '" + labels.output + "'") +
                           ": leave one of them out");
  }
  return {};
}

}  // namespace

Status CheckDecisions(const RunPlan& plan) {
  const DecisionOptions& options = plan.decisions;
  std::set<std::pair<std::string_view, std::string_view>> taken;
  for (const DecisionPlan& decision : options.decisions) {
    if (taken.emplace(decision.output, decision.text).second) continue;
    return InvalidArgument("--decision: " + decision.text + " is given twice" +
                           (decision.output.empty() ? std::string(" for every output")
                                                    : " for output '" + decision.output + "'") +
                           ": leave one of them out");
  }
  VERNIER_TRY(CheckLabels(options));
  const bool judged = options.judge == JudgeRule::kDecisions || options.judge == JudgeRule::kBoth;
  if (judged && !options.has_gates()) {
    return InvalidArgument(std::string("--judge ") +
                           (options.judge == JudgeRule::kBoth ? "both" : "decisions") +
                           ": there is no gate that decisions could miss: add --max-flip-rate, "
                           "--max-clear-flips or --max-drop");
  }
  if (options.save_flips.empty()) return {};
  const fs::path extension = fs::path(options.save_flips).extension();
  if (extension != ".npz" && extension != ".json" && extension != ".safetensors") {
    return InvalidArgument("--save-flips: expected FILE.npz, FILE.safetensors or FILE.json, got '" +
                           options.save_flips + "'");
  }
  if (plan.runners.empty()) return {};  // saved outputs have no inputs
  if (plan.execution.sequential || plan.steps.wanted()) {
    return InvalidArgument(
        std::string("--save-flips: inputs are available only where an iteration ") +
        "is compared as it is made: leave out " +
        (plan.steps.wanted() ? "--steps" : "--sequential-runners"));
  }
  return {};
}

namespace {

// Pictures are of what `simple` finds. Polygraphy ignores these flags beside other functions.
Status CheckPictures(const RunPlan& plan) {
  const auto& functions = plan.compare->functions;
  if (plan.lenient ||
      std::find(functions.begin(), functions.end(), CompareFunction::kSimple) != functions.end()) {
    return {};
  }
  const PicturePlan& pictures = plan.pictures;
  const std::string_view flag = !pictures.heatmaps.empty()      ? "--save-heatmaps"
                                : pictures.show_heatmaps        ? "--show-heatmaps"
                                : !pictures.error_plots.empty() ? "--save-error-metrics-plot"
                                : pictures.show_error_plots     ? "--show-error-metrics-plot"
                                                                : "";
  if (flag.empty()) return {};
  return InvalidArgument(std::string(flag) +
                         ": pictures show the results of the comparison function 'simple', which"
                         " is not selected; add 'simple' to --compare");
}

// A misspelt name must not cost the time until the script is wanted.
Status CheckScripts(const RunPlan& plan) {
  std::vector<ScriptFunction> scripts = {plan.inputs.script, plan.compare_script,
                                         plan.postprocess_script};
  for (const DecisionPlan& decision : plan.decisions.decisions) {
    scripts.push_back({decision.script, decision.function});
  }
  for (const ScriptFunction& script : scripts) {
    std::error_code ignored;
    const bool is_file = script.given() && !IsCallersObject(script.path);
    if (!is_file || fs::exists(script.path, ignored)) continue;
    return Malformed("Could not import symbol: " + script.function +
                     " from script: " + script.path + "\nNote: Error was: there is no such file");
  }
  return {};
}

// The files know the names of --dim, and whether a shape contradicts a size, before a framework has
// loaded them. Others than ONNX, and what a script makes of one, are not known here.
Status CheckDims(const RunPlan& plan) {
  if (plan.inputs.dims.empty() || plan.runners.empty()) return {};
  std::vector<TensorInfo> inputs;
  for (const RunnerPlan& runner : plan.runners) {
    const bool onnx = ModelTypeFromName(runner.model.type) == ModelType::kOnnx;
    if (!onnx || runner.backend == "python") return {};
    const Result<OnnxModel> model = OnnxModel::Open(runner.model.path);
    if (!model.ok()) return {};  // the runner says so
    std::vector<TensorInfo> own = model->RequiredInputs();
    inputs.insert(inputs.end(), own.begin(), own.end());
  }
  Result<std::vector<ShapeSpec>> shapes =
      ParseShapeSpecs(plan.inputs.shape_words, Strictness::kPolygraphy);
  if (!shapes.ok()) return {};  // whoever makes inputs says so
  return CompleteShapes(*std::move(shapes), inputs, {.given = plan.inputs.dims}).status();
}

// Comparing, saving and mapping know runners by their names.
Status CheckRunnerNames(const RunPlan& plan) {
  std::set<std::string_view> taken;
  for (const RunnerPlan& runner : plan.runners) {
    if (runner.name.empty()) {
      return InvalidArgument("a runner of backend '" + runner.backend +
                             "' has no name: give it one");
    }
    if (taken.insert(runner.name).second) continue;
    return InvalidArgument("two runners are called '" + runner.name +
                           "', so the label does not identify one; give them different labels");
  }
  return {};
}

// Loaded sides may have further labels: what the words say is read again when they are known.
Status CheckMaps(const RunPlan& plan) {
  std::vector<std::string> labels = plan.load_labels;
  for (const RunnerPlan& runner : plan.runners) labels.push_back(runner.name);
  VERNIER_TRY(ParseNameMaps("--map-inputs", plan.inputs.map_words, labels, 1).status());
  return ParseNameMaps("--map-outputs", plan.output_map_words, labels, 2).status();
}

Status CheckModels(const RunPlan& plan) {
  for (const RunnerPlan& runner : plan.runners) {
    const std::optional<ModelType> type = ModelTypeFromName(runner.model.type);
    if (type && ReadsTensorFlow(runner.backend) && !IsTensorFlowModel(*type)) {
      return InvalidArgument("Model type: " + runner.model.type +
                             " cannot be imported with TensorFlow.\nNote: --runner LABEL='tf "
                             "MODEL' gives TensorFlow a model of its own");
    }
    // A script may hold its model itself.
    if (!runner.model.path.empty() || runner.backend == "python") continue;
    return InvalidArgument(
        "One or more runners was specified, but no model file was provided. Make sure you've "
        "specified the model path, and also that it's not being consumed as an argument for "
        "another parameter");
  }
  return {};
}

Status CheckPairs(const RunPlan& plan) {
  if (plan.pairs.rule != PairRule::kNamed || !plan.pairs.named.empty()) return {};
  return InvalidArgument("--pairs: no pair is named: give A:B, or leave --pairs out");
}

}  // namespace

Status ValidatePlan(const RunPlan& plan) {
  VERNIER_TRY(CheckModels(plan));
  if (plan.execution.parallel && plan.execution.sequential) {
    return InvalidArgument(
        "--parallel lets runners infer side by side, --sequential-runners one after another: give "
        "one of them");
  }
  if (!plan.lenient) VERNIER_TRY(CheckRunnerNames(plan));
  if (!plan.lenient) VERNIER_TRY(CheckSavedFormats(plan));
  VERNIER_TRY(CheckPlanNumbers(plan));
  VERNIER_TRY(CheckResume(plan));
  VERNIER_TRY(CheckPaths(plan));
  VERNIER_TRY(CheckPlanFiles(plan));
  VERNIER_TRY(CheckRows(plan));
  VERNIER_TRY(CheckDecisions(plan));
  VERNIER_TRY(CheckPairs(plan));
  VERNIER_TRY(CheckShard(plan));
  VERNIER_TRY(CheckDevices(plan));
  VERNIER_TRY(CheckWorkers(plan));
  VERNIER_TRY(CheckBatchFeeds(plan));
  VERNIER_TRY(CheckPictures(plan));
  VERNIER_TRY(CheckScripts(plan));
  VERNIER_TRY(CheckMaps(plan));
  VERNIER_TRY(CheckSteps(plan));
  VERNIER_TRY(CheckDims(plan));
  if (plan.blame && plan.blame->on_flips) VERNIER_TRY(CheckFlipBlame(plan));
  if (plan.blame) VERNIER_TRY(CheckSides(plan, plan.blame->reference));
  return CheckAverageOptions(plan.compare);
}

}  // namespace vernier
