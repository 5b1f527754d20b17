#include "vernier/run_record.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "record/schema/record_json.h"
#include "record/schema/record_visit.h"

namespace vernier {

using Json = RecordJson;

Json NumberJson(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

Json NumberJson(const std::optional<double>& value) { return value ? NumberJson(*value) : Json(); }

Json TextJson(const std::string& text) { return text.empty() ? Json() : Json(text); }

std::string DumpJson(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

Json ComparisonResults(const RunRecord& record) {
  Json results = Json::object();
  for (const PairRecord& pair : record.pairs) {
    for (const OutputRecord& output : pair.outputs) {
      results[output.name] = {
          {"max_error", NumberJson(output.max_absolute_error)},
          {"mean_error", NumberJson(output.mean_absolute_error)},
          {"passed", output.agrees()},
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

namespace {

void DropFolder(std::string& path) {
  if (path.starts_with('/')) path.erase(0, path.rfind('/') + 1);
}

// Python names a thread by its address where it reports a crash: "Current thread 0x00007f... (most
// recent call first)".
void DropThreadAddress(std::string& text) {
  constexpr std::string_view kThread = "hread 0x";
  for (size_t at = text.find(kThread); at != std::string::npos; at = text.find(kThread, at)) {
    at += kThread.size();
    const size_t end = text.find_first_not_of("0123456789abcdef", at);
    text.replace(at, (end == std::string::npos ? text.size() : end) - at, "...");
  }
}

}  // namespace

RunRecord Reproducible(RunRecord record) {
  record.command.clear();
  record.origin = {};
  record.saved.clear();
  record.seconds = 0;
  record.shards.clear();
  for (RunnerRecord& runner : record.runners) {
    DropFolder(runner.model);
    runner.framework_path.clear();
    runner.load_seconds = 0;
    runner.latency.reset();
    DropThreadAddress(runner.failure);
  }
  DropThreadAddress(record.error);
  for (auto* const sentences : {&record.faults, &record.rejections, &record.notes}) {
    std::ranges::for_each(*sentences, DropThreadAddress);
  }
  if (record.graph) DropFolder(record.graph->model);
  return record;
}

std::string ToJson(const RunRecord& record) { return DumpJson(WriteFields(record), 2) + "\n"; }

}  // namespace vernier
