#include "run/saved/row_writer.h"

#include <unistd.h>

#include <filesystem>
#include <span>
#include <type_traits>
#include <variant>

#include "io/archive/zip_writer.h"
#include "io/bytes/checksum.h"
#include "io/recovery/partial_places.h"
#include "record/row_lines.h"
#include "run/live/live_runner.h"
#include "util/atomic_file.h"
#include "vernier/tensor.h"

namespace vernier {
namespace {

namespace fs = std::filesystem;

bool IsArchive(const std::string& path) { return fs::path(path).extension() == ".npz"; }

Result<Tensor> ColumnTensor(const RowColumn& column) {
  return std::visit(
      [](const auto& values) -> Result<Tensor> {
        const Dims dims = {static_cast<int64_t>(values.size())};
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

}  // namespace

bool RowWriter::Takes(const std::string& path) {
  return IsArchive(path) || fs::path(path).extension() == ".jsonl";
}

Result<std::unique_ptr<RowWriter>> RowWriter::Create(const std::string& path, Logger& logger) {
  const std::string parent = fs::path(path).parent_path().string();
  if (!parent.empty()) VERNIER_TRY(CreateDirectories(parent));
  if (!CanRenameOver(path)) return IoError("'" + path + "' cannot be written: it is no file");
  const std::string usual = path + ".partial";
  const std::string place = FreePlace(usual);
  VERNIER_ASSIGN_OR_RETURN(PartFile part, PartFile::Create(place));
  logger.Info("Saving rows to " + path);
  if (place != usual) {
    logger.Warning("Rows of a run that did not come to its end are in '" + usual +
                   "': rename it to keep them as JSON lines, or remove it");
  }
  return std::unique_ptr<RowWriter>(new RowWriter(path, place, std::move(part)));
}

void RowWriter::NoteFeed(int64_t iteration, std::optional<uint64_t> hash) {
  const auto index = static_cast<size_t>(iteration);
  if (feeds_.size() <= index) feeds_.resize(index + 1);
  if (!feeds_[index]) feeds_[index] = hash;
}

Status RowWriter::Add(int64_t iteration, int64_t step, const std::string& pair,
                      std::vector<OutputRow> outputs) {
  const auto index = static_cast<size_t>(iteration);
  const std::optional<uint64_t> feed = index < feeds_.size() ? feeds_[index] : std::nullopt;
  const IterationRow row = {.index = iteration,
                            .step = step,
                            .pair = pair,
                            .input_hash = feed ? HexadecimalHash(*feed) : "",
                            .outputs = std::move(outputs)};
  return part_.WriteText(RowLine(row) + "\n");
}

Status RowWriter::Publish(std::vector<std::pair<std::string, std::string>>& saved) {
  if (part_.size() == 0) {
    Discard();
    return {};
  }
  VERNIER_TRY(IsArchive(path_) ? PublishArrays() : part_.PublishAs(path_));
  saved.emplace_back("rows", path_);
  return {};
}

Status RowWriter::PublishArrays() {
  VERNIER_ASSIGN_OR_RETURN(const std::vector<RowColumn> columns, ReadRowColumns(place_));
  VERNIER_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(path_));
  AtomicFileSink sink(file);
  std::vector<ZipEntry> entries;
  for (const RowColumn& column : columns) {
    VERNIER_ASSIGN_OR_RETURN(const Tensor tensor, ColumnTensor(column));
    VERNIER_ASSIGN_OR_RETURN(ZipEntry entry, AppendZipTensor(sink, column.name + ".npy", tensor));
    entries.push_back(std::move(entry));
  }
  ZipDirectoryWriter directory(sink);
  for (const ZipEntry& entry : entries) VERNIER_TRY(directory.Add(entry));
  VERNIER_TRY(directory.Finish());
  VERNIER_TRY(file.Commit());
  Discard();
  return {};
}

void RowWriter::Discard() { ::unlink(place_.c_str()); }

}  // namespace vernier
