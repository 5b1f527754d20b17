#include "blame/resume_file.h"

#include <filesystem>

#include "util/atomic_file.h"
#include "util/mapped_file.h"

namespace vernier {
namespace {

namespace fs = std::filesystem;

std::string StampOf(const std::string& path) {
  std::error_code error;
  const auto size = fs::file_size(path, error);
  if (error) return path;
  const auto time = fs::last_write_time(path, error).time_since_epoch().count();
  return path + ":" + std::to_string(size) + ":" + std::to_string(time);
}

std::string StampOf(const RunnerPlan& runner) {
  std::string text = runner.backend + " " + StampOf(runner.model.path);
  for (const auto* options : {&runner.backend_options, &runner.session_options}) {
    for (const auto& [key, value] : *options) text += " " + key + "=" + value;
  }
  return text;
}

}  // namespace

std::string ResumeKey(const BlamePlan& plan, const Sides& sides) {
  std::string key = "candidate " + StampOf(plan.run.runners[sides.candidate]);
  key += "; reference ";
  if (sides.reference) key += StampOf(plan.run.runners[*sides.reference]);
  for (const std::string& path : plan.run.load_outputs) key += StampOf(path);
  key += "; inputs";
  for (const std::string& path : plan.run.inputs.load_paths) key += " " + StampOf(path);
  for (const std::string& word : plan.run.inputs.shape_words) key += " " + word;
  for (const std::string& word : plan.run.inputs.range_words) key += " " + word;
  key += " seed " + std::to_string(plan.run.inputs.seed) + " x " +
         std::to_string(plan.run.inputs.iterations.value_or(1));
  return key;
}

Result<std::optional<BlameRecord>> LoadResumeFile(const std::string& path, const std::string& key,
                                                  size_t feeds) {
  std::error_code error;
  if (!fs::exists(path, error)) return std::optional<BlameRecord>();
  VERNIER_ASSIGN_OR_RETURN(const std::shared_ptr<const MappedFile> file, MappedFile::Open(path));
  const std::span<const std::byte> bytes = file->bytes();
  Result<BlameRecord> record =
      BlameFromJson({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  if (!record.ok()) {
    return Malformed("--resume: '" + path + "' cannot be read: " + record.status().message());
  }
  if (record->resume_key != key) {
    return Malformed("--resume: '" + path +
                     "' is from another command: its models, runners or inputs differ. Name "
                     "another file, or remove it to start over");
  }
  // Layers are found by their first outputs, and their inputs by the iteration.
  for (const BlameLayerRecord& layer : record->layers) {
    const bool whole = !layer.outputs.empty() && layer.iteration >= 0 &&
                       static_cast<uint64_t>(layer.iteration) < feeds;
    if (whole) continue;
    return Malformed("--resume: '" + path + "' is damaged: layer '" + layer.node +
                     "' has no outputs, or names an iteration that there is not. Remove the file "
                     "to start over");
  }
  return std::optional<BlameRecord>(*std::move(record));
}

Status SaveResumeFile(const std::string& path, const BlameRecord& record) {
  return WriteFileAtomically(path, ToJson(record));
}

}  // namespace vernier
