#include "report/files/accuracy_file.h"

#include <algorithm>
#include <string_view>

#include "compare/functions/metric_table.h"
#include "io/bytes/byte_sink.h"
#include "io/json/json_writer.h"
#include "io/polygraphy/polygraphy_document.h"
#include "util/files/atomic_file.h"

namespace vernier {
namespace {

using JsonKind = JsonValue::Kind;

constexpr std::string_view kClass = "polygraphy_class";
constexpr std::string_view kOurMeasures = "vernier_measures";
constexpr std::string_view kSimpleResult = "OutputCompareResult";

// Has Polygraphy a class for the numbers of this metric?
bool HasClass(const MetricRow* metric) { return metric != nullptr && !metric->is_ours(); }

std::string ResultClassOf(const MetricRow& metric) {
  return std::string(metric.polygraphy) + "Result";
}

struct StatField {
  ErrorStat stat;
  size_t side;  ///< 0: absolute
  std::string_view name;
};

constexpr StatField kStatFields[] = {
    {ErrorStat::kMax, 0, "max_absdiff"},           {ErrorStat::kMax, 1, "max_reldiff"},
    {ErrorStat::kMean, 0, "mean_absdiff"},         {ErrorStat::kMean, 1, "mean_reldiff"},
    {ErrorStat::kMedian, 0, "median_absdiff"},     {ErrorStat::kMedian, 1, "median_reldiff"},
    {ErrorStat::kQuantile, 0, "quantile_absdiff"}, {ErrorStat::kQuantile, 1, "quantile_reldiff"},
};

void WriteNumber(JsonWriter& json, std::string_view key, const std::optional<double>& value) {
  json.Key(key);
  value ? json.Double(*value) : json.Null();
}

void WriteClass(JsonWriter& json, std::string_view name) {
  json.Key(kClass);
  json.String(name);
}

// Polygraphy knows one statistic: one that fails, so that its verdict is ours.
ErrorStat DecidingStat(const SavedSimple& simple) {
  for (const ErrorStat stat : simple.checked) {
    if (!simple.Passes(stat)) return stat;
  }
  return simple.checked.empty() ? ErrorStat::kElemwise : simple.checked.back();
}

void WriteSimple(JsonWriter& json, const SavedSimple& simple) {
  const ErrorStat stat = DecidingStat(simple);
  json.BeginObject();
  for (const StatField& field : kStatFields) {
    WriteNumber(json, field.name, simple.statistics[static_cast<size_t>(field.stat)][field.side]);
  }
  json.Key("thresholds");
  json.BeginObject();
  json.Key("check_error_stat");
  json.String(ErrorStatName(stat));
  WriteNumber(json, "atol", simple.atol);
  WriteNumber(json, "rtol", simple.rtol);
  WriteClass(json, "SimpleThreshold");
  json.EndObject();
  json.Key("passed");
  // Only the verdict on elements cannot be made again from the statistics.
  if (stat == ErrorStat::kElemwise) {
    json.Bool(simple.Passes(stat));
  } else {
    json.Null();
  }
  WriteClass(json, kSimpleResult);
  json.EndObject();
}

void WriteMetric(JsonWriter& json, const MetricRow& row, const SavedMetric& metric) {
  json.BeginObject();
  WriteNumber(json, row.field, metric.value);
  json.Key("thresholds");
  json.BeginObject();
  WriteNumber(json, "threshold", metric.threshold);
  WriteClass(json, row.polygraphy_threshold);
  json.EndObject();
  WriteClass(json, ResultClassOf(row));
  json.EndObject();
}

void WriteResult(JsonWriter& json, const SavedResult& result) {
  if (const auto* simple = std::get_if<SavedSimple>(&result)) return WriteSimple(json, *simple);
  if (const auto* script = std::get_if<SavedScript>(&result)) {
    if (Status status = json.BeginRaw().WriteText(script->json); !status.ok()) {
      json.Fail(std::move(status));
    }
    return;
  }
  const auto* metric = std::get_if<SavedMetric>(&result);
  const MetricRow* const row = metric == nullptr ? nullptr : FindMetric(metric->function);
  // To Polygraphy, a perceptual distance that is missing is a pass.
  if (HasClass(row) && metric->value) return WriteMetric(json, *row, *metric);
  json.Bool(Passed(result));
}

void WriteOurResult(JsonWriter& json, const SavedResult& result) {
  const auto* metric = std::get_if<SavedMetric>(&result);
  if (metric == nullptr) return json.Null();
  json.BeginObject();
  WriteNumber(json, "value", metric->value);
  WriteNumber(json, "threshold", metric->threshold);
  json.EndObject();
}

using ResultWriter = void (*)(JsonWriter&, const SavedResult&);

void WriteIterations(JsonWriter& json, const SavedPair& pair, ResultWriter write) {
  json.BeginArray();
  for (const SavedIteration& iteration : pair.iterations) {
    json.BeginObject();
    for (const SavedOutput& output : iteration) {
      json.Key(output.name);
      write(json, output.result);
    }
    json.EndObject();
  }
  json.EndArray();
}

void WriteOurMetrics(JsonWriter& json, const SavedFunction& saved, CompareFunction function) {
  json.Key(kOurMeasures);
  json.BeginObject();
  json.Key("function");
  json.String(CompareFunctionName(function));
  json.Key("lst");
  json.BeginArray();
  for (const SavedPair& pair : saved.pairs) WriteIterations(json, pair, WriteOurResult);
  json.EndArray();
  json.EndObject();
}

void WriteFunction(JsonWriter& json, const SavedFunction& function) {
  json.BeginObject();
  json.Key("lst");
  json.BeginArray();
  for (const SavedPair& pair : function.pairs) {
    json.BeginArray();
    json.BeginArray();
    json.String(pair.first);
    json.String(pair.second);
    json.EndArray();
    WriteIterations(json, pair, WriteResult);
    json.EndArray();
  }
  json.EndArray();
  json.Key("aggregation");
  json.String(function.averaged ? "average" : "per_sample");
  const std::optional<CompareFunction> measured = function.function();
  const MetricRow* const metric = measured ? FindMetric(*measured) : nullptr;
  if (metric != nullptr && metric->is_ours()) WriteOurMetrics(json, function, *measured);
  WriteClass(json, "AccuracyResult");
  json.EndObject();
}

Status Bad(const JsonValue& value, std::string_view expected) {
  return Malformed("expected " + std::string(expected) + " at byte " +
                   std::to_string(value.offset()) + ", found " + std::string(value.KindName()));
}

// The value of a key, which must be there.
Result<JsonValue> Member(const JsonValue& object, std::string_view key) {
  const std::optional<JsonValue> found = object.Find(key);
  if (!found) {
    return Malformed("the object at byte " + std::to_string(object.offset()) + " lacks '" +
                     std::string(key) + "'");
  }
  return *found;
}

Result<std::vector<JsonValue>> Array(const JsonValue& object, std::string_view key) {
  VERNIER_ASSIGN_OR_RETURN(const JsonValue array, Member(object, key));
  if (!array.is(JsonKind::kArray)) return Bad(array, "an array");
  return array.Elements();
}

// A number, or nothing where the file has null.
Result<std::optional<double>> OptionalNumber(const JsonValue& object, std::string_view key) {
  VERNIER_ASSIGN_OR_RETURN(const JsonValue value, Member(object, key));
  if (value.is(JsonKind::kNull)) return std::optional<double>();
  if (!value.is(JsonKind::kNumber)) return Bad(value, "a number");
  return std::optional<double>(JsonNumberValue(value.raw()));
}

Result<double> Number(const JsonValue& object, std::string_view key) {
  VERNIER_ASSIGN_OR_RETURN(const std::optional<double> value, OptionalNumber(object, key));
  if (value) return *value;
  return Malformed("'" + std::string(key) + "' of the object at byte " +
                   std::to_string(object.offset()) + " is null");
}

Result<SavedResult> ReadSimple(const JsonValue& object) {
  SavedSimple simple;
  for (const StatField& field : kStatFields) {
    VERNIER_ASSIGN_OR_RETURN(simple.statistics[static_cast<size_t>(field.stat)][field.side],
                             OptionalNumber(object, field.name));
  }
  VERNIER_ASSIGN_OR_RETURN(const JsonValue thresholds, Member(object, "thresholds"));
  VERNIER_ASSIGN_OR_RETURN(simple.atol, Number(thresholds, "atol"));
  VERNIER_ASSIGN_OR_RETURN(simple.rtol, Number(thresholds, "rtol"));
  VERNIER_ASSIGN_OR_RETURN(const JsonValue name, Member(thresholds, "check_error_stat"));
  const std::optional<ErrorStat> stat = ErrorStatFromName(name.Text());
  if (!stat) return Bad(name, "the name of a statistic");
  simple.checked.push_back(*stat);
  VERNIER_ASSIGN_OR_RETURN(const JsonValue passed, Member(object, "passed"));
  if (passed.is(JsonKind::kTrue) || passed.is(JsonKind::kFalse)) {
    simple.elemwise_passed = passed.is(JsonKind::kTrue);
  }
  return SavedResult(std::move(simple));
}

Result<SavedResult> ReadResult(const JsonValue& value) {
  if (value.is(JsonKind::kTrue) || value.is(JsonKind::kFalse))
    return SavedResult(value.is(JsonKind::kTrue));
  const std::optional<JsonValue> class_name = value.Find(kClass);
  if (!class_name) return Bad(value, "the result of a comparison");
  const std::string name = class_name->Text();
  if (name == kSimpleResult) return ReadSimple(value);
  for (const MetricRow& row : MetricTable()) {
    if (row.is_ours() || ResultClassOf(row) != name) continue;
    SavedMetric metric;
    metric.function = row.function;
    VERNIER_ASSIGN_OR_RETURN(metric.value, OptionalNumber(value, row.field));
    VERNIER_ASSIGN_OR_RETURN(const JsonValue thresholds, Member(value, "thresholds"));
    VERNIER_ASSIGN_OR_RETURN(metric.threshold, Number(thresholds, "threshold"));
    return SavedResult(metric);
  }
  return Malformed("results of type '" + name + "' are not known here");
}

Result<SavedPair> ReadPair(const JsonValue& value) {
  const std::vector<JsonValue> parts = value.Elements();
  const std::vector<JsonValue> names =
      parts.size() == 2 ? parts[0].Elements() : std::vector<JsonValue>();
  if (names.size() != 2 || !parts[1].is(JsonKind::kArray)) {
    return Bad(value, "two names of runners and their iterations");
  }
  SavedPair pair{names[0].Text(), names[1].Text(), {}};
  for (const JsonValue& iteration : parts[1].Elements()) {
    if (!iteration.is(JsonKind::kObject)) return Bad(iteration, "an object of outputs");
    SavedIteration& outputs = pair.iterations.emplace_back();
    for (const JsonValue::Member& member : iteration.Members()) {
      VERNIER_ASSIGN_OR_RETURN(SavedResult result, ReadResult(member.value));
      outputs.push_back({member.key, std::move(result)});
    }
  }
  return pair;
}

// Puts the values of our own metrics in the place of their bare verdicts.
Status ReadOurMetrics(const JsonValue& value, SavedFunction& function) {
  VERNIER_ASSIGN_OR_RETURN(const JsonValue name, Member(value, "function"));
  const std::optional<CompareFunction> measure = CompareFunctionFromName(name.Text());
  if (!measure || FindMetric(*measure) == nullptr) return Bad(name, "the name of a metric");
  VERNIER_ASSIGN_OR_RETURN(const std::vector<JsonValue> pairs, Array(value, "lst"));
  if (pairs.size() != function.pairs.size())
    return Bad(value, "as many pairs as there are results");
  for (size_t p = 0; p < pairs.size(); ++p) {
    const std::vector<JsonValue> iterations = pairs[p].Elements();
    std::vector<SavedIteration>& saved = function.pairs[p].iterations;
    if (iterations.size() != saved.size()) return Bad(pairs[p], "as many iterations as results");
    for (size_t i = 0; i < saved.size(); ++i) {
      for (SavedOutput& output : saved[i]) {
        const std::optional<JsonValue> found = iterations[i].Find(output.name);
        if (!found || !found->is(JsonKind::kObject)) continue;
        SavedMetric metric{*measure, {}, 0};
        VERNIER_ASSIGN_OR_RETURN(metric.value, OptionalNumber(*found, "value"));
        VERNIER_ASSIGN_OR_RETURN(metric.threshold, Number(*found, "threshold"));
        output.result = metric;
      }
    }
  }
  return {};
}

Result<SavedFunction> ReadFunction(const JsonValue& value) {
  SavedFunction function;
  VERNIER_ASSIGN_OR_RETURN(const JsonValue aggregation, Member(value, "aggregation"));
  const std::string how = aggregation.Text();
  if (how != "average" && how != "per_sample") return Bad(aggregation, "'average' or 'per_sample'");
  function.averaged = how == "average";
  VERNIER_ASSIGN_OR_RETURN(const std::vector<JsonValue> pairs, Array(value, "lst"));
  for (const JsonValue& element : pairs) {
    VERNIER_ASSIGN_OR_RETURN(SavedPair pair, ReadPair(element));
    function.pairs.push_back(std::move(pair));
  }
  const std::optional<JsonValue> ours = value.Find(kOurMeasures);
  if (ours) VERNIER_TRY(ReadOurMetrics(*ours, function));
  return function;
}

Result<AccuracyResults> ReadResults(const JsonValue& root) {
  const std::optional<JsonValue> class_name = root.Find(kClass);
  if (!class_name || class_name->Text() != "AccuracyResults") {
    return Malformed(
        "expected a file that --save-accuracy-results wrote, found " +
        (class_name ? "one of type '" + class_name->Text() + "'" : std::string(root.KindName())));
  }
  VERNIER_ASSIGN_OR_RETURN(const std::vector<JsonValue> functions, Array(root, "lst"));
  AccuracyResults results;
  for (const JsonValue& element : functions) {
    VERNIER_ASSIGN_OR_RETURN(SavedFunction function, ReadFunction(element));
    results.functions.push_back(std::move(function));
  }
  return results;
}

}  // namespace

Status WriteAccuracyResults(const AccuracyResults& results, const std::string& path) {
  VERNIER_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(path));
  AtomicFileSink sink(file);
  JsonWriter json(sink);
  json.BeginObject();
  json.Key("lst");
  json.BeginArray();
  for (const SavedFunction& function : results.functions) WriteFunction(json, function);
  json.EndArray();
  WriteClass(json, "AccuracyResults");
  json.EndObject();
  VERNIER_TRY(json.Finish());
  return file.Commit();
}

Result<AccuracyResults> ReadAccuracyResults(const std::string& path) {
  VERNIER_ASSIGN_OR_RETURN(const std::unique_ptr<PolygraphyDocument> document,
                           PolygraphyDocument::Open(path));
  Result<AccuracyResults> results = ReadResults(document->root());
  if (!results.ok()) return document->Annotate(results.status());
  return results;
}

}  // namespace vernier
