#include "run/saved/row_writer.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <span>
#include <system_error>
#include <type_traits>
#include <variant>

#include "io/archive/zip_writer.h"
#include "io/bytes/checksum.h"
#include "io/results/partial_places.h"
#include "record/rows/row_lines.h"
#include "run/parts/begun_parts.h"
#include "run/workers/runner_session.h"
#include "util/files/atomic_file.h"
#include "util/files/mapped_file.h"
#include "vernier/tensor.h"

namespace vernier {
namespace {

namespace fs = std::filesystem;

bool IsArchive(const std::string& path) { return fs::path(path).extension() == ".npz"; }

Result<Tensor> ColumnTensor(const RowColumn& column) {
  return std::visit(
      [&](const auto& values) -> Result<Tensor> {
        const auto width = static_cast<int64_t>(column.width);
        const auto count = static_cast<int64_t>(values.size());
        const Dims dims = width > 1 ? Dims{count / width, width} : Dims{count};
        using Values = std::remove_cvref_t<decltype(values)>;
        if constexpr (std::is_same_v<Values, std::vector<std::string>>) {
          return Tensor::FromStrings(dims, values);
        } else {
          constexpr bool kWhole = std::is_same_v<Values, std::vector<int64_t>>;
          return Tensor::Copy(kWhole ? DType::kInt64 : DType::kFloat64, dims,
                              std::as_bytes(std::span(values)));
        }
      },
      column.values);
}

// The members of an archive of rows.
class ArrayWriter {
 public:
  explicit ArrayWriter(AtomicFile& file) : sink_(file) {}

  Status Add(const std::string& name, const Tensor& tensor) {
    VERNIER_ASSIGN_OR_RETURN(ZipEntry entry, AppendZipTensor(sink_, name + ".npy", tensor));
    entries_.push_back(std::move(entry));
    return {};
  }

  Status Add(const RowColumn& column) {
    VERNIER_ASSIGN_OR_RETURN(const Tensor tensor, ColumnTensor(column));
    return Add(column.name, tensor);
  }

  // As in JSON lines the last row has them, so that rows which are cut or taken out are missed.
  Status AddEnd(size_t rows, const RowsEnd& end) {
    std::vector<int64_t> counts(rows);
    counts.back() = static_cast<int64_t>(rows);
    VERNIER_TRY(Add(RowColumn{"row_count", std::move(counts)}));
    if (!end.shard) return {};
    std::vector<std::string> shards(rows);
    shards.back() = ShardText(*end.shard);
    return Add(RowColumn{"shard", std::move(shards)});
  }

  Status Finish() {
    ZipDirectoryWriter directory(sink_);
    for (const ZipEntry& entry : entries_) VERNIER_TRY(directory.Add(entry));
    return directory.Finish();
  }

