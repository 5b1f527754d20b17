#include "blame/search/resume_file.h"

#include <filesystem>
#include <set>

#include "io/bytes/checksum.h"
#include "util/files/atomic_file.h"
#include "util/files/mapped_file.h"

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

// The files beside a model that hold its weights.
std::string StampOfWeights(const ModelPlan& plan, const OnnxModel& model) {
  const fs::path folder = plan.external_data_dir.empty() ? fs::path(plan.path).parent_path()
                                                         : fs::path(plan.external_data_dir);
  std::set<std::string_view> files;
  for (const OnnxTensor& tensor : model.external_tensors()) files.insert(tensor.location);
  std::string text;
  for (const std::string_view file : files) text += " " + StampOf((folder / file).string());
  return text;
}

std::string StampOf(const RunnerPlan& runner, const OnnxModel* model) {
  std::string text = runner.backend + " " + StampOf(runner.model.path);
  if (model != nullptr) text += StampOfWeights(runner.model, *model);
  for (const auto* options : {&runner.backend_options, &runner.session_options}) {
    for (const auto& [key, value] : *options) {
      // A file of this command alone.
      if (key != "command_timings") text += " " + key + "=" + value;
    }
  }
  const ModelPlan& plan = runner.model;
  for (const auto* names : {&plan.outputs, &plan.exclude_outputs, &plan.outputs_by_type}) {
    text += " [";
    for (const std::string& name : *names) text += " " + name;
    text += " ]";
  }
  return text + (plan.fp_to_fp16 ? " fp16" : "");
}

// Nothing without words, as in files of commands that had none.
std::string StampOfWords(const std::string& name, const std::vector<std::string>& words) {
  if (words.empty()) return "";
  std::string text = name;
  for (const std::string& word : words) text += " [" + word + "]";
  return text;
}

std::string NoIteration(int64_t iteration, size_t feeds) {
  return "refers to iteration " + std::to_string(iteration) + ", but the run has " +
         std::to_string(feeds);
}

}  // namespace

std::string ResumeKey(const SearchSubject& subject, std::span<const RunnerRecord> runners) {
  const RunPlan& run = subject.plan.run;
  const Sides& places = subject.sides.places;
  std::string key = "candidate " + StampOf(run.runners[places.candidate], &subject.graph().model());
  key += "; reference ";
  if (places.reference) {
    key += StampOf(run.runners[*places.reference], subject.models.reference.get());
  }
  for (const std::string& path : run.load_outputs) key += StampOf(path);
  key += "; frameworks";
  for (const RunnerRecord& runner : runners) {
    key += " " + runner.framework_version + " " + runner.device;
  }
  key += "; inputs";
  for (const TensorMap& feed : subject.unprobed.feeds) key += " " + ChecksumText(HashFeed(feed));
  key += StampOfWords("; output maps", run.output_map_words);
  return key + StampOfWords("; input maps", run.inputs.map_words);
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
    return Malformed("--resume: '" + path +
                     "' was not saved by an interrupted search: name another file (" +
                     record.status().message() + ")");
  }
  if (record->resume_key != key) {
    return Malformed(
        "--resume: '" + path +
        "' is from another command: its models, runners, their versions, inputs or maps "
        "of names differ. Name another file, or remove it to start over");
  }
  const std::optional<int64_t> shown_at = record->disturbance.shown_at;
  if (shown_at && (*shown_at < 0 || static_cast<uint64_t>(*shown_at) >= feeds)) {
    return Malformed("--resume: '" + path + "' is damaged: it " + NoIteration(*shown_at, feeds) +
                     ". Remove the file to start over");
  }
  // Layers are found by their first outputs, and their inputs by the iteration.
  for (const BlameLayerRecord& layer : record->layers) {
    const bool fed = layer.iteration >= 0 && static_cast<uint64_t>(layer.iteration) < feeds;
    if (!layer.outputs.empty() && fed) continue;
    return Malformed("--resume: '" + path + "' is damaged: layer '" + layer.node + "' " +
                     (fed ? "has no outputs" : NoIteration(layer.iteration, feeds)) +
                     ". Remove the file to start over");
  }
  return std::optional<BlameRecord>(*std::move(record));
}

Status SaveResumeFile(const std::string& path, const BlameRecord& record) {
  return WriteFileAtomically(path, ToJson(record));
}

}  // namespace vernier
