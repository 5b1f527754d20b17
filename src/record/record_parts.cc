// Charts, graphs and profiles as JSON, and the record line by line.
#include "record/blame_record.h"
#include "record/record_json.h"

namespace vernier {

using Json = RecordJson;

namespace {

Json ToJson(const DecadesRecord& decades) {
  return {{"first_decade", decades.first_decade},
          {"counts", decades.counts},
          {"equal", decades.equal},
          {"not_finite", decades.not_finite}};
}

Json ToJson(const HeatRecord& heat) {
  return {{"rows", heat.rows},
          {"columns", heat.columns},
          {"matrix_rows", heat.matrix_rows},
          {"matrix_columns", heat.matrix_columns},
          {"row_axes", heat.row_axes},
          {"least", NumberJson(heat.least)},
          {"most", NumberJson(heat.most)},
          {"cells", heat.cells}};
}

Json ToJson(const LatencyStatistics& latency) {
  return {{"count", latency.count},
          {"mean", latency.mean},
          {"std_dev", latency.std_dev},
          {"min", latency.min},
          {"max", latency.max},
          {"median", latency.median},
          {"p90", latency.p90},
          {"p95", latency.p95},
          {"p99", latency.p99},
          {"median_noise", NumberJson(latency.median_noise)},
          {"drift", NumberJson(latency.drift)}};
}

Json ToJson(const ProfileAccuracy& accuracy) {
  return {{"compared", accuracy.compared},
          {"passed", accuracy.compared ? Json(accuracy.passed) : Json()},
          {"why", TextJson(accuracy.why)},
          {"outputs", accuracy.outputs},
          {"failed", accuracy.failed},
          {"times_over_tolerance", NumberJson(accuracy.times_over_tolerance)},
          {"worst_output", TextJson(accuracy.worst_output)},
          {"max_absolute_error", NumberJson(accuracy.max_absolute_error)}};
}

// A line holds what programs filter by; pictures and long lists stay in the record.
Json OutputLine(const PairRecord& pair, const OutputRecord& output) {
  OutputRecord plain = output;
  plain.figures.charts.reset();
  Json line = {{"kind", "output"}, {"first", pair.first}, {"second", pair.second}};
  line.update(ToJsonValue(plain));
  line["worst_iteration"].erase("charts");
  return line;
}

}  // namespace

Json ToJsonValue(const ChartRecord& charts) {
  if (!charts.missing.empty()) return {{"missing", charts.missing}};
  return {{"low", NumberJson(charts.low)},
          {"high", NumberJson(charts.high)},
          {"first", charts.first},
          {"second", charts.second},
          {"differences", ToJson(charts.differences)},
          {"heat", ToJson(charts.heat)},
          {"points", charts.points}};
}

Json ToJsonValue(const GraphRecord& graph) {
  Json nodes = Json::array();
  for (const NodeRecord& node : graph.nodes) {
    nodes.push_back({{"name", node.name},
                     {"op_type", node.op_type},
                     {"inputs", node.inputs},
                     {"outputs", node.outputs}});
  }
  return {{"model", graph.model},
          {"inputs", graph.inputs},
          {"outputs", graph.outputs},
          {"nodes", std::move(nodes)}};
}

Json ToJsonValue(const OriginRecord& origin) {
  Json settings = Json::array();
  for (const SettingRecord& setting : origin.settings) {
    settings.push_back(
        {{"option", setting.option}, {"value", setting.value}, {"given", setting.given}});
  }
  return {{"words", origin.words},          {"directory", origin.directory},
          {"started", origin.started},      {"system", origin.system},
          {"processor", origin.processor},  {"processors", origin.processors},
          {"settings", std::move(settings)}};
}

Json ToJsonValue(const ProfilePoint& point) {
  Json layers = Json::array();
  for (const LayerTime& layer : point.layers) {
    layers.push_back({{"name", layer.name}, {"type", layer.kind}, {"seconds", layer.seconds}});
  }
  return {{"runner", point.runner},
          {"shapes", point.shapes},
          {"batch", point.batch ? Json(*point.batch) : Json()},
          {"failure", TextJson(point.failure)},
          {"warm_ups", point.warm_ups},
          {"first_seconds", point.first_seconds},
          {"warm_up_seconds", point.warm_up_seconds},
          {"latency_seconds", ToJson(point.latency)},
          {"per_second", NumberJson(point.per_second)},
          {"peak_memory_bytes", point.peak_memory ? Json(*point.peak_memory) : Json()},
          {"layers", std::move(layers)},
          {"layers_missing", TextJson(point.layers_missing)},
          {"accuracy", ToJson(point.accuracy)}};
}

Json ToJsonValue(const ProfileRecord& profile) {
  Json json = {{"runners", Json::array()}, {"points", Json::array()}};
  for (const ProfileRunner& runner : profile.runners) {
    json["runners"].push_back({{"name", runner.name},
                               {"backend", runner.backend},
                               {"framework_version", runner.framework_version},
                               {"device", runner.device},
                               {"precision", runner.precision},
                               {"load_seconds", runner.load_seconds}});
  }
  for (const ProfilePoint& point : profile.points) json["points"].push_back(ToJsonValue(point));
  return json;
}

std::string ToJsonLines(const RunRecord& record) {
  std::string text;
  const auto add = [&](const Json& line) { text += DumpJson(line, -1) + "\n"; };
  add({{"kind", "run"},
       {"schema_version", kRecordSchemaVersion},
       {"vernier_version", record.version},
       {"command", record.command},
       {"origin", ToJsonValue(record.origin)},
       {"notes", record.notes}});
  for (const RunnerRecord& runner : record.runners) {
    Json line = {{"kind", "runner"}};
    line.update(ToJsonValue(runner));
    add(line);
  }
  for (const PairRecord& pair : record.pairs) {
    for (const OutputRecord& output : pair.outputs) add(OutputLine(pair, output));
    add({{"kind", "pair"},
         {"first", pair.first},
         {"second", pair.second},
         {"outputs", pair.outputs.size()},
         {"compared_iterations", pair.compared_iterations},
         {"expected_iterations", pair.expected_iterations},
         {"only_in_first", pair.only_in_first},
         {"only_in_second", pair.only_in_second}});
  }
  if (record.profile) {
    for (const ProfilePoint& point : record.profile->points) {
      Json line = {{"kind", "profile"}};
      line.update(ToJsonValue(point));
      add(line);
    }
  }
  if (record.blame) {
    for (const BlameCulprit& culprit : record.blame->culprits) {
      add({{"kind", "culprit"},
           {"node", culprit.node},
           {"op_type", culprit.op_type},
           {"outputs", culprit.outputs},
           {"total_error", NumberJson(culprit.total_error)},
           {"own_error", NumberJson(culprit.own_error)},
           {"why", culprit.why}});
    }
  }
  add({{"kind", "verdict"},
       {"exit_code", record.exit_code},
       {"complete", record.faults.empty() && record.error.empty()},
       {"faults", record.faults},
       {"error", TextJson(record.error)},
       {"seconds", record.seconds}});
  return text;
}

}  // namespace vernier
