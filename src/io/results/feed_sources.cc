#include "io/results/feed_sources.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <iterator>
#include <optional>
#include <utility>

#include "io/archive/archive_index.h"
#include "io/archive/npy.h"
#include "io/bytes/directory_listing.h"
#include "io/bytes/raw_tensor.h"
#include "io/polygraphy/polygraphy_document.h"
#include "io/polygraphy/polygraphy_type.h"
#include "io/results/file_kind.h"
#include "io/test_data/nested_proto.h"
#include "util/files/input_file.h"

namespace vernier {
namespace {

using JsonKind = JsonValue::Kind;
using FeedSource = std::unique_ptr<FeedReader::Source>;

constexpr std::string_view kMergeHint =
    "\nHint: This is a `RunResults` object (e.g. generated with `--save-outputs`). Use the "
    "`data merge` tool to convert it to a feed_dict-compatible format.";

Status NotAFeed(const std::string& path, const std::string& what, std::string_view hint) {
  return Malformed("'" + path + "': " + what + " cannot be recognized as a feed_dict" +
                   std::string(hint));
}

class JsonFeeds final : public FeedReader::Source {
 public:
  explicit JsonFeeds(std::unique_ptr<PolygraphyDocument> document)
      : document_(std::move(document)) {}

  Status Index() {
    const JsonValue root = document_->root();
    const std::vector<JsonValue> elements =
        root.is(JsonKind::kArray) ? root.Elements() : std::vector<JsonValue>{root};
    for (const JsonValue element : elements) VERNIER_TRY(Add(element));
    return {};
  }

  size_t size() const override { return feeds_.size(); }
  Result<TensorMap> Read(size_t index) override { return document_->DecodeTensors(feeds_[index]); }

 private:
  Status Add(JsonValue value);

  std::unique_ptr<PolygraphyDocument> document_;
  std::vector<JsonValue> feeds_;
};

// Of JSON that Polygraphy's tools did not write: what is wanted instead.
constexpr std::string_view kFeedHint =
    ": a file of inputs is a list of objects, one for each iteration, with an array for each "
    "input's name";

Status JsonFeeds::Add(JsonValue value) {
  const Result<std::string> type = PolygraphyTypeOf(value);
  if (!type.ok()) return document_->Annotate(type.status());
  const std::string what =
      value.is(JsonKind::kObject) ? DescribeDecoded(value) : std::string(value.KindName());
  const std::string found = "byte " + std::to_string(value.offset()) + ": " + what;
  if (*type == "RunResults") return NotAFeed(document_->path(), found, kMergeHint);
  // Polygraphy takes one saved iteration, which is a map of names to arrays, for a feed.
  std::optional<JsonValue> feed = value;
  if (*type == "IterationResult") feed = value.Find("outputs");
  const bool other_type = !type->empty() && *type != "IterationResult";
  if (!feed || !feed->is(JsonKind::kObject) || other_type)
    return NotAFeed(document_->path(), found, kFeedHint);
  feeds_.push_back(*feed);
  return {};
}

class ArchiveFeeds final : public FeedReader::Source {
 public:
  ArchiveFeeds(std::unique_ptr<TensorArchive> archive, ArchiveIndex::Run run)
      : archive_(std::move(archive)), run_(std::move(run)) {}
  size_t size() const override { return run_.size(); }
  Result<TensorMap> Read(size_t index) override { return ReadIteration(*archive_, run_, index); }

 private:
  std::unique_ptr<TensorArchive> archive_;
  ArchiveIndex::Run run_;
};

// Small files that are read when they are asked for.
class OneFeed final : public FeedReader::Source {
 public:
  using Loader = Result<TensorMap> (*)(const std::string& path);
  OneFeed(std::vector<std::string> paths, Loader load, bool positional = false)
      : paths_(std::move(paths)), load_(load), positional_(positional) {}
  size_t size() const override { return 1; }
  bool positional() const override { return positional_; }
  Result<TensorMap> Read(size_t) override {
    TensorMap feed;
    for (const std::string& path : paths_) {
      Result<TensorMap> tensors = load_(path);
      if (!tensors.ok()) return std::move(tensors).Annotate("'" + path + "'").status();
      std::ranges::move(*tensors, std::back_inserter(feed));
    }
    return feed;
  }

