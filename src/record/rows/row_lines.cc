#include "record/rows/row_lines.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "io/archive/archive_names.h"
#include "io/bytes/byte_spill.h"
#include "record/rows/row_column.h"
#include "record/rows/row_scanner.h"
#include "record/rows/row_schema.h"
#include "record/rows/row_text.h"
#include "record/schema/record_json.h"
#include "record/schema/record_visit.h"

namespace vernier {
namespace {

// So much of the lines has its values in memory.
constexpr size_t kMostBuffered = size_t{16} << 20;

std::string FolderOf(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

// The columns of a file, line by line.
class ColumnReader {
 public:
  explicit ColumnReader(std::string path) : path_(std::move(path)), spill_(FolderOf(path_)) {}

  Status Add(const std::string& line) {
    buffered_ += line.size();
    if (buffered_ > kMostBuffered) {
      for (SpilledColumn& column : columns_) column.Spill(spill_);
      buffered_ = 0;
    }
    if (!scanner_.Scan(line) || !Place()) return AddParsed(line);
    for (size_t i = 0; i < fields_.size(); ++i) {
      const ScannedField& field = scanner_.fields()[i];
      if (!columns_[fields_[i]].Add(rows_, field, scanner_.ValuesOf(field))) {
        const std::string name(field.name);
        return Unfit(name, RecordJson::parse(line)[name].dump());
      }
    }
    ++rows_;
    return {};
  }

  Status ForEach(const std::function<Status(RowColumn)>& take) {
    for (const SpilledColumn& column : columns_) {
      if (!column.TooUneven()) continue;
      return Malformed("'" + path_ + "': '" + column.name() +
                       "' has many values in few rows, which an array would fill up in all others: "
                       "keep them as JSON lines");
    }
    for (SpilledColumn& column : columns_) {
      VERNIER_ASSIGN_OR_RETURN(RowColumn taken, column.Take(rows_, spill_));
      VERNIER_TRY(take(std::move(taken)));
    }
    return {};
  }

 private:
  std::string Where() const { return "'" + path_ + "', line " + std::to_string(rows_ + 1) + ": "; }

  Status Unfit(const std::string& name, const std::string& value) const {
    return Malformed(Where() + "'" + name + "' is " + value +
                     ", and neither a number nor a text as in the lines before");
  }

  size_t PlaceOf(const std::string& name) {
    const auto [place, added] = places_.emplace(name, columns_.size());
    if (added) columns_.emplace_back(name);
    return place->second;
  }

  // Finds the columns of what was scanned: as a rule those of the line before. False where one name
  // comes twice.
  bool Place() {
    const std::vector<ScannedField>& fields = scanner_.fields();
    fields_.resize(fields.size(), columns_.size());
    for (size_t i = 0; i < fields.size(); ++i) {
      const bool same =
          fields_[i] < columns_.size() && columns_[fields_[i]].name() == fields[i].name;
      if (!same) fields_[i] = PlaceOf(std::string(fields[i].name));
    }
    in_line_.resize(columns_.size(), 0);
    for (const size_t place : fields_) {
      if (std::exchange(in_line_[place], rows_ + 1) == rows_ + 1) return false;
    }
    return true;
  }

  Status AddParsed(const std::string& line) {
    const RecordJson row = RecordJson::parse(line, nullptr, false);
    if (!row.is_object()) return Malformed(Where() + "expected a JSON object, which a row is");
    for (const auto& [name, value] : row.items()) {
      if (!columns_[PlaceOf(name)].Add(rows_, value)) return Unfit(name, value.dump());
    }
    ++rows_;
    return {};
  }

  std::string path_;
  ByteSpill spill_;
  size_t buffered_ = 0;
  std::vector<SpilledColumn> columns_;
  std::unordered_map<std::string, size_t> places_;
  size_t rows_ = 0;
  RowScanner scanner_;
  std::vector<size_t> fields_;   // columns, in the order of the line
  std::vector<size_t> in_line_;  // by column: the last line that has it, from 1
};

// One prompt's token, or a list where the batch has several.
RecordJson TokensColumn(const std::vector<int64_t>& tokens) {
  return tokens.size() == 1 ? RecordJson(tokens.front()) : RecordJson(tokens);
}

// "logits"; of further decisions about it "logits:top5", as no encoded name has a colon.
std::string DecisionColumn(const IterationRow& row, const DecisionRow& decision) {
  const auto first = std::ranges::find(row.decisions, decision.output, &DecisionRow::output);
  const std::string output = PercentEncode(decision.output);
  return &*first == &decision ? output : output + ":" + PercentEncode(decision.kind);
}

}  // namespace

std::string RowLine(const IterationRow& row) {
  if (row.decisions.empty() && !row.tokens) return PlainRowText(row);
  RecordJson line = {
      {"index", row.index}, {"step", row.step}, {"pair", row.pair}, {"input_hash", row.input_hash}};
  if (row.file) {
    line["input_name"] = row.file->name;
    line["input_index"] = row.file->place;
    line["input_count"] = row.file->named;
  }
  for (const OutputRow& output : row.outputs) {
    const std::string prefix = PercentEncode(output.output) + "/";
    FieldWriter statistics;
    ListFields(statistics, output);
    const RecordJson values = statistics.Take();
    for (const auto& [name, value] : values.items()) line[prefix + name] = value;
  }
  for (const DecisionRow& decision : row.decisions) {
    AddDecisionColumns(decision, PercentEncode(row.first), PercentEncode(row.second),
                       DecisionColumn(row, decision), line);
  }
  if (row.tokens) {
    line[PercentEncode(row.first) + "/tokens"] = TokensColumn(row.tokens->first);
    line[PercentEncode(row.second) + "/tokens"] = TokensColumn(row.tokens->second);
    line["after_divergence"] = row.tokens->after_divergence ? 1 : 0;
    if (row.tokens->after_end) line["after_end"] = 1;
  }
  return DumpJson(line, -1);
}

std::string ShardText(const RowsShard& shard) {
  return std::to_string(shard.number) + "/" + std::to_string(shard.count) +
         (shard.run.empty() ? "" : " of " + shard.run);
}

std::string WithRowsEnd(const std::string& line, size_t row_count, const RowsEnd& end) {
  RecordJson row = RecordJson::parse(line, nullptr, false);
  row["row_count"] = row_count;
  if (!end.not_done.empty()) row["not_done"] = end.not_done;
  if (!end.unfit_labels.empty()) row["unfit_labels"] = end.unfit_labels;
  if (!end.passed_over.empty()) row["passed_over"] = end.passed_over;
  if (end.shard) row["shard"] = ShardText(*end.shard);
  return DumpJson(row, -1);
}

Status ForEachRowColumn(const std::string& path,
                        const std::function<Status(RowColumn column)>& take) {
  std::ifstream file(path);
  if (!file) return IoError("'" + path + "' cannot be read: " + std::strerror(errno));
  ColumnReader reader(path);
  for (std::string line; std::getline(file, line);) VERNIER_TRY(reader.Add(line));
  if (file.bad()) return IoError("'" + path + "' cannot be read: " + std::strerror(errno));
  return reader.ForEach(take);
}

}  // namespace vernier
