#include "record/row_lines.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "io/archive/archive_names.h"
#include "record/record_json.h"
#include "record/record_visit.h"
#include "record/row_scanner.h"
#include "record/row_schema.h"
#include "record/row_text.h"
#include "record/totals_columns.h"

namespace vernier {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

// Of a number that JSON has no digits for.
std::optional<double> NotFiniteFrom(std::string_view text) {
  if (text == "nan") return kNone;
  if (text == "inf") return std::numeric_limits<double>::infinity();
  if (text == "-inf") return -std::numeric_limits<double>::infinity();
  return std::nullopt;
}

bool FitsInt64(const RecordJson& value) {
  return value.is_number_integer() &&
         (!value.is_number_unsigned() ||
          value.get<uint64_t>() <= uint64_t{std::numeric_limits<int64_t>::max()});
}

// A column that is read row by row.
class Column {
 public:
  // What somebody decided is a text, whatever it looks like.
  explicit Column(std::string name) : name_(std::move(name)) {
    const bool texts = name_ == "label" || name_ == "input_name" || name_.ends_with("/label") ||
                       name_.ends_with("/decision") || name_.ends_with("/detail") ||
                       name_.ends_with("/flip") || name_.ends_with(kClassesEnd);
    if (!texts) return;
    whole_ = false;
    texts_ = true;
  }

  // The value in row number `row`, or its list; rows that were left out have none. False when it
  // is neither numbers nor texts, or numbers among texts.
  bool Add(size_t row, const RecordJson& value) {
    if (!value.is_array()) {
      BeginRow(row);
      return AddOne(value);
    }
    BeginList(row, value.size());
    return std::all_of(value.begin(), value.end(),
                       [this](const RecordJson& one) { return AddOne(one); });
  }

  // The same of what a RowScanner has read.
  bool Add(size_t row, const ScannedField& field, std::span<const ScannedValue> values) {
    if (field.list) {
      BeginList(row, values.size());
    } else {
      BeginRow(row);
    }
    return std::ranges::all_of(values, [this](const ScannedValue& value) {
      return std::visit([this](const auto& one) { return AddOne(one); }, value);
    });
  }

  const std::string& name() const { return name_; }

  // Whether there is more to fill up than there are values, by far.
  bool TooUneven() const {
    const size_t all = std::max(numbers_.size(), words_.size());
    return Width() > 1 && rows_ > (8 * all + (size_t{1} << 20)) / Width();
  }

  RowColumn Take(size_t rows) {
    Fill(rows);
    const size_t width = Width();
    if (texts_) return {std::move(name_), Padded(std::move(words_), std::string()), width};
    if (whole_) return {std::move(name_), std::move(integers_), width};
    return {std::move(name_), Padded(std::move(numbers_), kNone), width};
  }

 private:
  void BeginRow(size_t row) {
    Fill(row);
    ++rows_;
    if (!widths_.empty()) widths_.push_back(1);
  }

  void BeginList(size_t row, size_t size) {
    Fill(row);
    ++rows_;
    GiveUpIntegers();
    if (widths_.empty()) widths_.assign(rows_ - 1, 1);
    widths_.push_back(size);
  }

  bool AddOne(const RecordJson& value) {
    if (value.is_string()) return AddOne(std::string_view(value.get_ref<const std::string&>()));
    if (!value.is_number()) return false;
    return FitsInt64(value) ? AddOne(value.get<int64_t>()) : AddOne(value.get<double>());
  }

  bool AddOne(int64_t value) {
    if (!whole_) return AddOne(static_cast<double>(value));
    integers_.push_back(value);
    return true;
  }

  bool AddOne(double value) {
    if (texts_) return false;
    GiveUpIntegers();
    numbers_.push_back(value);
    return true;
  }

  bool AddOne(std::string_view text) {
    const std::optional<double> number = texts_ ? std::nullopt : NotFiniteFrom(text);
    if (number) {
      GiveUpIntegers();
      numbers_.push_back(*number);
      return true;
    }
    GiveUpIntegers();
    // Before the first text there may have been rows without a value, and nothing else.
    for (const double before : numbers_) {
      if (!std::isnan(before)) return false;
      words_.emplace_back();
    }
    numbers_ = {};
    texts_ = true;
    words_.emplace_back(text);
    return true;
  }

  void Fill(size_t rows) {
    if (rows_ == rows) return;
    const size_t missing = rows - rows_;
    rows_ = rows;
    if (!widths_.empty()) widths_.insert(widths_.end(), missing, 1);
    if (texts_) {
      words_.resize(words_.size() + missing);
    } else {
      GiveUpIntegers();
      numbers_.resize(numbers_.size() + missing, kNone);
    }
  }

  void GiveUpIntegers() {
    if (!whole_) return;
    whole_ = false;
    numbers_.assign(integers_.begin(), integers_.end());
    integers_ = {};
  }

  size_t Width() const {
    const auto widest = std::max_element(widths_.begin(), widths_.end());
    return widest == widths_.end() ? 1 : std::max<size_t>(*widest, 1);
  }

  template <typename T>
  std::vector<T> Padded(std::vector<T> values, const T& none) const {
    if (widths_.empty()) return values;
    const size_t width = Width();
    std::vector<T> padded;
    padded.reserve(widths_.size() * width);
    auto next = values.begin();
    for (const size_t own : widths_) {
      const auto end = next + static_cast<std::ptrdiff_t>(own);
      padded.insert(padded.end(), std::make_move_iterator(next), std::make_move_iterator(end));
      padded.insert(padded.end(), width - own, none);
      next = end;
    }
    return padded;
  }

  std::string name_;
  size_t rows_ = 0;
  bool whole_ = true;  // every row has an integer that int64 holds
  bool texts_ = false;
  std::vector<size_t> widths_;      // values of each row, once one has a list
  std::vector<int64_t> integers_;   // while whole_
  std::vector<double> numbers_;     // once it is not
  std::vector<std::string> words_;  // once texts_
};

// The columns of a file, line by line.
class ColumnReader {
 public:
  explicit ColumnReader(std::string path) : path_(std::move(path)) {}

  Status Add(const std::string& line) {
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

  Result<std::vector<RowColumn>> Take() {
    std::vector<RowColumn> taken;
    for (Column& column : columns_) {
      if (column.TooUneven()) {
        return Malformed(
            "'" + path_ + "': '" + column.name() +
            "' has many values in few rows, which an array would fill up in all others: "
            "keep them as JSON lines");
      }
      taken.push_back(column.Take(rows_));
    }
    return taken;
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
  std::vector<Column> columns_;
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

Result<std::vector<RowColumn>> ReadRowColumns(const std::string& path) {
  std::ifstream file(path);
  if (!file) return IoError("'" + path + "' cannot be read: " + std::strerror(errno));
  ColumnReader reader(path);
  for (std::string line; std::getline(file, line);) VERNIER_TRY(reader.Add(line));
  if (file.bad()) return IoError("'" + path + "' cannot be read: " + std::strerror(errno));
  return reader.Take();
}

}  // namespace vernier
