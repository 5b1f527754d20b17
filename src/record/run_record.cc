#include "record/run_record.h"

#include <cmath>

#include "record/record_json.h"

namespace vernier {

using Json = RecordJson;

Json NumberJson(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

Json NumberJson(const std::optional<double>& value) {
  return value ? NumberJson(*value) : Json();
}

Json TextJson(const std::string& text) { return text.empty() ? Json() : Json(text); }

std::string DumpJson(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

Json ToJsonValue(const RunnerRecord& runner) {
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

namespace {

Json Place(const std::optional<std::vector<int64_t>>& index) {
  return index ? Json(*index) : Json();
}

Json ToJson(const ElementRecord& element) {
  return {
      {"index", element.index},
      {"first", element.first_text ? Json(*element.first_text) : NumberJson(element.first)},
      {"second", element.second_text ? Json(*element.second_text) : NumberJson(element.second)},
      {"absolute_error", NumberJson(element.absolute_error)},
      {"relative_error", NumberJson(element.relative_error)},
      {"times_over_tolerance", NumberJson(element.times_tolerance)},
  };
}

Json ToJson(const SideRecord& side) {
  return {
      {"dtype", side.dtype},
      {"min", NumberJson(side.min)},
      {"max", NumberJson(side.max)},
      {"mean", NumberJson(side.mean)},
      {"std_dev", NumberJson(side.std_dev)},
      {"nan", side.nan_count},
      {"first_nan", Place(side.first_nan)},
      {"infinite", side.infinite_count},
      {"first_infinite", Place(side.first_infinite)},
  };
}

Json ToJson(const DistanceRecord& distances) {
  return {
      {"l2", NumberJson(distances.l2)},
      {"rmse", NumberJson(distances.rmse)},
      {"cosine_similarity", NumberJson(distances.cosine_similarity)},
      {"psnr", NumberJson(distances.psnr)},
      {"snr", NumberJson(distances.snr)},
      {"kl_divergence", NumberJson(distances.kl_divergence)},
      {"max_ulp", distances.max_ulp ? Json(*distances.max_ulp) : Json()},
      {"max_ulp_index", distances.max_ulp ? Json(distances.max_ulp_index) : Json()},
      {"ulp_different", distances.max_ulp ? Json(distances.ulp_different) : Json()},
  };
}

Json ToJson(const GateRecord& gate) {
  return {
      {"function", gate.function},
      {"verdict", gate.verdict},
      {"why", TextJson(gate.why)},
      {"value", NumberJson(gate.value)},
      {"threshold", NumberJson(gate.threshold)},
  };
}

Json ToJson(const OutputFigures& figures) {
  Json gates = Json::array();
  for (const GateRecord& gate : figures.gates) gates.push_back(ToJson(gate));
  Json worst = Json::array();
  for (const ElementRecord& element : figures.worst) worst.push_back(ToJson(element));
  return {
      {"iteration", figures.iteration},
      {"shape", figures.shape},
      {"gates", std::move(gates)},
      {"first", figures.first ? ToJson(*figures.first) : Json()},
      {"second", figures.second ? ToJson(*figures.second) : Json()},
      {"distances", figures.distances ? ToJson(*figures.distances) : Json()},
      {"worst_elements", std::move(worst)},
      {"suggestion", TextJson(figures.suggestion)},
      {"charts", figures.charts ? ToJsonValue(*figures.charts) : Json()},
  };
}

Json ToJson(const BarRecord& bar) {
  return {
      {"bar", NumberJson(bar.bar)},
      {"scale", NumberJson(bar.scale)},
      {"rms_error", NumberJson(bar.rms)},
      {"gain", NumberJson(bar.gain)},
      {"gain_bar", NumberJson(bar.gain_bar)},
      {"clean_bar", NumberJson(bar.clean_bar)},
      {"share_beyond", NumberJson(bar.share_beyond)},
      {"share_allowed", NumberJson(bar.share_allowed)},
      {"element_bar", NumberJson(bar.element_bar)},
      {"times_over", NumberJson(bar.times_over)},
      {"why", bar.why},
  };
}

}  // namespace

Json ToJsonValue(const OutputRecord& output) {
  const bool share = output.allowed_share > 0;
  return {
      {"name", output.name},
      {"other_name", output.other_name.empty() ? output.name : output.other_name},
      {"paired_by", output.paired_by},
      {"compared_iterations", output.compared},
      {"passed_iterations", output.passed},
      {"not_verified_iterations", output.not_verified},
      {"passed", output.compared > 0 && output.passed == output.compared},
      {"elements", output.elements},
      {"mismatches", output.mismatches},
      {"tolerances_checked", output.tolerances_checked},
      {"allowed_mismatch_share", share ? Json(output.allowed_share) : Json()},
      {"allowed_mismatch_excess", share ? NumberJson(output.allowed_excess) : Json()},
      {"not_finite", output.not_finite},
      {"times_over_tolerance", NumberJson(output.worst_times_tolerance)},
      {"max_absolute_error", NumberJson(output.max_absolute_error)},
      {"max_relative_error", NumberJson(output.max_relative_error)},
      {"mean_absolute_error", NumberJson(output.mean_absolute_error)},
      {"required_absolute_tolerance", NumberJson(output.required_absolute)},
      {"required_relative_tolerance", NumberJson(output.required_relative)},
      {"vacuous", TextJson(output.vacuous)},
      {"worst_iteration", ToJson(output.figures)},
      {"auto_tolerance", output.bar ? ToJson(*output.bar) : Json()},
  };
}

namespace {

Json ToJson(const PairRecord& pair) {
  Json outputs = Json::array();
  for (const OutputRecord& output : pair.outputs) outputs.push_back(ToJsonValue(output));
  return {
      {"first", pair.first},
      {"second", pair.second},
      {"compared_iterations", pair.compared_iterations},
      {"passed_iterations", pair.passed_iterations},
      {"rejected_by_strict", pair.rejected},
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
          {"max_error", NumberJson(output.max_absolute_error)},
          {"mean_error", NumberJson(output.mean_absolute_error)},
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
      {"schema_version", kRecordSchemaVersion},
      {"vernier_version", record.version},
      {"command", record.command},
      {"origin", ToJsonValue(record.origin)},
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
  for (const RunnerRecord& runner : record.runners) json["runners"].push_back(ToJsonValue(runner));
  for (const PairRecord& pair : record.pairs) json["pairs"].push_back(ToJson(pair));
  json["inference_results"] = InferenceResults(record);
  json["comparison_results"] = ComparisonResults(record);
  json["saved"] = Json::array();
  for (const auto& [what, where] : record.saved) {
    json["saved"].push_back({{"what", what}, {"where", where}});
  }
  json["graph"] = record.graph ? ToJsonValue(*record.graph) : Json();
  json["profile"] = record.profile ? ToJsonValue(*record.profile) : Json();
  return DumpJson(json, 2) + "\n";
}

}  // namespace vernier
