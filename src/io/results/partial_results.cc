#include "io/results/partial_results.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <span>
#include <system_error>
#include <utility>
#include <vector>

#include "io/archive/local_member.h"
#include "io/archive/npy.h"
#include "io/archive/zip_content.h"
#include "io/bytes/checksum.h"
#include "io/bytes/raw_tensor.h"
#include "io/journal/journal.h"
#include "io/polygraphy/polygraphy_document.h"
#include "io/results/iteration_directory.h"
#include "io/results/partial_folder.h"
#include "io/results/partial_places.h"
#include "io/results/results_encoder.h"
#include "io/results/results_json.h"
#include "io/results/unnamed_iterations.h"
#include "util/text/number_text.h"

namespace vernier {
namespace {

using JsonKind = JsonValue::Kind;
using FilePtr = std::shared_ptr<const InputFile>;

Result<std::string> ReadFile(const std::string& path) {
  VERNIER_ASSIGN_OR_RETURN(const FilePtr file, InputFile::Open(path));
  constexpr uint64_t kMost = uint64_t{1} << 30;
  if (file->size() > kMost) return Malformed("'" + path + "' has more than 1 GiB");
  std::string text(static_cast<size_t>(file->size()), '\0');
  VERNIER_TRY(file->ReadAt(0, std::as_writable_bytes(std::span(text.data(), text.size()))));
  return text;
}

// Safetensors: the tensors' bytes, one behind the other.
Result<TensorMap> ReadRaw(const FilePtr& file, const JournalIteration& entry,
                          const JournalLayout& layout, TensorPool& pool) {
  TensorMap tensors;
  Checksum checksum;
  uint64_t position = entry.begin;
  for (const JournalTensor& known : layout) {
    if (known.bytes > entry.end - position) return Malformed("the journal's sizes do not fit");
    FileSource source(file, position, known.bytes);
    VERNIER_ASSIGN_OR_RETURN(Tensor tensor, ReadRawTensor(source, &pool, known.dtype, known.dims));
    checksum.Add(tensor.bytes());
    tensors.push_back({known.name, std::move(tensor)});
    position += known.bytes;
  }
  if (entry.checksum != checksum.value()) return Malformed("its checksum differs");
  return tensors;
}

Result<TensorMap> ReadMembers(const FilePtr& file, const JournalIteration& entry,
                              const JournalLayout& layout, TensorPool& pool) {
  TensorMap tensors;
  uint64_t position = entry.begin;
  for (const JournalTensor& known : layout) {
    VERNIER_ASSIGN_OR_RETURN(const ZipMember member, ReadLocalMember(*file, position, entry.end));
    VERNIER_ASSIGN_OR_RETURN(
        const auto content,
        OpenZipContent(member,
                       std::make_unique<FileSource>(file, member.data_offset, member.packed_size)));
    VERNIER_ASSIGN_OR_RETURN(Tensor tensor, ReadNpy(*content, &pool, known.dtype));
    VERNIER_TRY(content->Finish());
    tensors.push_back({known.name, std::move(tensor)});
    position = member.data_offset + member.size;
  }
  return tensors;
}

// Whether the text of an iteration is what was written. Older versions kept no checksum of it.
Status CheckText(const InputFile& file, const JournalIteration& entry) {
  if (!entry.checksum) return {};
  constexpr uint64_t kStep = uint64_t{256} << 10;
  std::vector<std::byte> block(static_cast<size_t>(std::min(entry.end - entry.begin, kStep)));
  Checksum checksum;
  for (uint64_t position = entry.begin; position < entry.end; position += kStep) {
    const std::span<std::byte> piece = std::span(block).first(
        static_cast<size_t>(std::min<uint64_t>(block.size(), entry.end - position)));
    VERNIER_TRY(file.ReadAt(position, piece));
    checksum.Add(piece);
  }
  return *entry.checksum == checksum.value() ? Status() : Malformed("its checksum differs");
}

class PartialResults final : public ResultsReader::Source {
 public:
  /// A part that is missing is null. `beyond`: PartBeyondJournal().
  PartialResults(std::string folder, PartialManifest manifest, Journal journal,
                 std::vector<FilePtr> parts, std::string beyond)
      : folder_(std::move(folder)),
        manifest_(std::move(manifest)),
        journal_(std::move(journal)),
        parts_(std::move(parts)),
        beyond_(std::move(beyond)) {
    for (size_t i = 0; i < journal_.runs.size(); ++i) {
      runs_.push_back({manifest_.runner_names[i], journal_.runs[i].size()});
    }
    for (const JournalSource& source : journal_.sources) {
      const std::optional<int64_t> run = ParseInt(source.name);
      const bool known = source.kind == kStepsSource && run && *run >= 0;
      if (known && *run < std::ssize(runs_)) runs_[static_cast<size_t>(*run)].steps = source.value;
    }
  }

