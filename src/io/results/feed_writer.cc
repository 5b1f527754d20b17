#include "io/results/feed_writer.h"

#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "io/archive/archive_names.h"
#include "io/archive/tensor_archive.h"
#include "io/bytes/part_file.h"
#include "io/journal/journal.h"
#include "io/json/json_writer.h"
#include "io/polygraphy/polygraphy_array.h"
#include "io/results/iteration_directory.h"
#include "io/results/results_encoder.h"
#include "util/files/atomic_file.h"

namespace vernier {
namespace {

void WriteFeed(JsonWriter& writer, const TensorMap& feed) {
  writer.BeginObject();
  for (const NamedTensor& input : feed) {
    writer.Key(input.name);
    WritePolygraphyArray(writer, input.tensor, PolygraphyArrayForm::kArray);
  }
  writer.EndObject();
}

// What the journal says about a feed, which is the next iteration of the only runner.
JournalIteration EntryOf(uint64_t feed, uint64_t begin, uint64_t end) {
  return {.runner = 0,
          .iteration = static_cast<size_t>(feed),
          .begin = begin,
          .end = end,
          .layout = std::nullopt,
          .name = std::nullopt,
          .runtime_s = std::nullopt,
          .checksum = std::nullopt,
          .feed = std::nullopt};
}

// Its part is the file but for the end.
class JsonListEncoder final : public FeedWriter::Encoder {
 public:
  JsonListEncoder(std::string path, PartFile part)
      : path_(std::move(path)), part_(std::move(part)) {
    part_.WriteBackEarly();
  }

  Result<std::string> Append(const TensorMap& feed) override {
    const uint64_t before = part_.size();
    Status status = part_.WriteText(written_ == 0 ? "[\n    " : ",\n    ");
    JournalIteration entry = EntryOf(written_, part_.size(), 0);
    part_.BeginChecksum();
    if (status.ok()) {
      JsonWriter writer(part_, 1);
      WriteFeed(writer, feed);
      status = writer.Finish();
    }
    entry.checksum = part_.EndChecksum();
    if (!status.ok()) {
      VERNIER_TRY(part_.Truncate(before));
      return status;
    }
    ++written_;
    entry.end = part_.size();
    return FormatJournalIteration(entry);
  }

  Status Finish() override {
    const uint64_t before = part_.size();
    Status status = part_.WriteText(written_ == 0 ? "[]" : "\n]");
    if (status.ok()) status = Publish();
    if (!status.ok()) VERNIER_TRY(part_.Truncate(before));
    return status;
  }

 private:
  Status Publish() {
    if (CanRenameOver(path_)) return part_.PublishAs(path_);
    VERNIER_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(path_));
    VERNIER_TRY(file.CopyFrom(part_.fd(), 0, part_.size()));
    return file.Commit();
  }

  std::string path_;
  PartFile part_;
  uint64_t written_ = 0;
};

class FeedDirectoryEncoder final : public FeedWriter::Encoder {
 public:
  FeedDirectoryEncoder(std::string path, uint64_t kept) : path_(std::move(path)), kept_(kept) {}

  Result<std::string> Append(const TensorMap& feed) override {
    if (written_ < kept_) {
      ++written_;
      return std::string();
    }
    VERNIER_ASSIGN_OR_RETURN(AtomicFile file,
                             AtomicFile::Create(IterationFilePath(path_, written_)));
    AtomicFileSink sink(file);
    JsonWriter writer(sink);
    WriteFeed(writer, feed);
    VERNIER_TRY(writer.Finish());
    VERNIER_TRY(file.Commit());
    ++written_;
    return std::string();
  }

  Status Finish() override { return {}; }

  void Discard() override {
    std::error_code ignored;
    while (written_ > kept_) std::filesystem::remove(IterationFilePath(path_, --written_), ignored);
    // Only if there is nothing else in it.
    if (kept_ == 0) std::filesystem::remove(path_, ignored);
  }

 private:
  std::string path_;
  uint64_t kept_;
  uint64_t written_ = 0;
};

class FeedArchiveEncoder final : public FeedWriter::Encoder {
 public:
  FeedArchiveEncoder(std::string path, PartFile spool, ArchiveFormat format)
      : path_(std::move(path)), spool_(std::move(spool)), format_(format) {}

  Status Start() {
    VERNIER_ASSIGN_OR_RETURN(tensors_, TensorArchiveWriter::Create(spool_, format_));
    spool_.WriteBackEarly();
    return {};
  }

  Result<std::string> Append(const TensorMap& feed) override {
    const TensorArchiveWriter::Mark before = tensors_->mark();
    JournalIteration entry = EntryOf(written_, spool_.size(), 0);
    if (Status status = AddTensors(feed, entry); !status.ok()) {
      VERNIER_TRY(tensors_->Truncate(before));
      return status;
    }
    entry.end = spool_.size();
    has_empty_ |= feed.empty();
    ++written_;
    std::string lines = DescribeLayout(feed, known_, next_layout_, entry);
    return lines + FormatJournalIteration(entry);
  }

