#include "io/results/results_writer.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "io/bytes/directory_listing.h"
#include "io/journal/journal.h"
#include "io/results/partial_places.h"
#include "io/results/results_encoder.h"

namespace vernier {
namespace {

Result<std::unique_ptr<ResultsEncoder>> MakeEncoder(ResultsFormat format, EncoderTarget target) {
  switch (format) {
    case ResultsFormat::kJsonDirectory:
      return MakeJsonDirectoryEncoder(std::move(target));
    case ResultsFormat::kNpz:
      return MakeArchiveEncoder(std::move(target), ArchiveFormat::kNpz);
    case ResultsFormat::kSafetensors:
      return MakeArchiveEncoder(std::move(target), ArchiveFormat::kSafetensors);
    case ResultsFormat::kJson:
      break;
  }
  return MakeJsonFileEncoder(std::move(target));
}

}  // namespace

ResultsWriter::ResultsWriter(std::string path, std::vector<std::string> runner_names,
                             PartialFolder folder)
    : path_(std::move(path)),
      runner_names_(std::move(runner_names)),
      finished_(runner_names_.size(), 0),
      folder_(std::move(folder)) {}

Result<std::unique_ptr<ResultsWriter>> ResultsWriter::Create(std::string path,
                                                             std::vector<std::string> runner_names,
                                                             PartialOrigin origin) {
  const ResultsFormat format = ResultsFormatFor(path);
  return Create(std::move(path), std::move(runner_names), format, PartialFolder::Earlier::kRenamed,
                origin);
}

Result<std::unique_ptr<ResultsWriter>> ResultsWriter::CreateBeside(
    std::string path, std::vector<std::string> runner_names, PartialOrigin origin) {
  const ResultsFormat format = ResultsFormatFor(path);
  const bool folder = format == ResultsFormat::kJsonDirectory;
  VERNIER_ASSIGN_OR_RETURN(
      auto writer, Create(folder ? FreePlace(path + kResumedSuffix) : path, std::move(runner_names),
                          format, PartialFolder::Earlier::kUntouched, origin));
  if (folder) writer->replaced_ = std::move(path);
  return writer;
}

Result<std::unique_ptr<ResultsWriter>> ResultsWriter::Create(std::string path,
                                                             std::vector<std::string> runner_names,
                                                             ResultsFormat format,
                                                             PartialFolder::Earlier earlier,
                                                             PartialOrigin origin) {
  if (format != ResultsFormat::kJsonDirectory && IsDirectory(path)) {
    return IoError("'" + path + "' is a directory");
  }
  VERNIER_ASSIGN_OR_RETURN(PartialFolder folder,
                           PartialFolder::Create({.target = path,
                                                  .format = format,
                                                  .runner_names = runner_names,
                                                  .inputs = false,
                                                  .origin = origin},
                                                 earlier));
  std::unique_ptr<ResultsWriter> writer(
      new ResultsWriter(std::move(path), std::move(runner_names), std::move(folder)));
  VERNIER_ASSIGN_OR_RETURN(writer->encoder_,
                           MakeEncoder(format, {.path = writer->path_,
                                                .runner_names = writer->runner_names_,
                                                .folder = &writer->folder_}));
  return writer;
}

ResultsWriter::~ResultsWriter() {
  const bool empty =
      std::all_of(finished_.begin(), finished_.end(), [](size_t n) { return n == 0; });
  if (empty && !published_) Discard();
}

size_t ResultsWriter::CommonIterations() const {
  return finished_.empty() ? 0 : *std::min_element(finished_.begin(), finished_.end());
}

Status ResultsWriter::Append(size_t runner, const IterationResult& result,
                             std::optional<uint64_t> feed) {
  if (runner >= finished_.size()) {
    return InvalidArgument("there is no runner " + std::to_string(runner) + " to save outputs of");
  }
  // A gap in a runner's iterations would shift all later ones.
  if (broken_.ok()) broken_ = AppendToPart(runner, result, feed);
  if (broken_.ok()) ++finished_[runner];
  return broken_;
}

Status ResultsWriter::NoteSteps(size_t runner, const std::string& text) {
  if (text.empty()) return {};
  encoder_->NoteSteps(runner, text);
  return folder_.Record(
      FormatJournalSource({std::string(kStepsSource), std::to_string(runner), text}));
}

Status ResultsWriter::AppendToPart(size_t runner, const IterationResult& result,
                                   std::optional<uint64_t> feed) {
  VERNIER_ASSIGN_OR_RETURN(const std::string lines, encoder_->Append(runner, result, feed));
  VERNIER_TRY(folder_.Record(lines));
  return encoder_->Recorded();
}

Status ResultsWriter::TryToPublish(size_t max_iterations) {
  std::vector<size_t> counts;
  for (const size_t n : finished_) counts.push_back(std::min(n, max_iterations));
  VERNIER_TRY(encoder_->Publish(counts));
  if (!replaced_.empty()) VERNIER_TRY(ReplaceIterations(path_, replaced_));
  published_ = true;
  encoder_ = nullptr;
  folder_.Remove();
  return {};
}

Status ResultsWriter::Publish(size_t max_iterations) {
  return TryToPublish(max_iterations).Annotate("outputs stay in '" + folder_.path() + "'");
}

Status ResultsWriter::PublishOrDiscard(size_t max_iterations) {
  Status status = TryToPublish(max_iterations);
  if (!status.ok()) Discard();
  return status;
}

void ResultsWriter::Discard() {
  encoder_ = nullptr;
  folder_.Remove();
  std::error_code ignored;
  // It was made here, under a name that was free.
  if (!replaced_.empty()) std::filesystem::remove_all(path_, ignored);
  published_ = true;
}

}  // namespace vernier
