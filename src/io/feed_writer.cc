#include "io/feed_writer.h"

#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "io/archive_names.h"
#include "io/iteration_directory.h"
#include "io/json_writer.h"
#include "io/part_file.h"
#include "io/peer_array.h"
#include "io/tensor_archive.h"
#include "util/atomic_file.h"

namespace vernier {
namespace {

void WriteFeed(JsonWriter& writer, const TensorMap& feed) {
  writer.BeginObject();
  for (const NamedTensor& input : feed) {
    writer.Key(input.name);
    WritePeerArray(writer, input.tensor, PeerArrayForm::kArray);
  }
  writer.EndObject();
}

class JsonListEncoder final : public FeedWriter::Encoder {
 public:
  explicit JsonListEncoder(AtomicFile file) : file_(std::move(file)), sink_(file_), writer_(sink_) {
    writer_.BeginArray();
  }

  Status Append(const TensorMap& feed) override {
    WriteFeed(writer_, feed);
    return writer_.Finish();
  }

  Status Finish() override {
    writer_.EndArray();
    VERNIER_TRY(writer_.Finish());
    return file_.Commit();
  }

 private:
  AtomicFile file_;
  AtomicFileSink sink_;
  JsonWriter writer_;
};

class JsonDirectoryEncoder final : public FeedWriter::Encoder {
 public:
  JsonDirectoryEncoder(std::string path, uint64_t kept) : path_(std::move(path)), kept_(kept) {}

  Status Append(const TensorMap& feed) override {
    if (written_ < kept_) {
      ++written_;
      return {};
    }
    VERNIER_ASSIGN_OR_RETURN(AtomicFile file,
                             AtomicFile::Create(IterationFilePath(path_, written_)));
    AtomicFileSink sink(file);
    JsonWriter writer(sink);
    WriteFeed(writer, feed);
    VERNIER_TRY(writer.Finish());
    VERNIER_TRY(file.Commit());
    ++written_;
    return {};
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

class ArchiveEncoder final : public FeedWriter::Encoder {
 public:
  ArchiveEncoder(AtomicFile file, PartFile spool)
      : file_(std::move(file)), spool_(std::move(spool)) {}

  Status Start(ArchiveFormat format) {
    VERNIER_ASSIGN_OR_RETURN(tensors_, TensorArchiveWriter::Create(spool_, format));
    return {};
  }

  Status Append(const TensorMap& feed) override {
    for (const NamedTensor& input : feed) {
      const ArchiveName name{.run = "", .iteration = written_, .tensor = input.name};
      VERNIER_TRY(tensors_->Add(FormatArchiveName(name), input.tensor));
    }
    has_empty_ |= feed.empty();
    ++written_;
    return {};
  }

  Status Finish() override {
    WrittenMetadata metadata;
    if (has_empty_ || written_ == 0) metadata.feed_count = written_;
    VERNIER_TRY(tensors_->WriteTo(file_, nullptr, metadata));
    return file_.Commit();
  }

 private:
  AtomicFile file_;
  PartFile spool_;
  std::unique_ptr<TensorArchiveWriter> tensors_;
  uint64_t written_ = 0;
  bool has_empty_ = false;
};

Result<std::unique_ptr<FeedWriter::Encoder>> MakeEncoder(const std::string& path,
                                                         ResultsFormat format, uint64_t kept) {
  using EncoderPtr = std::unique_ptr<FeedWriter::Encoder>;
  if (format == ResultsFormat::kJsonDirectory) {
    if (kept == 0) VERNIER_TRY(CreateIterationDirectory(path, "inference input data"));
    return EncoderPtr(std::make_unique<JsonDirectoryEncoder>(path, kept));
  }
  VERNIER_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(path));
  if (format == ResultsFormat::kJson) {
    return EncoderPtr(std::make_unique<JsonListEncoder>(std::move(file)));
  }
  const std::filesystem::path parent = std::filesystem::path(path).parent_path();
  VERNIER_ASSIGN_OR_RETURN(PartFile spool,
                           PartFile::CreateUnnamed(parent.empty() ? "." : parent.string()));
  const auto archive =
      format == ResultsFormat::kNpz ? ArchiveFormat::kNpz : ArchiveFormat::kSafetensors;
  auto encoder = std::make_unique<ArchiveEncoder>(std::move(file), std::move(spool));
  VERNIER_TRY(encoder->Start(archive));
  return EncoderPtr(std::move(encoder));
}

}  // namespace

Result<std::unique_ptr<FeedWriter>> FeedWriter::Create(const std::string& path,
                                                       ResultsFormat format, uint64_t kept) {
  VERNIER_ASSIGN_OR_RETURN(auto encoder, MakeEncoder(path, format, kept));
  return std::unique_ptr<FeedWriter>(new FeedWriter(std::move(encoder)));
}

Status FeedWriter::Append(const TensorMap& feed) {
  if (broken_.ok()) broken_ = encoder_->Append(feed);
  return broken_;
}

Status FeedWriter::Finish() {
  VERNIER_TRY(broken_);
  return encoder_->Finish();
}

}  // namespace vernier
