#include "record/rows/decision_rows.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "io/archive/archive_names.h"
#include "record/rows/decision_arrays.h"
#include "record/rows/decision_lines.h"
#include "record/rows/decision_places.h"
#include "record/rows/file_lines.h"
#include "record/rows/sample_faults.h"
#include "record/rows/totals_columns.h"
#include "record/schema/decision_schema.h"
#include "record/schema/record_json.h"
#include "util/text/number_text.h"
#include "util/values/plural_text.h"
#include "vernier/shard_plan.h"

namespace vernier {
namespace {

constexpr std::string_view kKindColumn = "/decision";
constexpr std::string_view kOfRun = " of ";

// One decision of a row, by the beginnings of its columns: "logits", and "a/logits" of a side.
struct DecisionColumns {
  const RecordJson& row;
  std::string name;
  std::string first, second;
};

// The value of one sample: of several there is a list. Null where there is none.
const RecordJson* ValueAt(const RecordJson& row, const std::string& column, size_t sample) {
  const auto found = row.find(column);
  if (found == row.end()) return nullptr;
  if (!found->is_array()) return sample == 0 ? &*found : nullptr;
  return sample < found->size() ? &(*found)[sample] : nullptr;
}

std::optional<std::string> TextAt(const RecordJson& row, const std::string& column, size_t sample) {
  const RecordJson* const value = ValueAt(row, column, sample);
  if (value == nullptr || !value->is_string()) return std::nullopt;
  return value->get<std::string>();
}

std::optional<double> NumberAt(const RecordJson& row, const std::string& column, size_t sample) {
  const RecordJson* const value = ValueAt(row, column, sample);
  if (value != nullptr && value->is_number()) return value->get<double>();
  const std::string text = value != nullptr && value->is_string() ? value->get<std::string>() : "";
  if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (text == "inf") return std::numeric_limits<double>::infinity();
  if (text == "-inf") return -std::numeric_limits<double>::infinity();
  return std::nullopt;
}

// Of a column that not all rows have: 0 without it; nullopt for what is no count.
std::optional<int64_t> CountAt(const RecordJson& row, const std::string& column, size_t sample) {
  const RecordJson* const value = ValueAt(row, column, sample);
  if (value == nullptr || *value == "nan") return 0;
  constexpr double kMost = 9007199254740992;
  const double count = NumberAt(row, column, sample).value_or(-1);
  if (!(count >= 0 && count <= kMost) || std::trunc(count) != count) return std::nullopt;
  return static_cast<int64_t>(count);
}

std::optional<Flip> FlipAt(const DecisionColumns& columns, size_t sample) {
  const std::optional<std::string> word = TextAt(columns.row, columns.name + "/flip", sample);
  const auto* const name = std::ranges::find(kFlipNames, word.value_or(""));
  if (name == kFlipNames.end()) return std::nullopt;
  return static_cast<Flip>(name - kFlipNames.begin());
}

// What the run adds up, where the row has it. False where it is of another type.
bool ReadTotals(const DecisionColumns& columns, size_t sample, DecisionSample& made) {
  const auto overlap = NumberAt(columns.row, columns.name + std::string(kOverlapEnd), sample);
  if (overlap && !std::isnan(*overlap)) {
    BoxCounts& boxes = made.boxes.emplace();
    boxes.overlap = *overlap;
    for (const BoxColumn& column : kBoxColumns) {
      const auto count = CountAt(columns.row, columns.name + std::string(column.end), sample);
      if (!count) return false;
      boxes.*column.count = *count;
    }
  }
  const std::string classes_column = columns.name + std::string(kClassesEnd);
  const RecordJson* const value = ValueAt(columns.row, classes_column, sample);
  if (value != nullptr && value->is_number() && std::isfinite(value->get<double>())) return false;
  const auto text = TextAt(columns.row, classes_column, sample);
  std::optional<std::vector<ClassOverlap>> classes = OverlapsFrom(text.value_or(""));
  if (!classes) return false;
  made.classes = *std::move(classes);
  return true;
}

// What few samples have. False where it is of another type.
bool ReadMarks(const DecisionColumns& columns, size_t sample, DecisionSample& made) {
  const auto count = [&](const char* end) {
    return CountAt(columns.row, columns.name + end, sample);
  };
  const auto negative_boxes = count("/negative_boxes"), above_one = count("/scores_above_one");
  const auto all_above = count("/all_above");
  const auto by_noise = count("/by_noise"), over_bound = count("/over_bound");
  if (!negative_boxes || !above_one || !all_above || !by_noise || !over_bound) return false;
  made.negative_boxes = *negative_boxes;
  made.scores_above_one = *above_one;
  made.all_above = *all_above != 0;
  made.by_noise = *by_noise != 0;
  made.over_bound = *over_bound != 0;
  return true;
}

// Nothing where a column is missing or of another type.
std::optional<DecisionSample> SampleAt(const DecisionColumns& columns, size_t sample) {
  const RecordJson& row = columns.row;
  const auto flip = FlipAt(columns, sample);
  const auto first = TextAt(row, columns.first + "/decision", sample);
  const auto second = TextAt(row, columns.second + "/decision", sample);
  const auto first_margin = NumberAt(row, columns.first + "/margin", sample);
  const auto second_margin = NumberAt(row, columns.second + "/margin", sample);
  const auto near_tie = NumberAt(row, columns.name + "/near_tie", sample);
  const auto similarity = NumberAt(row, columns.name + "/similarity", sample);
  if (!flip || !first || !second || !first_margin || !second_margin || !near_tie || !similarity) {
    return std::nullopt;
  }
  DecisionSample made;
  made.first = *first;
  made.second = *second;
  made.first_margin = *first_margin;
  made.second_margin = *second_margin;
  made.near_tie = *near_tie;
  made.similarity = *similarity;
  made.flip = *flip;
  if (!ReadMarks(columns, sample, made)) return std::nullopt;
  made.detail = TextAt(row, columns.name + "/detail", sample).value_or("");
  if (!ReadTotals(columns, sample, made)) return std::nullopt;
  const auto first_score = NumberAt(row, columns.first + "/score", sample);
  const auto second_score = NumberAt(row, columns.second + "/score", sample);
  if (!first_score || !second_score) return made;
  made.label = TextAt(row, columns.name + "/label", sample).value_or("");
  if (made.label.empty()) made.label = TextAt(row, "label", sample).value_or("");
  made.first_score = *first_score;
  made.second_score = *second_score;
  return made;
}

// The two sides, as they stand in the names of columns, in the order in which the pair has them.
std::pair<std::string, std::string> SidesOf(const RecordJson& row, const std::string& name,
                                            const std::string& pair) {
  const std::string end = "/" + name + std::string(kKindColumn);
  std::vector<std::string> sides;
  for (const auto& [key, value] : row.items()) {
    const std::string_view column = key;
    if (!column.ends_with(end)) continue;
    sides.emplace_back(column.substr(0, column.size() - end.size()));
  }
  if (sides.empty()) return {};
  for (const std::string& first : sides) {
    for (const std::string& second : sides) {
      if (PercentDecode(first) + " vs. " + PercentDecode(second) == pair) return {first, second};
    }
  }
  return {sides.front(), sides.back()};
}

size_t CountOfValues(const RecordJson& column) { return column.is_array() ? column.size() : 1; }

// Whether `column` is `prefix`, a slash and one of `ends`.
bool IsOneOf(std::string_view column, std::string_view prefix,
             std::span<const std::string_view> ends) {
  return column.starts_with(prefix) &&
         std::ranges::find(ends, column.substr(prefix.size())) != ends.end();
}

// Whether the column has a value for each sample of the decision. Labels of the row are of every
// decision that has scores and none of its own.
bool IsOfSamples(const DecisionColumns& columns, std::string_view column) {
  if (column == "label") {
    return columns.row.contains(columns.first + "/score") &&
           !columns.row.contains(columns.name + "/label");
  }
  constexpr std::string_view kOfSide[] = {"/decision", "/margin", "/score"};
  return column == columns.name + "/label" || IsOneOf(column, columns.name, kFlipEnds) ||
         IsOneOf(column, columns.name, kSampleEnds) || IsOneOf(column, columns.first, kOfSide) ||
         IsOneOf(column, columns.second, kOfSide);
}

// A value that is missing would take its sample out of every figure, or label another one.
std::string WhyUneven(const DecisionColumns& columns, size_t count) {
  const std::string total = columns.name + std::string(kSamplesEnd);
  const std::optional<int64_t> saved = CountAt(columns.row, total, 0);
  const bool given = saved != 0 || NumberAt(columns.row, total, 0) == 0.0;  // NaN: it is not
  if (given && saved != static_cast<int64_t>(count)) {
    return "'" + columns.name + "/flip' has " + Counted(count, "value") + ", and '" + total +
           "' says " + (saved ? std::to_string(*saved) : columns.row[total].dump());
  }
  for (const auto& [column, values] : columns.row.items()) {
    const size_t own = CountOfValues(values);
    if (own == count || !IsOfSamples(columns, column)) continue;
    return "'" + columns.name + "/flip' has " + Counted(count, "value") + ", and '" + column +
           "' has " + std::to_string(own);
  }
  return "";
}

// The decision whose kind is in the column `name`; nothing where its columns do not fit, with the
// reason in `why`, if there is one.
std::optional<DecisionRow> DecisionOf(const RecordJson& row, const std::string& name,
                                      const std::string& pair, std::string& why) {
  const auto [first, second] = SidesOf(row, name, pair);
  const DecisionColumns columns{row, name, first + "/" + name, second + "/" + name};
  const RecordJson* const flips = row.contains(name + "/flip") ? &row[name + "/flip"] : nullptr;
  const std::optional<std::string> kind = TextAt(row, name + std::string(kKindColumn), 0);
  if (flips == nullptr || !kind) return std::nullopt;
  // A second decision about an output has its kind behind a colon, which no encoded name has.
  DecisionRow decision{PercentDecode(name.substr(0, name.find(':'))), *kind, {}};
  const std::optional<int64_t> classes = CountAt(row, name + "/classes", 0);
  if (!classes) return std::nullopt;
  if (*classes > 0) decision.classes = classes;
  const size_t count = CountOfValues(*flips);
  why = WhyUneven(columns, count);
  if (!why.empty()) return std::nullopt;
  for (size_t i = 0; i < count; ++i) {
    std::optional<DecisionSample> sample = SampleAt(columns, i);
    if (!sample) return std::nullopt;
    const SampleFault fault = FindSampleFault(decision.kind, decision.classes, *sample);
    if (fault != SampleFault::kNone) {
      why =
          SampleFaultText(fault, {name, columns.first, columns.second}, decision.classes, *sample);
      if (count > 1) why += " (sample " + std::to_string(i) + ")";
      return std::nullopt;
    }
    decision.samples.push_back(*std::move(sample));
  }
  return decision;
}

// A list of sentences, which stays empty where there is none. False, with the reason in `why`,
// where it is something else: what it says would be lost.
bool ReadTexts(const RecordJson& row, const char* column, std::vector<std::string>& texts,
               std::string& why) {
  texts.clear();
  const auto found = row.find(column);
  if (found == row.end()) return true;
  const auto is_text = [](const RecordJson& one) { return one.is_string(); };
  if (!found->is_array() || !std::ranges::all_of(*found, is_text)) {
    why = "'" + std::string(column) + "' is not a list of texts: " + found->dump();
    return false;
  }
  for (const RecordJson& text : *found) texts.push_back(text.get<std::string>());
  return true;
}

// "2/3" or "2/3 of 1f2e3d4c5b6a7988". False, with the reason in `why`, where it says something
// else.
bool ReadShard(const RecordJson& row, std::optional<RowsShard>& shard, std::string& why) {
  shard.reset();
  const auto found = row.find("shard");
  if (found == row.end() || *found == "") return true;
  const std::string text = found->is_string() ? found->get<std::string>() : found->dump();
  const size_t slash = std::min(text.find('/'), text.size());
  const size_t of = std::min(text.find(kOfRun, slash), text.size());
  const auto number = ParseInt(text.substr(0, slash));
  const auto count = ParseInt(text.substr(std::min(slash + 1, of), of - std::min(slash + 1, of)));
  if (number && count && *number >= 1 && *number <= *count && *count <= kMostShards) {
    shard = RowsShard{*number, *count, text.substr(std::min(of + kOfRun.size(), text.size()))};
    return true;
  }
  why = "'shard' is not K/N: '" + text + "'";
  return false;
}

bool ReadEnd(const RecordJson& row, RowsEnd& end, std::string& why) {
  return ReadTexts(row, "not_done", end.not_done, why) &&
         ReadTexts(row, "unfit_labels", end.unfit_labels, why) &&
         ReadTexts(row, "passed_over", end.passed_over, why) && ReadShard(row, end.shard, why);
}

// The verdict of an output, where the column has one. False, with the reason in `why`, where it has
// something else: an output that failed would pass for one that did not.
bool ReadVerdict(const std::string& column, const RecordJson& value, IterationRow& row,
                 std::string& why) {
  std::optional<std::string> output = OutputOfVerdict(column);
  if (!output) return true;
  const std::string verdict = value.is_string() ? value.get<std::string>() : "";
  if (!value.is_string() || !IsVerdict(verdict)) {
    why = "'" + column + "' is not a verdict (passed, failed, not verified): " +
          (value.is_string() ? "'" + verdict + "'" : value.dump());
    return false;
  }
  OutputRow& made = row.outputs.emplace_back();
  made.output = *std::move(output);
  made.verdict = verdict;
  return true;
}

// False where it is no row, or its decisions lack a column or values of one, which `why` then says.
bool ReadRow(const RecordJson& json, IterationRow& row, std::string& why) {
  const auto index = json.find("index"), step = json.find("step"), pair = json.find("pair");
  const auto whole = [&](auto found) { return found != json.end() && found->is_number_integer(); };
  if (!whole(index) || !whole(step) || pair == json.end() || !pair->is_string()) return false;
  row.index = index->get<int64_t>();
  row.step = step->get<int64_t>();
  if (row.index < 0 || row.step < 0) return false;
  row.pair = pair->get<std::string>();
  const auto name = json.find("input_name"), place = json.find("input_index"),
             named = json.find("input_count");
  if (name != json.end() && name->is_string() && whole(place) && whole(named)) {
    row.file = {name->get<std::string>(), place->get<int64_t>(), named->get<int64_t>()};
    const FedFile& file = *row.file;
    if (!FitsIteration(file, row.index)) {
      why = "'input_index' " + std::to_string(file.place) + " is no place of iteration " +
            std::to_string(row.index) + " among " + Counted(file.named, "image");
      return false;
    }
  }
  if (!ReadEnd(json, row.end, why)) return false;
  for (const auto& [key, value] : json.items()) {
    const std::string_view column = key;
    if (!ReadVerdict(key, value, row, why)) return false;
    if (!column.ends_with(kKindColumn)) continue;
    const std::string name(column.substr(0, column.size() - kKindColumn.size()));
    if (name.find('/') != std::string::npos) continue;  // of a side
    std::optional<DecisionRow> decision = DecisionOf(json, name, row.pair, why);
    if (!decision) return false;
    row.decisions.push_back(*std::move(decision));
  }
  return true;
}

using TakeRow = std::function<Status(const IterationRow& row)>;

Status TakeJson(const RecordJson& json, const std::string& where, const TakeRow& take) {
  IterationRow row;
  std::string why;
  if (!json.is_object() || !ReadRow(json, row, why)) {
    if (!why.empty()) return Malformed(where + ": " + why);
    return Malformed(where +
                     ": expected a row of --save-rows, whose decisions have all their columns");
  }
  return take(row);
}

void NoteEnd(const RecordJson& json, RowsExtent& extent) {
  const auto count = json.find("row_count");
  if (count == json.end() || !count->is_number_unsigned()) return;
  extent.saved += count->get<uint64_t>();
  extent.ended = true;
}

}  // namespace

Result<RowsExtent> ForEachDecisionRow(const std::string& path, const TakeRow& take) {
  size_t number = 0;
  const auto take_json = [&](const RecordJson& json, std::string_view noun) {
    return TakeJson(json, "'" + path + "', " + std::string(noun) + " " + std::to_string(number),
                    take);
  };
  if (path.ends_with(".npz")) {
    const auto take_plain = [&](const IterationRow& row) {
      ++number;
      return take(row);
    };
    return ForEachArrayRow(path, take_plain, [&](const RecordJson& json) {
      ++number;
      return take_json(json, "row");
    });
  }
  std::ifstream file(path);
  if (!file) return IoError("'" + path + "' cannot be read: " + std::strerror(errno));
  FileLines lines(file);
  DecisionLines plain;
  IterationRow row;
  RowsExtent extent;
  while (const std::optional<std::string_view> line = lines.Next()) {
    extent.rows = ++number;
    extent.ended = false;
    if (plain.Read(*line, row)) {
      VERNIER_TRY(take(row));
      continue;
    }
    const RecordJson json = RecordJson::parse(*line, nullptr, false);
    VERNIER_TRY(take_json(json, "line"));
    NoteEnd(json, extent);
  }
  if (file.bad()) return IoError("'" + path + "' cannot be read: " + std::strerror(errno));
  return extent;
}

}  // namespace vernier