 private:
  std::vector<std::string> paths_;
  Loader load_;
  bool positional_;
};

std::string StemOf(const std::string& path) { return std::filesystem::path(path).stem().string(); }

Result<TensorMap> LoadNpy(const std::string& path) {
  VERNIER_ASSIGN_OR_RETURN(const auto file, InputFile::Open(path));
  FileSource source(file, 0, file->size());
  VERNIER_ASSIGN_OR_RETURN(Tensor tensor, ReadNpy(source, nullptr));
  return TensorMap{{StemOf(path), std::move(tensor)}};
}

Result<TensorMap> LoadProtobuf(const std::string& path) {
  VERNIER_ASSIGN_OR_RETURN(const auto file, InputFile::Open(path));
  FileSource source(file, 0, file->size());
  VERNIER_ASSIGN_OR_RETURN(const Tensor bytes, ReadRawTensor(source, nullptr, DType::kUint8,
                                                             {static_cast<int64_t>(file->size())}));
  return ParseTestData(bytes.bytes(), StemOf(path));
}

// The n of `input_<n>.pb`.
std::optional<uint64_t> TestDataNumber(std::string_view name, TestDataPart part) {
  const std::string_view prefix = part == TestDataPart::kInputs ? "input_" : "output_";
  constexpr std::string_view kSuffix = ".pb";
  if (!name.starts_with(prefix) || !name.ends_with(kSuffix)) return std::nullopt;
  name = name.substr(prefix.size());
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  const bool whole = error == std::errc() && std::string_view(end, kSuffix.size()) == kSuffix &&
                     end + kSuffix.size() == name.data() + name.size();
  return whole ? std::optional(number) : std::nullopt;
}

Result<std::vector<std::string>> ListTestData(const std::string& directory, TestDataPart part) {
  return ListDirectory(
      directory, [part](std::string_view name) { return TestDataNumber(name, part).has_value(); });
}

}  // namespace

Result<FeedSource> OpenJsonFeeds(const std::string& path) {
  VERNIER_ASSIGN_OR_RETURN(auto document, PolygraphyDocument::Open(path));
  auto feeds = std::make_unique<JsonFeeds>(std::move(document));
  VERNIER_TRY(feeds->Index());
  return FeedSource(std::move(feeds));
}

Result<FeedSource> OpenArchiveFeeds(const std::string& path, ArchiveFormat format) {
  VERNIER_ASSIGN_OR_RETURN(auto archive, TensorArchive::Open(path, format));
  VERNIER_ASSIGN_OR_RETURN(ArchiveIndex index, IndexArchive(*archive));
  if (index.is_results) return NotAFeed(path, "a file of saved outputs", kMergeHint);
  return FeedSource(
      std::make_unique<ArchiveFeeds>(std::move(archive), std::move(index.runs.front())));
}

Result<FeedSource> OpenNpyFeed(const std::string& path) {
  return FeedSource(std::make_unique<OneFeed>(std::vector{path}, LoadNpy));
}

Result<FeedSource> OpenProtobufFeed(const std::string& path) {
  return FeedSource(std::make_unique<OneFeed>(std::vector{path}, LoadProtobuf));
}

Result<FeedSource> OpenOnnxTestData(const std::string& directory, TestDataPart part) {
  VERNIER_ASSIGN_OR_RETURN(std::vector<std::string> files, ListTestData(directory, part));
  // Ten and more inputs: input_10 comes after input_9.
  std::stable_sort(files.begin(), files.end(), [&](const std::string& a, const std::string& b) {
    const auto number = [&](const std::string& path) {
      return TestDataNumber(std::filesystem::path(path).filename().string(), part).value_or(0);
    };
    return number(a) < number(b);
  });
  return FeedSource(std::make_unique<OneFeed>(std::move(files), LoadProtobuf, true));
}

bool HoldsTestData(const std::string& directory, TestDataPart part) {
  const auto files = ListTestData(directory, part);
  return files.ok() && !files->empty();
}

bool IsTestData(std::string_view name) {
  return TestDataNumber(name, TestDataPart::kInputs) ||
         TestDataNumber(name, TestDataPart::kOutputs);
}

Result<std::vector<std::string>> ListTestDataSets(const std::string& directory) {
  VERNIER_ASSIGN_OR_RETURN(const std::vector<DirectoryEntry> entries, ReadDirectory(directory));
  return TestDataSetsIn(directory, entries);
}

std::vector<std::string> TestDataSetsIn(const std::string& directory,
                                        const std::vector<DirectoryEntry>& entries) {
  std::vector<std::string> sets = PathsIn(
      directory, entries, [](std::string_view name) { return name.starts_with("test_data_set_"); });
  // test_data_set_2 comes before test_data_set_10: shorter names first.
  std::stable_sort(sets.begin(), sets.end(),
                   [](const std::string& a, const std::string& b) { return a.size() < b.size(); });
  return sets;
}

Result<FeedSource> OpenFeedFile(const std::string& path) {
  if (IsDirectory(path)) {
    const bool known =
        HoldsTestData(path, TestDataPart::kInputs) || HoldsTestData(path, TestDataPart::kOutputs);
    if (known) return OpenOnnxTestData(path, TestDataPart::kInputs);
    return Malformed("'" + path + "' is a folder without ONNX test data (input_0.pb), and stands " +
                     "among files of inputs: move it away");
  }
  VERNIER_ASSIGN_OR_RETURN(const FileKind kind, DetectFileKind(path));
  switch (kind) {
    case FileKind::kNpz:
      return OpenArchiveFeeds(path, ArchiveFormat::kNpz);
    case FileKind::kSafetensors:
      return OpenArchiveFeeds(path, ArchiveFormat::kSafetensors);
    case FileKind::kNpy:
      return OpenNpyFeed(path);
    case FileKind::kProtobuf:
      return OpenProtobufFeed(path);
    case FileKind::kJson:
      break;
  }
  return OpenJsonFeeds(path);
}

}  // namespace vernier