  const std::vector<SavedRun>& runs() const override { return runs_; }

  Result<IterationResult> Read(size_t run, size_t iteration) override {
    return ReadIteration(run, iteration)
        .Annotate("'" + PartPath(run) + "': iteration " + std::to_string(iteration) +
                  " of runner '" + manifest_.runner_names[run] + "'");
  }

  std::optional<uint64_t> FeedOf(size_t run, size_t iteration) const override {
    const std::optional<JournalIteration>& entry = journal_.runs[run][iteration];
    return entry ? entry->feed : std::nullopt;
  }

  std::string Damage() const override {
    std::string damage = DescribeDamage(journal_);
    if (damage.empty() && !beyond_.empty()) {
      damage = "ends too early: '" + beyond_ + "' continues with iterations that it does not name";
    }
    return damage.empty() ? "" : "'" + folder_ + "/" + kJournalName + "' " + damage;
  }

 private:
  bool IsArchive() const {
    return manifest_.format == ResultsFormat::kNpz ||
           manifest_.format == ResultsFormat::kSafetensors;
  }
  const FilePtr& PartOf(size_t run) const { return parts_[IsArchive() ? 0 : run]; }
  std::string PartPath(size_t run) const {
    return folder_ + "/" + (IsArchive() ? std::string(kArchivePartName) : JsonPartName(run));
  }

  Result<IterationResult> ReadIteration(size_t run, size_t iteration) {
    const std::string file = IterationFilePath(manifest_.target, iteration);
    std::error_code ignored;
    if (manifest_.format == ResultsFormat::kJsonDirectory &&
        std::filesystem::exists(file, ignored)) {
      return FromPublished(run, iteration, file);
    }
    const std::optional<JournalIteration>& entry = journal_.runs[run][iteration];
    if (!entry) return Malformed("its line in " + std::string(kJournalName) + " is damaged");
    if (PartOf(run) == nullptr) return Malformed("the part is missing");
    if (entry->end > PartOf(run)->size())
      return Malformed(
          "the part ends before the iteration"
          " does");
    if (IsArchive()) return FromArchive(*entry);
    Result<IterationResult> read = FromJson(*entry);
    if (read.ok() || manifest_.format != ResultsFormat::kJsonDirectory) return read;
    return Malformed(read.status().message() + ", and '" + file +
                     "' is missing, into which it may have been moved: put that back if it is "
                     "elsewhere");
  }

  Result<IterationResult> FromArchive(const JournalIteration& entry) {
    const auto known = entry.layout ? journal_.layouts.find(*entry.layout) : journal_.layouts.end();
    if (known == journal_.layouts.end())
      return Malformed("the journal does not say what its tensors are");
    const JournalLayout& layout = known->second;
    const auto read = manifest_.format == ResultsFormat::kNpz ? ReadMembers : ReadRaw;
    IterationResult result{.runner_name = entry.name.value_or(manifest_.runner_names[entry.runner]),
                           .runtime_s = entry.runtime_s,
                           .outputs = {}};
    VERNIER_ASSIGN_OR_RETURN(result.outputs, read(PartOf(entry.runner), entry, layout, *pool_));
    return result;
  }

  Result<IterationResult> FromJson(const JournalIteration& entry) {
    const FilePtr& part = PartOf(entry.runner);
    VERNIER_TRY(CheckText(*part, entry));
    VERNIER_ASSIGN_OR_RETURN(
        const auto document,
        PolygraphyDocument::Open(part->path(), JsonText(part, entry.begin, entry.end), pool_));
    if (!manifest_.inputs) return DecodeJsonIteration(*document, document->root());
    if (!document->root().is(JsonKind::kObject))
      return Malformed("it is not a map of names to arrays");
    IterationResult feed;
    VERNIER_ASSIGN_OR_RETURN(feed.outputs, document->DecodeTensors(document->root()));
    return feed;
  }