 private:
  AtomicFileSink sink_;
  std::vector<ZipEntry> entries_;
};

std::string PlaceOfPart(const std::string& path) { return path + ".partial"; }

// Whether a later run has made all lines of the part again, but for one that was cut off.
bool HasLinesOf(const std::string& later, const std::string& part) {
  const auto all = MappedFile::Open(later), some = MappedFile::Open(part);
  if (!all.ok() || !some.ok()) return false;
  std::span<const std::byte> lines = (*some)->bytes();
  while (!lines.empty() && lines.back() != std::byte{'\n'}) lines = lines.first(lines.size() - 1);
  const std::span<const std::byte> made = (*all)->bytes();
  const bool same =
      lines.size() <= made.size() && std::ranges::equal(lines, made.first(lines.size()));
  return same && (*all)->CheckIntact().ok() && (*some)->CheckIntact().ok();
}

void WarnOfRows(const std::string& part, Logger& logger) {
  std::error_code error;
  if (fs::file_size(part, error) == 0 && !error) return;
  logger.Warning("Rows of a run that ended early are in '" + part +
                 "': rename it to keep them as JSON lines, or remove it");
}

}  // namespace

bool RowWriter::Takes(const std::string& path) {
  return IsArchive(path) || fs::path(path).extension() == ".jsonl";
}

Result<std::unique_ptr<RowWriter>> RowWriter::Create(const std::string& path, Earlier earlier,
                                                     Logger& logger) {
  const std::string parent = fs::path(path).parent_path().string();
  if (!parent.empty()) VERNIER_TRY(CreateDirectories(parent));
  if (!CanRenameOver(path)) return IoError("'" + path + "' cannot be written: it is not a file");
  const std::string usual = PlaceOfPart(path);
  std::string place;
  VERNIER_ASSIGN_OR_RETURN(PartFile part, BeginPart(path, place));
  logger.Info("Saving rows to " + path);
  if (place != usual && earlier == Earlier::kStay) WarnOfRows(usual, logger);
  std::unique_ptr<RowWriter> writer(new RowWriter(path, place, std::move(part)));
  if (earlier == Earlier::kAreMadeAgain) writer->resuming_ = &logger;
  return writer;
}

void RowWriter::NoteFeed(int64_t iteration, std::optional<uint64_t> hash) {
  const auto index = static_cast<size_t>(iteration);
  if (feeds_.size() <= index) feeds_.resize(index + 1);
  if (!feeds_[index]) feeds_[index] = hash;
}

void RowWriter::NoteFile(int64_t iteration, FedFile file) { files_[iteration] = std::move(file); }

Status RowWriter::Add(IterationRow row) {
  // Iterations come in their order, once for each pair.
  files_.erase(files_.begin(), files_.lower_bound(row.index));
  if (const auto file = files_.find(row.index); file != files_.end()) row.file = file->second;
  const auto index = static_cast<size_t>(row.index);
  const std::optional<uint64_t> feed = index < feeds_.size() ? feeds_[index] : std::nullopt;
  row.input_hash = feed ? HexadecimalHash(*feed) : "";
  const uint64_t whole = part_.size();
  last_ = RowLine(row);
  const Status written = part_.WriteText(last_ + "\n");
  if (written.ok()) {
    ++row_count_;
    return {};
  }
  failed_ = true;
  // Half a line is none. What is there of it is not in the part's size.
  (void)part_.Truncate(whole);
  if (whole == 0) {
    Discard();
    return written;
  }
  return IoError(written.message() + "; the rows before this one are in '" + place_ +
                 "': rename it to keep them as JSON lines, or remove it");
}

// Create() has passed them all. Those with other rows stay.
std::vector<std::string> RowWriter::FindMadeAgain() const {
  std::vector<std::string> parts;
  if (resuming_ == nullptr) return parts;
  const std::string usual = PlaceOfPart(path_);
  std::string part = usual;
  for (int n = 1; part != place_ && IsThere(part); ++n) {
    if (HasLinesOf(place_, part)) {
      parts.push_back(part);
    } else {
      WarnOfRows(part, *resuming_);
    }
    part = usual + "." + std::to_string(n);
  }
  return parts;
}

// Rows that do not say how many there are, and what is missing, do not pass for whole: where there
// is no room for that, they stay in the part.
Status RowWriter::AddEnd(const RowsEnd& end) {
  const uint64_t before = part_.size() - last_.size() - 1;
  VERNIER_TRY(part_.Truncate(before));
  const Status written = part_.WriteText(WithRowsEnd(last_, row_count_, end) + "\n");
  if (written.ok()) return {};
  if (part_.Truncate(before).ok()) (void)part_.WriteText(last_ + "\n");
  return IoError(written.message() + "; the rows are in '" + place_ +
                 "': rename it to keep them as JSON lines, or remove it");
}

Status RowWriter::Publish(const RowsEnd& end,
                          std::vector<std::pair<std::string, std::string>>& saved) {
  if (failed_) return {};
  if (part_.size() == 0) {
    Discard();
    return {};
  }
  const std::vector<std::string> made_again = FindMadeAgain();
  if (IsArchive(path_)) {
    VERNIER_TRY(PublishArrays(end));
  } else {
    VERNIER_TRY(AddEnd(end));
    VERNIER_TRY(part_.PublishAs(path_));
  }
  for (const std::string& part : made_again) ::unlink(part.c_str());
  saved.emplace_back("rows", path_);
  return {};
}

Status RowWriter::PublishArrays(const RowsEnd& end) {
  VERNIER_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(path_));
  ArrayWriter arrays(file);
  VERNIER_TRY(
      ForEachRowColumn(place_, [&](const RowColumn& column) { return arrays.Add(column); }));
  VERNIER_TRY(arrays.AddEnd(row_count_, end));
  // No columns: they have as many texts as there are sentences.
  for (const auto& [name, texts] :
       {std::pair("not_done", &end.not_done), std::pair("unfit_labels", &end.unfit_labels),
        std::pair("passed_over", &end.passed_over)}) {
    if (texts->empty()) continue;
    VERNIER_ASSIGN_OR_RETURN(const Tensor tensor,
                             Tensor::FromStrings({static_cast<int64_t>(texts->size())}, *texts));
    VERNIER_TRY(arrays.Add(name, tensor));
  }
  VERNIER_TRY(arrays.Finish());
  VERNIER_TRY(file.Commit());
  Discard();
  return {};
}

void RowWriter::Leave(Logger& logger) {
  if (part_.size() == 0) return Discard();
  WarnOfRows(place_, logger);
}

void RowWriter::Discard() { ::unlink(place_.c_str()); }

}  // namespace vernier
