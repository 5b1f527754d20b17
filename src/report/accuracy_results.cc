#include "report/accuracy_results.h"

#include <algorithm>
#include <string_view>

#include "io/byte_sink.h"
#include "io/json_writer.h"
#include "util/atomic_file.h"

namespace vernier {
namespace {

struct MetricClass {
  CompareFunction function;
  std::string_view field;
  std::string_view result;
  std::string_view threshold;
};

constexpr MetricClass kMetricClasses[] = {
    {CompareFunction::kL2, "l2_norm", "L2Result", "L2Threshold"},
    {CompareFunction::kCosineSimilarity, "cosine_similarity", "CosineSimilarityResult",
     "CosineSimilarityThreshold"},
    {CompareFunction::kPsnr, "psnr", "PsnrResult", "PsnrThreshold"},
    {CompareFunction::kSnr, "snr", "SnrResult", "SnrThreshold"},
};

void ClassName(JsonWriter& json, std::string_view name) {
  json.Key("polygraphy_class");
  json.String(name);
}

void Number(JsonWriter& json, std::string_view key, double value) {
  json.Key(key);
  json.Double(value);
}

void WriteSimple(JsonWriter& json, const FunctionResult& result, const SimpleResult& simple) {
  const RequiredTolerance& required = simple.required.back();
  const ValueStatistics& absolute = simple.difference.absolute;
  const ValueStatistics& relative = simple.difference.relative;
  json.BeginObject();
  Number(json, "max_absdiff", absolute.max);
  Number(json, "max_reldiff", relative.max);
  Number(json, "mean_absdiff", absolute.mean);
  Number(json, "mean_reldiff", relative.mean);
  Number(json, "median_absdiff", absolute.median);
  Number(json, "median_reldiff", relative.median);
  for (const bool is_absolute : {true, false}) {
    json.Key(is_absolute ? "quantile_absdiff" : "quantile_reldiff");
    if (required.stat == ErrorStat::kQuantile) {
      json.Double(is_absolute ? required.absolute : required.relative);
    } else {
      json.Null();
    }
  }
  json.Key("thresholds");
  json.BeginObject();
  json.Key("check_error_stat");
  json.String(ErrorStatName(required.stat));
  Number(json, "atol", simple.atol);
  Number(json, "rtol", simple.rtol);
  ClassName(json, "SimpleThreshold");
  json.EndObject();
  json.Key("passed");
  // Only the verdict on elements cannot be made again from the statistics.
  if (required.stat == ErrorStat::kElemwise) {
    json.Bool(result.passed());
  } else {
    json.Null();
  }
  ClassName(json, "OutputCompareResult");
  json.EndObject();
}

void WriteMetric(JsonWriter& json, const MetricClass& names, const MetricResult& metric) {
  json.BeginObject();
  Number(json, names.field, metric.value);
  json.Key("thresholds");
  json.BeginObject();
  Number(json, "threshold", metric.threshold);
  ClassName(json, names.threshold);
  json.EndObject();
  ClassName(json, names.result);
  json.EndObject();
}

void WriteResult(JsonWriter& json, const FunctionResult& result) {
  const auto names = std::find_if(std::begin(kMetricClasses), std::end(kMetricClasses),
                                  [&](const MetricClass& m) { return m.function == result.function; });
  const auto* simple = std::get_if<SimpleResult>(&result.data);
  const auto* metric = std::get_if<MetricResult>(&result.data);
  if (simple != nullptr && !simple->required.empty()) {
    WriteSimple(json, result, *simple);
  } else if (metric != nullptr && names != std::end(kMetricClasses)) {
    WriteMetric(json, *names, *metric);
  } else {
    json.Bool(result.passed());
  }
}

}  // namespace

void AccuracyRecorder::AddPair(std::string first, std::string second) {
  Pair& pair = pairs_.emplace_back();
  pair.first = std::move(first);
  pair.second = std::move(second);
  pair.iterations.resize(options_.functions.size());
}

void AccuracyRecorder::Add(const IterationComparison& comparison) {
  const auto pair = std::find_if(pairs_.begin(), pairs_.end(), [&](const Pair& p) {
    return p.first == comparison.a_runner && p.second == comparison.b_runner;
  });
  if (pair == pairs_.end()) return;
  for (size_t f = 0; f < options_.functions.size(); ++f) {
    Iteration& iteration = pair->iterations[f].emplace_back();
    for (const OutputComparison& output : comparison.outputs) {
      const FunctionResult* result = output.Find(options_.functions[f]);
      if (result == nullptr) continue;
      iteration.push_back({output.a_name, *result});
      if (auto* simple = std::get_if<SimpleResult>(&iteration.back().result.data)) {
        simple->detail.reset();
        simple->mismatch_places.clear();
      }
    }
  }
}

Status AccuracyRecorder::Save(const std::string& path) const {
  VERNIER_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(path));
  AtomicFileSink sink(file);
  JsonWriter json(sink);
  json.BeginObject();
  json.Key("lst");
  json.BeginArray();
  for (size_t f = 0; f < options_.functions.size(); ++f) {
    json.BeginObject();
    json.Key("lst");
    json.BeginArray();
    for (const Pair& pair : pairs_) {
      json.BeginArray();
      json.BeginArray();
      json.String(pair.first);
      json.String(pair.second);
      json.EndArray();
      json.BeginArray();
      for (const Iteration& iteration : pair.iterations[f]) {
        json.BeginObject();
        for (const Output& output : iteration) {
          json.Key(output.name);
          WriteResult(json, output.result);
        }
        json.EndObject();
      }
      json.EndArray();
      json.EndArray();
    }
    json.EndArray();
    json.Key("aggregation");
    json.String(options_.check_average ? "average" : "per_sample");
    ClassName(json, "AccuracyResult");
    json.EndObject();
  }
  json.EndArray();
  ClassName(json, "AccuracyResults");
  json.EndObject();
  VERNIER_TRY(json.Finish());
  return file.Commit();
}

}  // namespace vernier