  // What has its file already may be gone from the part. A file of all runners has them in their
  // order; in others are those that had got so far. A journal that lost its end (the machine lost
  // power) does not know how far they had got.
  Result<IterationResult> FromPublished(size_t run, size_t iteration, const std::string& file) {
    VERNIER_ASSIGN_OR_RETURN(const auto results, OpenJsonResults(file));
    size_t place = run;
    if (results->runs().size() != runs_.size()) {
      const auto before = std::span(journal_.runs).first(run);
      place = static_cast<size_t>(std::ranges::count_if(
          before, [iteration](const auto& entries) { return entries.size() > iteration; }));
    }
    if (place >= results->runs().size() || results->runs()[place].iterations != 1 ||
        results->runs()[place].name != manifest_.runner_names[run]) {
      return Malformed("'" + file + "' does not have it");
    }
    return results->Read(place, 0);
  }

  std::string folder_;
  PartialManifest manifest_;
  Journal journal_;
  std::vector<FilePtr> parts_;
  std::string beyond_;
  std::vector<SavedRun> runs_;
  std::shared_ptr<TensorPool> pool_ = TensorPool::Create();
};

}  // namespace

bool IsPartialFolder(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path + "/" + kManifestName, ignored) &&
         std::filesystem::is_regular_file(path + "/" + kJournalName, ignored);
}

bool LacksJournal(const std::string& path) {
  const auto has = [&](const std::string& name) {
    std::error_code ignored;
    return std::filesystem::is_regular_file(path + "/" + name, ignored);
  };
  return has(kManifestName) && !has(kJournalName) &&
         (has(kArchivePartName) || has(JsonPartName(0)));
}

namespace {

// The folder stands beside the target, and has its name: NAME.partial, or NAME.partial.<n>,
// where NAME may be one that is to replace the one that was typed: NAME.resumed<...>.
// The manifest has the path as it was typed, perhaps from another directory.
std::string TargetBeside(const std::string& folder, const std::string& typed) {
  const size_t mark = folder.rfind(kPartialSuffix);
  if (mark == std::string::npos) return typed;
  const std::string target = folder.substr(0, mark);
  const auto name = [](const std::string& path) {
    return std::filesystem::path(WithoutTrailingSlashes(path)).filename().string();
  };
  const bool beside =
      name(target) == name(typed) || name(target).starts_with(name(typed) + kResumedSuffix);
  return beside ? target : typed;
}

// Older versions do not say it.
PartialOrigin OriginIn(JsonValue manifest) {
  const auto number = [&](const char* key) -> std::optional<int64_t> {
    const auto value = manifest.Find(key);
    return value && value->is(JsonKind::kNumber) ? ParseInt(value->raw()) : std::nullopt;
  };
  return {.seed = number("seed"),
          .batch_feeds = number("batch_feeds").value_or(1),
          .models = number("models")};
}

}  // namespace

Result<PartialManifest> ReadPartialManifest(const std::string& folder) {
  const std::string path = folder + "/" + kManifestName;
  if (!IsPartialFolder(folder)) {
    return Malformed("'" + folder +
                     "' was not left by an interrupted run: such a folder is called NAME.partial"
                     " and has " +
                     kManifestName + " and " + kJournalName);
  }
  VERNIER_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  const Result<JsonTape> tape = JsonTape::Parse(text);
  if (!tape.ok()) return Status(tape.status()).Annotate("'" + path + "'");
  const auto target = tape->root().Find("target");
  const auto format = tape->root().Find("format");
  const auto runners = tape->root().Find("runners");
  const auto known = format ? ResultsFormatFromName(format->Text()) : std::nullopt;
  if (!target || !target->is(JsonKind::kString) || !known || !runners ||
      !runners->is(JsonKind::kArray)) {
    return Malformed("'" + path + "' lacks the target, its format or the runners");
  }
  PartialManifest manifest{.target = TargetBeside(folder, target->Text()),
                           .format = *known,
                           .runner_names = {},
                           .inputs = tape->root().Find("inputs").has_value(),
                           .origin = OriginIn(tape->root())};
  for (const JsonValue name : runners->Elements()) manifest.runner_names.push_back(name.Text());
  return manifest;
}

