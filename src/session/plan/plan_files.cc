#include "session/plan/plan_files.h"

#include <array>
#include <filesystem>
#include <system_error>
#include <vector>

#include "model/onnx/companion_files.h"
#include "run/saved/flip_feeds.h"
#include "util/files/paths.h"

namespace vernier {
namespace {

namespace fs = std::filesystem;

// Something that the plan saves.
struct SavedThing {
  std::string path;
  std::string_view flag;
};

bool HoldsBytes(const std::string& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

std::vector<SavedThing> ThingsSaved(const RunPlan& plan) {
  const SavePlan& save = plan.save;
  std::vector<SavedThing> saved = {{save.inputs, "--save-inputs"},
                                   {save.outputs, "--save-outputs"},
                                   {save.input_blobs, "--save-input-blob"},
                                   {save.accuracy, "--save-accuracy-results"},
                                   {save.record, "--save-record"},
                                   {save.rows, "--save-rows"},
                                   {plan.decisions.save_flips, "--save-flips"}};
  if (const std::string& flips = plan.decisions.save_flips; !flips.empty()) {
    saved.push_back({FlipOutputsPath(flips), "--save-flips"});
  }
  for (const ReportFile& report : save.reports) saved.push_back({report.path, "--report"});
  if (plan.blame) saved.push_back({plan.blame->save, "--save-blame"});
  for (const RunnerPlan& runner : plan.runners) {
    saved.push_back({runner.model.save_path, "--save-onnx"});
    for (const auto& [key, value] : runner.session_options) {
      if (key == "save_engine") saved.push_back({value, "--save-engine"});
      if (key == "save_tactics") saved.push_back({value, "--save-tactics"});
    }
  }
  std::erase_if(saved, [](const SavedThing& thing) { return thing.path.empty(); });
  return saved;
}

void AddFilesOfRunner(const RunnerPlan& runner, std::vector<FileRead>& read) {
  const ModelPlan& model = runner.model;
  read.push_back({model.path, "the model"});
  for (std::string& path : CompanionFiles(model.path, model.external_data_dir)) {
    read.push_back({std::move(path), "weights of the model"});
  }
  for (const auto* options : {&runner.session_options, &runner.backend_options}) {
    for (const auto& [key, value] : *options) {
      if (!key.starts_with("save_")) read.push_back({value, "an option of a runner"});
    }
  }
}

std::vector<FileRead> FilesReadBy(const RunPlan& plan) {
  std::vector<FileRead> read;
  for (const RunnerPlan& runner : plan.runners) AddFilesOfRunner(runner, read);
  for (const std::string& path : plan.inputs.load_paths) read.push_back({path, "--load-inputs"});
  for (const std::string& path : plan.load_outputs) read.push_back({path, "--load-outputs"});
  for (const std::string& path : plan.inputs.map_files) read.push_back({path, "names of a map"});
  for (const LabelsPlan& labels : plan.decisions.labels) read.push_back({labels.path, "--labels"});
  read.push_back({plan.decisions.class_names, "--class-names"});
  read.push_back({plan.inputs.like, "--like"});
  read.push_back({plan.steps.initial_state, "--initial-state"});
  read.push_back({plan.inputs.script.path, "--data-loader-script"});
  read.push_back({plan.compare_script.path, "--compare-func-script"});
  read.push_back({plan.postprocess_script.path, "--postprocess-func-script"});
  for (const DecisionPlan& decision : plan.decisions.decisions) {
    read.push_back({decision.script, "--decision"});
  }
  return read;
}

// ValidatePlan() has Polygraphy's words for these three.
bool IsSavedData(const SavedThing& thing) {
  return thing.flag == "--save-inputs" || thing.flag == "--save-outputs" ||
         thing.flag == "--save-input-blob";
}

Status CheckSavedApart(std::span<const SavedThing> saved) {
  for (size_t i = 0; i < saved.size(); ++i) {
    for (const SavedThing& before : saved.first(i)) {
      const SavedThing& thing = saved[i];
      // An option of the command line names one file for all runners; those within --runner are
      // compared by CheckFileConflicts().
      const bool together = before.flag == thing.flag && thing.flag != "--report";
      const bool checked_elsewhere = IsSavedData(thing) && IsSavedData(before);
      if (together || checked_elsewhere || !IsPlaceOfData(thing.path)) continue;
      if (PlaceOfFile(thing.path) != PlaceOfFile(before.path)) continue;
      return WouldBeWrittenTwice(before.flag, thing.flag, thing.path);
    }
  }
  return {};
}

}  // namespace

bool IsPlaceOfData(const std::string& path) {
  std::error_code failed;
  const fs::file_type type = fs::status(path, failed).type();
  return type == fs::file_type::regular || type == fs::file_type::not_found;
}

Status WouldOverwrite(std::string_view flag, const std::string& path, std::string_view reader,
                      std::string_view read_by) {
  return InvalidArgument(std::string(flag) + ": '" + path + "' is read by this " +
                         std::string(reader) +
                         (read_by.empty() ? "" : " (" + std::string(read_by) + ")") +
                         " and would be overwritten: name another file");
}

Status WouldBeWrittenTwice(std::string_view first, std::string_view second,
                           const std::string& path) {
  return InvalidArgument(std::string(first) + " and " + std::string(second) +
                         " would both write '" + path + "': name two files");
}

bool WouldReplaceData(const std::string& written, const std::string& read) {
  if (read.empty() || !HoldsBytes(written)) return false;
  const fs::path place = PlaceOfFile(written), other = PlaceOfFile(read);
  if (place == other) return true;
  std::error_code ignored;
  const fs::path extension = place.extension();
  return (extension == ".json" || extension == ".pb") && fs::is_directory(other, ignored) &&
         LiesWithin(place, other);
}

Status CheckPlanFiles(const RunPlan& plan, std::span<const FileRead> read_besides,
                      const std::string& log_file) {
  std::vector<SavedThing> saved = ThingsSaved(plan);
  if (!log_file.empty()) saved.push_back({log_file, "--log-file"});
  VERNIER_TRY(CheckSavedApart(saved));
  std::vector<FileRead> read;
  for (const SavedThing& thing : saved) {
    if (!HoldsBytes(thing.path)) continue;
    if (read.empty()) {
      read = FilesReadBy(plan);
      read.insert(read.end(), read_besides.begin(), read_besides.end());
    }
    for (const FileRead& file : read) {
      if (!WouldReplaceData(thing.path, file.path)) continue;
      return WouldOverwrite(thing.flag, thing.path, "run", file.flag);
    }
  }
  return {};
}

}  // namespace vernier
