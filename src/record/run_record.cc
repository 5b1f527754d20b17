#include "record/run_record.h"

#include <cmath>
#include <nlohmann/json.hpp>

namespace vernier {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kSchemaVersion = 1;

Json Number(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

Json ToJson(const RunnerRecord& runner) {
  Json json = {
      {"name", runner.name},
      {"backend", runner.backend},
      {"framework_version", runner.framework_version},
      {"framework_path", runner.framework_path},
      {"model", runner.model},
      {"device", runner.device},
      {"precision", runner.precision},
      {"load_seconds", runner.load_seconds},
      {"iterations", runner.iterations},
      {"failure", runner.failure.empty() ? Json() : Json(runner.failure)},
  };
  if (runner.latency) {
    json["latency_seconds"] = {{"first", runner.latency->first},
                               {"median", runner.latency->median},
                               {"p95", runner.latency->p95}};
  }
  json["skipped_outputs"] = Json::array();
  for (const auto& [name, why] : runner.skipped_outputs) {
    json["skipped_outputs"].push_back({{"name", name}, {"why", why}});
  }
  return json;
}

Json ToJson(const OutputRecord& output) {
  return {
      {"name", output.name},
      {"other_name", output.other_name.empty() ? output.name : output.other_name},
      {"paired_by", output.paired_by},
      {"compared_iterations", output.compared},
      {"passed_iterations", output.passed},
      {"passed", output.compared > 0 && output.passed == output.compared},
      {"elements", output.elements},
      {"mismatches", output.mismatches},
      {"not_finite", output.not_finite},
      {"times_over_tolerance", Number(output.worst_times_tolerance)},
      {"max_absolute_error", Number(output.max_absolute_error)},
      {"max_relative_error", Number(output.max_relative_error)},
      {"mean_absolute_error", Number(output.mean_absolute_error)},
      {"required_absolute_tolerance", Number(output.required_absolute)},
      {"required_relative_tolerance", Number(output.required_relative)},
      {"vacuous", output.vacuous.empty() ? Json() : Json(output.vacuous)},
  };
}

Json ToJson(const PairRecord& pair) {
  Json outputs = Json::array();
  for (const OutputRecord& output : pair.outputs) outputs.push_back(ToJson(output));
  return {
      {"first", pair.first},
      {"second", pair.second},
      {"compared_iterations", pair.compared_iterations},
      {"passed_iterations", pair.passed_iterations},
      {"expected_iterations", pair.expected_iterations},
      {"outputs", std::move(outputs)},
      {"only_in_first", pair.only_in_first},
      {"only_in_second", pair.only_in_second},
  };
}

// The two summaries that scripts of the founding documents read.
Json ComparisonResults(const RunRecord& record) {
  Json results = Json::object();
  for (const PairRecord& pair : record.pairs) {
    for (const OutputRecord& output : pair.outputs) {
      results[output.name] = {
          {"max_error", Number(output.max_absolute_error)},
          {"mean_error", Number(output.mean_absolute_error)},
          {"passed", output.compared > 0 && output.passed == output.compared},
          {"error_distribution",
           {{"elements", output.elements}, {"out_of_tolerance", output.mismatches}}},
      };
    }
  }
  return results;
}

Json InferenceResults(const RunRecord& record) {
  Json results = Json::object();
  std::string saved_outputs;
  for (const auto& [what, where] : record.saved) {
    if (what == "outputs") saved_outputs = where;
  }
  for (const RunnerRecord& runner : record.runners) {
    results[runner.name] = saved_outputs.empty() ? Json() : Json(saved_outputs);
  }
  return results;
}

}  // namespace

std::string ToJson(const RunRecord& record) {
  Json json = {
      {"schema_version", kSchemaVersion},
      {"vernier_version", record.version},
      {"command", record.command},
      {"exit_code", record.exit_code},
      {"complete", record.faults.empty() && record.error.empty()},
      {"error", record.error.empty() ? Json() : Json(record.error)},
      {"faults", record.faults},
      {"notes", record.notes},
      {"seconds", record.seconds},
      {"aggregation", record.averaged ? "average" : "per_iteration"},
      {"runners", Json::array()},
      {"pairs", Json::array()},
  };
  for (const RunnerRecord& runner : record.runners) json["runners"].push_back(ToJson(runner));
  for (const PairRecord& pair : record.pairs) json["pairs"].push_back(ToJson(pair));
  json["inference_results"] = InferenceResults(record);
  json["comparison_results"] = ComparisonResults(record);
  // Names come from models: bytes that are no UTF-8 must not stop the record.
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace vernier
