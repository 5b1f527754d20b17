#include "record/rows/decision_arrays.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "io/archive/archive_names.h"
#include "io/archive/tensor_archive.h"
#include "record/rows/decision_places.h"
#include "record/rows/decision_table.h"
#include "record/rows/totals_columns.h"
#include "vernier/tensor.h"

namespace vernier {
namespace {

constexpr std::string_view kKindEnd = "/decision";
constexpr std::string_view kOtherEnds[] = {kKindEnd,   "/margin",  "/label",   "/score",
                                           "/classes", "/verdict", kSamplesEnd};

// What the run did not do: lists that are no columns.
constexpr std::string_view kEndArrays[] = {"not_done", "unfit_labels", "passed_over"};

// Columns that have a value in the last row of a run alone.
constexpr std::string_view kEndColumns[] = {"row_count", "shard"};

bool IsOneOf(std::span<const std::string_view> names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

// Arrays by the names of their columns.
using RowArrays = std::map<std::string, Tensor>;

struct RowFile {
  RowArrays columns;
  RowArrays end;  // kEndArrays and kEndColumns
};

bool IsOfDecisions(std::string_view name) {
  if (name == "index" || name == "step" || name == "pair" || name == "label") return true;
  if (name == "input_name" || name == "input_index" || name == "input_count") return true;
  if (IsOneOf(kEndArrays, name) || IsOneOf(kEndColumns, name)) return true;
  const auto ends_name = [&](std::string_view end) { return name.ends_with(end); };
  return std::ranges::any_of(kOtherEnds, ends_name) || std::ranges::any_of(kFlipEnds, ends_name) ||
         std::ranges::any_of(kSampleEnds, ends_name);
}

size_t WidthOf(const Tensor& array) {
  return array.dims().size() < 2 ? 1 : static_cast<size_t>(array.dims()[1]);
}

bool IsColumn(const Tensor& array, int64_t rows) {
  const bool type = array.dtype() == DType::kString || array.dtype() == DType::kInt64 ||
                    array.dtype() == DType::kFloat64;
  const size_t axes = array.dims().size();
  const bool shape = axes == 1 || (axes == 2 && array.dims()[1] > 0);
  return type && shape && array.dims()[0] == rows;
}

bool FitsRows(const std::string& name, const Tensor& array, int64_t rows) {
  if (IsOneOf(kEndArrays, name)) return array.dtype() == DType::kString;
  if (name == "row_count" && array.dtype() == DType::kString) return false;
  return IsColumn(array, rows) && (!IsOneOf(kEndColumns, name) || array.dims().size() == 1);
}

Result<RowFile> ReadArrays(const std::string& path) {
  VERNIER_ASSIGN_OR_RETURN(const std::unique_ptr<TensorArchive> archive,
                           TensorArchive::Open(path, ArchiveFormat::kNpz));
  const auto no_rows = [&] {
    return Malformed("'" + path + "': expected the rows of --save-rows: index, step and pair");
  };
  RowFile file;
  RowArrays& arrays = file.columns;
  for (size_t i = 0; i < archive->names().size(); ++i) {
    const std::string name = archive->names().Text(i);
    if (!IsOfDecisions(name)) continue;
    const bool of_end = IsOneOf(kEndArrays, name) || IsOneOf(kEndColumns, name);
    VERNIER_ASSIGN_OR_RETURN((of_end ? file.end : arrays)[name], archive->Read(i));
  }
  const auto index = arrays.find("index");
  if (index == arrays.end() || index->second.dims().size() != 1) return no_rows();
  if (!arrays.contains("step") || !arrays.contains("pair")) return no_rows();
  for (const RowArrays* const part : {&arrays, &file.end}) {
    for (const auto& [name, array] : *part) {
      if (FitsRows(name, array, index->second.dims()[0])) continue;
      return Malformed("'" + path + "': '" + name + "' is not a column of rows: " +
                       std::string(DTypeName(array.dtype())) + " " + FormatDims(array.dims()));
    }
  }
  return file;
}

RecordJson CellOf(const Tensor& array, size_t row, size_t sample) {
  const size_t place = row * WidthOf(array) + sample;
  if (array.dtype() == DType::kString) {
    return std::string(array.StringAt(static_cast<int64_t>(place)));
  }
  if (array.dtype() == DType::kInt64) return array.As<int64_t>()[place];
  return NumberJson(array.As<double>()[place]);
}

bool IsText(const RecordJson& cell) { return cell.is_string() && cell != ""; }

// NaN, which fills up numbers, is the text "nan".
bool IsGiven(const RecordJson& cell) { return cell != "" && cell != "nan"; }

// A decision of some rows, and the sides that made it: as in columns, and their names.
struct ArrayDecision {
  std::string name;
  std::vector<std::pair<std::string, std::string>> sides;
};

std::vector<ArrayDecision> DecisionsIn(const RowArrays& arrays) {
  std::vector<ArrayDecision> decisions;
  for (const auto& [column, array] : arrays) {
    if (!column.ends_with(kKindEnd)) continue;
    const std::string name = column.substr(0, column.size() - kKindEnd.size());
    if (name.find('/') == std::string::npos) decisions.push_back({name, {}});
  }
  for (ArrayDecision& decision : decisions) {
    const std::string end = "/" + decision.name + std::string(kKindEnd);
    for (const auto& [column, array] : arrays) {
      if (!column.ends_with(end)) continue;
      const std::string side = column.substr(0, column.size() - end.size());
      decision.sides.emplace_back(side, PercentDecode(side));
    }
  }
  return decisions;
}

// The columns of the two sides that make up the pair.
std::vector<std::string> SidesOfPair(const ArrayDecision& decision, const std::string& pair) {
  for (const auto& [first, first_name] : decision.sides) {
    for (const auto& [second, second_name] : decision.sides) {
      if (first_name + " vs. " + second_name == pair) return {first, second};
    }
  }
  return {};
}

// Of what the row has of a decision, which may be nothing.
void AddDecision(const RowArrays& arrays, const ArrayDecision& decision, size_t row,
                 RecordJson& json) {
  const std::string& name = decision.name;
  const auto flips = arrays.find(name + "/flip");
  const RecordJson kind = CellOf(arrays.at(name + std::string(kKindEnd)), row, 0);
  if (!IsText(kind) || flips == arrays.end()) return;
  size_t count = 0;
  const size_t width = WidthOf(flips->second);
  while (count < width && IsText(CellOf(flips->second, row, count))) ++count;
  const auto add = [&](const std::string& column, const std::string& from) {
    const auto found = arrays.find(from);
    if (found == arrays.end()) return;
    RecordJson values = RecordJson::array();
    // What stands behind the last sample fills the column up, or shows that one was lost.
    size_t own = WidthOf(found->second);
    while (own > count && !IsGiven(CellOf(found->second, row, own - 1))) --own;
    for (size_t i = 0; i < own; ++i) values.push_back(CellOf(found->second, row, i));
    json[column] = std::move(values);
  };
  json[name + std::string(kKindEnd)] = kind;
  // Other rows may have what this one has not.
  const auto add_if_any = [&](const std::string& column, const std::string& from) {
    add(column, from);
    const auto added = json.find(column);
    if (added != json.end() && std::ranges::none_of(*added, IsGiven)) json.erase(added);
    return json.contains(column);
  };
  for (const std::string_view end : kFlipEnds) {
    add(name + std::string(end), name + std::string(end));
  }
  for (const std::string& column : {name + "/classes", name + std::string(kSamplesEnd)}) {
    add_if_any(column, column);
  }
  for (const std::string_view end : kSampleEnds) {
    add_if_any(name + std::string(end), name + std::string(end));
  }
  bool scored = false;
  for (const std::string& side : SidesOfPair(decision, json["pair"].get<std::string>())) {
    for (const std::string_view end : {kKindEnd, std::string_view("/margin")}) {
      const std::string column = side + "/" + name + std::string(end);
      add(column, column);
    }
    const std::string score = side + "/" + name + "/score";
    scored |= add_if_any(score, score);
  }
  // Without labels of its own it has those of the row.
  const std::string label = name + "/label";
  if (scored && !add_if_any(label, label)) add_if_any(label, "label");
}

// What the last row of a run has of its own, of which `last` is the last of the file.
void AddEnd(const RowArrays& end, size_t row, bool last, RecordJson& json) {
  const auto shard = end.find("shard");
  if (shard != end.end()) {
    const RecordJson cell = CellOf(shard->second, row, 0);
    if (IsGiven(cell)) json["shard"] = cell;
  }
  for (const std::string_view name : kEndArrays) {
    const auto found = end.find(std::string(name));
    if (!last || found == end.end()) continue;
    RecordJson& sentences = json[found->first] = RecordJson::array();
    for (int64_t i = 0; i < found->second.element_count(); ++i) {
      sentences.push_back(std::string(found->second.StringAt(i)));
    }
  }
}

// Of a column that has the number of rows of a run in its last one: NaN or 0 elsewhere.
uint64_t CountAtRow(const RowArrays& end, size_t row) {
  const auto found = end.find("row_count");
  if (found == end.end()) return 0;
  const RecordJson cell = CellOf(found->second, row, 0);
  constexpr double kMost = 9007199254740992;
  const double count = cell.is_number() ? cell.get<double>() : 0;
  return count >= 1 && count <= kMost ? static_cast<uint64_t>(count) : 0;
}

class ArrayRows {
 public:
  ArrayRows(const std::string& path, const RowFile& file)
      : path_(path),
        columns_(file.columns),
        end_(file.end),
        decisions_(DecisionsIn(file.columns)),
        rows_(static_cast<size_t>(file.columns.at("index").element_count())) {}

  size_t size() const { return rows_; }

  // Whether the row has nothing but what is in columns.
  bool IsPlain(size_t row) const {
    const auto shard = end_.find("shard");
    if (shard != end_.end() && IsGiven(CellOf(shard->second, row, 0))) return false;
    return row + 1 < rows_ || std::ranges::none_of(kEndArrays, [this](std::string_view name) {
             return end_.contains(std::string(name));
           });
  }

  Result<RecordJson> At(size_t row) const {
    RecordJson json = RecordJson::object();
    for (const char* const column :
         {"index", "step", "pair", "input_name", "input_index", "input_count"}) {
      const auto array = columns_.find(column);
      if (array != columns_.end()) json[column] = CellOf(array->second, row, 0);
    }
    if (!json["pair"].is_string()) {
      return Malformed("'" + path_ + "': 'pair' is not a column of texts");
    }
    for (const auto& [column, array] : columns_) {
      if (OutputOfVerdict(column)) json[column] = CellOf(array, row, 0);
    }
    for (const ArrayDecision& decision : decisions_) AddDecision(columns_, decision, row, json);
    AddEnd(end_, row, row + 1 == rows_, json);
    return json;
  }

 private:
  const std::string& path_;
  const RowArrays& columns_;
  const RowArrays& end_;
  std::vector<ArrayDecision> decisions_;
  size_t rows_;
};

}  // namespace

Result<RowsExtent> ForEachArrayRow(const std::string& path,
                                   const std::function<Status(const IterationRow& row)>& take_plain,
                                   const std::function<Status(const RecordJson& row)>& take) {
  VERNIER_ASSIGN_OR_RETURN(const RowFile file, ReadArrays(path));
  const ArrayRows rows(path, file);
  DecisionTable table(file.columns);
  IterationRow plain;
  RowsExtent extent;
  for (size_t row = 0; row < rows.size(); ++row) {
    const uint64_t count = CountAtRow(file.end, row);
    ++extent.rows;
    extent.saved += count;
    extent.ended = count > 0;
    if (rows.IsPlain(row) && table.Read(row, plain)) {
      VERNIER_TRY(take_plain(plain));
      continue;
    }
    VERNIER_ASSIGN_OR_RETURN(const RecordJson json, rows.At(row));
    VERNIER_TRY(take(json));
  }
  return extent;
}

}  // namespace vernier