  Status Finish() override {
    WrittenMetadata metadata;
    if (has_empty_ || written_ == 0) metadata.feed_count = written_;
    return tensors_->Publish(path_, nullptr, metadata);
  }

 private:
  Status AddTensors(const TensorMap& feed, JournalIteration& entry) {
    const bool checked = format_ == ArchiveFormat::kSafetensors;
    if (checked) spool_.BeginChecksum();
    for (const NamedTensor& input : feed) {
      const ArchiveName name{.run = "", .iteration = written_, .tensor = input.name};
      VERNIER_TRY(tensors_->Add(FormatArchiveName(name), input.tensor));
    }
    if (checked) entry.checksum = spool_.EndChecksum();
    return {};
  }

  std::string path_;
  PartFile spool_;
  ArchiveFormat format_;
  std::unique_ptr<TensorArchiveWriter> tensors_;
  uint64_t written_ = 0;
  bool has_empty_ = false;
  KnownLayout known_;
  size_t next_layout_ = 0;
};

using EncoderPtr = std::unique_ptr<FeedWriter::Encoder>;

Result<EncoderPtr> MakeEncoder(const std::string& path, ResultsFormat format,
                               const PartialFolder& folder) {
  if (format == ResultsFormat::kJson) {
    VERNIER_ASSIGN_OR_RETURN(PartFile part, folder.CreatePart(JsonPartName(0)));
    return EncoderPtr(std::make_unique<JsonListEncoder>(path, std::move(part)));
  }
  VERNIER_ASSIGN_OR_RETURN(PartFile spool, folder.CreatePart(kArchivePartName));
  const auto archive =
      format == ResultsFormat::kNpz ? ArchiveFormat::kNpz : ArchiveFormat::kSafetensors;
  auto encoder = std::make_unique<FeedArchiveEncoder>(path, std::move(spool), archive);
  VERNIER_TRY(encoder->Start());
  return EncoderPtr(std::move(encoder));
}

}  // namespace

Result<std::unique_ptr<FeedWriter>> FeedWriter::Create(const std::string& path,
                                                       ResultsFormat format, uint64_t kept,
                                                       PartialFolder::Earlier earlier) {
  std::unique_ptr<FeedWriter> writer(new FeedWriter());
  if (format == ResultsFormat::kJsonDirectory) {
    if (kept == 0) VERNIER_TRY(CreateIterationDirectory(path, "inference input data"));
    writer->encoder_ = std::make_unique<FeedDirectoryEncoder>(path, kept);
    return writer;
  }
  // Whether a file can be made there is to be known now, not after the run.
  VERNIER_TRY(AtomicFile::Create(path).status());
  VERNIER_ASSIGN_OR_RETURN(writer->folder_, PartialFolder::Create({.target = path,
                                                                   .format = format,
                                                                   .runner_names = {"inputs"},
                                                                   .inputs = true,
                                                                   .origin = {}},
                                                                  earlier));
  Result<EncoderPtr> encoder = MakeEncoder(path, format, *writer->folder_);
  if (!encoder.ok()) {
    writer->folder_->Remove();
    return encoder.status();
  }
  writer->encoder_ = *std::move(encoder);
  return writer;
}

FeedWriter::~FeedWriter() {
  if (encoder_ != nullptr && folder_ && appended_ == 0) Discard();
}

Status FeedWriter::Append(const TensorMap& feed) {
  VERNIER_TRY(broken_);
  Result<std::string> lines = encoder_->Append(feed);
  broken_ = lines.status();
  if (broken_.ok() && folder_) broken_ = folder_->Record(*lines);
  if (broken_.ok()) ++appended_;
  return broken_;
}

Status FeedWriter::TryToFinish() {
  VERNIER_TRY(encoder_->Finish());
  encoder_ = nullptr;
  if (folder_) folder_->Remove();
  return {};
}

Status FeedWriter::Finish() {
  VERNIER_TRY(broken_);
  Status status = TryToFinish();
  return folder_ ? std::move(status).Annotate("inputs stay in '" + folder_->path() + "'") : status;
}

Status FeedWriter::FinishOrDiscard() {
  Status status = broken_.ok() ? TryToFinish() : broken_;
  if (!status.ok()) Discard();
  return status;
}

void FeedWriter::Discard() {
  encoder_->Discard();
  encoder_ = nullptr;
  if (folder_) folder_->Remove();
}

std::string FeedWriter::partial_path() const {
  return folder_ && encoder_ != nullptr && appended_ > 0 ? folder_->path() : std::string();
}

}  // namespace vernier
