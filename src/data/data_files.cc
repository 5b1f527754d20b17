#include "data/data_files.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "record/schema/side_names.h"
#include "run/feeds/shard_names.h"
#include "util/files/paths.h"
#include "util/text/number_text.h"

namespace vernier {
namespace {

namespace fs = std::filesystem;

}  // namespace

Status CheckNotRead(const std::string& output, std::span<const std::string> paths) {
  std::error_code error;
  const fs::path target = fs::weakly_canonical(output, error);
  for (const std::string& path : paths) {
    const fs::path source = fs::weakly_canonical(path, error);
    if (!LiesWithin(target, source) && !LiesWithin(source, target)) continue;
    return InvalidArgument("-o: '" + output + "' is read too ('" + path +
                           "'): name another file to write");
  }
  return {};
}

Status CheckExtension(const std::string& path, std::initializer_list<std::string_view> known) {
  const std::string extension = ToLower(fs::path(path).extension().string());
  if (extension.empty() || std::ranges::find(known, extension) != known.end()) return {};
  const std::vector<std::string> names(known.begin(), known.end());
  return InvalidArgument("-o: '" + path + "' has no extension of a format that can be written: " +
                         "expected " + JoinWords(names, " or "));
}

ResultsFormat SingleFileFormat(const std::string& path) {
  const ResultsFormat format = ResultsFormatFor(path);
  return format == ResultsFormat::kJsonDirectory ? ResultsFormat::kJson : format;
}

Result<std::vector<DataSource>> OpenDataSources(std::span<const std::string> paths) {
  VERNIER_TRY(CheckFoldersOfShards(paths));
  std::vector<DataSource> sources;
  for (const std::string& path : paths) {
    VERNIER_ASSIGN_OR_RETURN(SavedTensors tensors, OpenSavedTensors(path, SavedKind::kInputs));
    sources.push_back({path, std::move(tensors)});
  }
  return sources;
}

Status PublishOrDiscard(const Status& appended, FeedWriter& writer) {
  if (appended.ok()) return writer.FinishOrDiscard();
  writer.Discard();
  return appended;
}

Status PublishOrDiscard(const Status& appended, size_t max_iterations, ResultsWriter& writer) {
  if (appended.ok()) return writer.PublishOrDiscard(max_iterations);
  writer.Discard();
  return appended;
}

bool KeepsOrigin(ResultsFormat format) {
  return format == ResultsFormat::kNpz || format == ResultsFormat::kSafetensors;
}

bool NoteLostOrigin(const ResultsReader& source, std::span<const size_t> runs, bool keeps,
                    const std::string& output, Logger& log) {
  if (keeps) return false;
  bool steps = false, feeds = false;
  for (const size_t run : runs) {
    steps |= !source.runs()[run].steps.empty();
    feeds |= source.runs()[run].iterations > 0 && source.FeedOf(run, 0).has_value();
  }
  if (!steps && !feeds) return false;
  log.Warning(
      "'" + output + "' does not say any more " +
      (steps ? "how its steps were fed, and from what inputs" : "from what inputs it was made") +
      ", so comparisons do not notice outputs of others: .npz and .safetensors keep it");
  return true;
}

std::string RunnerNameOf(const SavedRun& run) {
  return run.name.empty() ? "custom_runner" : run.name;
}

std::vector<std::string> ShortRunnerNames(const std::vector<SavedRun>& runs) {
  std::vector<std::string> names;
  for (const SavedRun& run : runs) names.push_back(RunnerNameOf(run));
  return ShortNames(names);
}

std::string FormatTensorNames(const TensorMap& tensors) {
  std::vector<std::string> names;
  for (const NamedTensor& tensor : tensors) names.push_back(tensor.name);
  return FormatPythonList(names);
}

}  // namespace vernier
