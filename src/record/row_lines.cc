#include "record/row_lines.h"

#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <optional>
#include <unordered_map>
#include <utility>

#include "io/archive/archive_names.h"
#include "record/record_json.h"
#include "record/record_visit.h"
#include "record/row_schema.h"

namespace vernier {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

// Of a number that JSON has no digits for.
std::optional<double> NotFiniteFrom(const std::string& text) {
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
  explicit Column(std::string name) : name_(std::move(name)) {}

  // The value in row number `row`; rows that were left out have none. False when it is neither a
  // number nor a text, or a number among texts.
  bool Add(size_t row, const RecordJson& value) {
    Fill(row);
    ++rows_;
    if (value.is_string()) return AddText(value.get<std::string>());
    if (!value.is_number() || texts_) return false;
    if (whole_ && FitsInt64(value)) {
      integers_.push_back(value.get<int64_t>());
      return true;
    }
    GiveUpIntegers();
    numbers_.push_back(value.get<double>());
    return true;
  }

  RowColumn Take(size_t rows) {
    Fill(rows);
    if (texts_) return {std::move(name_), std::move(words_)};
    if (whole_) return {std::move(name_), std::move(integers_)};
    return {std::move(name_), std::move(numbers_)};
  }

 private:
  bool AddText(std::string text) {
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
    words_.push_back(std::move(text));
    return true;
  }

  void Fill(size_t rows) {
    if (rows_ == rows) return;
    rows_ = rows;
    if (texts_) {
      words_.resize(rows);
    } else {
      GiveUpIntegers();
      numbers_.resize(rows, kNone);
    }
  }

  void GiveUpIntegers() {
    if (!whole_) return;
    whole_ = false;
    numbers_.assign(integers_.begin(), integers_.end());
    integers_ = {};
  }

  std::string name_;
  size_t rows_ = 0;
  bool whole_ = true;  // every row has an integer that int64 holds
  bool texts_ = false;
  std::vector<int64_t> integers_;   // while whole_
  std::vector<double> numbers_;     // once it is not
  std::vector<std::string> words_;  // once texts_
};

}  // namespace

std::string RowLine(const IterationRow& row) {
  RecordJson line = {
      {"index", row.index}, {"step", row.step}, {"pair", row.pair}, {"input_hash", row.input_hash}};
  for (const OutputRow& output : row.outputs) {
    const std::string prefix = PercentEncode(output.output) + "/";
    FieldWriter statistics;
    ListFields(statistics, output);
    const RecordJson values = statistics.Take();
    for (const auto& [name, value] : values.items()) line[prefix + name] = value;
  }
  return DumpJson(line, -1);
}

Result<std::vector<RowColumn>> ReadRowColumns(const std::string& path) {
  std::ifstream file(path);
  if (!file) return IoError("'" + path + "' cannot be read: " + std::strerror(errno));
  std::vector<Column> columns;
  std::unordered_map<std::string, size_t> places;
  size_t rows = 0;
  for (std::string line; std::getline(file, line); ++rows) {
    const std::string where = "'" + path + "', line " + std::to_string(rows + 1) + ": ";
    const RecordJson row = RecordJson::parse(line, nullptr, false);
    if (!row.is_object()) return Malformed(where + "expected a JSON object, which a row is");
    for (const auto& [name, value] : row.items()) {
      const auto [place, added] = places.emplace(name, columns.size());
      if (added) columns.emplace_back(name);
      if (columns[place->second].Add(rows, value)) continue;
      return Malformed(where + "'" + name + "' is " + value.dump() +
                       ", and neither a number nor a text as in the lines before");
    }
  }
  if (file.bad()) return IoError("'" + path + "' cannot be read: " + std::strerror(errno));
  std::vector<RowColumn> taken;
  for (Column& column : columns) taken.push_back(column.Take(rows));
  return taken;
}

}  // namespace vernier