namespace {

std::vector<std::string> PartPaths(const std::string& folder, const PartialManifest& manifest) {
  if (manifest.format == ResultsFormat::kNpz || manifest.format == ResultsFormat::kSafetensors) {
    return {folder + "/" + kArchivePartName};
  }
  std::vector<std::string> paths;
  for (size_t i = 0; i < manifest.runner_names.size(); ++i) {
    paths.push_back(folder + "/" + JsonPartName(i));
  }
  return paths;
}

bool Exists(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

}  // namespace

namespace {

// Publishing makes the first part the target, or removes it first. An older target is not made of
// these parts: there the part was lost.
bool WasPublished(const std::string& folder, const PartialManifest& manifest,
                  const Journal& journal) {
  if (Exists(PartPaths(folder, manifest).front()) || !Exists(manifest.target)) return false;
  if (manifest.format == ResultsFormat::kJsonDirectory) {
    size_t longest = 0;
    for (const auto& run : journal.runs) longest = std::max(longest, run.size());
    return longest == 0 || Exists(IterationFilePath(manifest.target, longest - 1));
  }
  std::error_code error;
  const auto made = std::filesystem::last_write_time(manifest.target, error);
  const auto noted = std::filesystem::last_write_time(folder + "/" + kJournalName, error);
  constexpr auto kCoarsestClock = std::chrono::seconds(2);  // that of FAT
  return error || made + kCoarsestClock >= noted;
}

Result<Journal> ReadJournal(const std::string& folder, const PartialManifest& manifest) {
  VERNIER_ASSIGN_OR_RETURN(const std::string text, ReadFile(folder + "/" + kJournalName));
  return ParseJournal(text, manifest.runner_names.size());
}

}  // namespace

std::vector<JournalSource> ReadPartialSources(const std::string& folder) {
  const Result<PartialManifest> manifest = ReadPartialManifest(folder);
  if (!manifest.ok()) return {};
  Result<Journal> journal = ReadJournal(folder, *manifest);
  if (!journal.ok()) return {};
  std::erase_if(journal->sources, [](const auto& source) { return source.kind == kStepsSource; });
  return std::move(journal->sources);
}

bool IsLeftOver(const std::string& folder) {
  if (IsPartialFolderInUse(folder)) return false;
  const Result<PartialManifest> manifest = ReadPartialManifest(folder);
  if (!manifest.ok() || manifest->runner_names.empty()) return false;
  const Result<Journal> journal = ReadJournal(folder, *manifest);
  return journal.ok() && WasPublished(folder, *manifest, *journal);
}

Result<std::unique_ptr<ResultsReader::Source>> OpenPartialResults(const std::string& folder) {
  VERNIER_ASSIGN_OR_RETURN(PartialManifest manifest, ReadPartialManifest(folder));
  if (IsPartialFolderInUse(folder)) {
    return Malformed("'" + folder + "' is in use: a run is saving there");
  }
  VERNIER_ASSIGN_OR_RETURN(Journal journal, ReadJournal(folder, manifest));
  if (!manifest.runner_names.empty() && WasPublished(folder, manifest, journal)) {
    return Malformed("'" + manifest.target + "' was saved whole; what is left in '" + folder +
                     "' is not needed any more");
  }
  std::vector<FilePtr> parts;
  for (const std::string& path : PartPaths(folder, manifest)) {
    FilePtr part;
    if (Exists(path)) {
      VERNIER_ASSIGN_OR_RETURN(part, InputFile::Open(path));
    }
    parts.push_back(std::move(part));
  }
  VERNIER_ASSIGN_OR_RETURN(std::string beyond, PartBeyondJournal(manifest, journal, parts));
  return std::unique_ptr<ResultsReader::Source>(std::make_unique<PartialResults>(
      folder, std::move(manifest), std::move(journal), std::move(parts), std::move(beyond)));
}

}  // namespace vernier
