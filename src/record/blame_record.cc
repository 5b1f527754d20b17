#include "vernier/blame_record.h"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "vernier/tensor.h"

namespace vernier {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kSchemaVersion = 1;

Json Number(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

Json Number(const std::optional<double>& value) { return value ? Number(*value) : Json(); }

Json Text(const std::string& text) { return text.empty() ? Json() : Json(text); }

Json ToJson(const MagnitudeRecord& m) {
  return {{"elements", m.elements},
          {"nan_count", m.nan_count},
          {"infinite_count", m.infinite_count},
          {"min", Number(m.min)},
          {"max", Number(m.max)},
          {"largest", Number(m.largest)},
          {"float16_overflow", Number(m.float16_overflow)},
          {"float16_denormal", Number(m.float16_denormal)}};
}

Json ToJson(const BlameTensorRecord& tensor) {
  return {{"name", tensor.name},
          {"candidate_name", Text(tensor.candidate_name)},
          {"dtype", tensor.dtype},
          {"reference_dtype", Text(tensor.reference_dtype)},
          {"shape", tensor.shape},
          {"total_error", Number(tensor.total_error)},
          {"own_error", Number(tensor.own_error)},
          {"total_rms", Number(tensor.total_rms)},
          {"own_rms", Number(tensor.own_rms)},
          {"total_bar", Number(tensor.total_bar)},
          {"own_bar", Number(tensor.own_bar)},
          {"condition", Number(tensor.condition)},
          {"bar_why", tensor.bar_why},
          {"reference", ToJson(tensor.reference)},
          {"candidate", ToJson(tensor.candidate)}};
}

Json ToJson(const BlameLayerRecord& layer) {
  Json json = {{"node", layer.node},
               {"op_type", layer.op_type},
               {"group", layer.group},
               {"inputs", layer.inputs},
               {"total_error", Number(layer.total_error)},
               {"own_error", Number(layer.own_error)},
               {"own_missing", Text(layer.own_missing)},
               {"in_place_error", Number(layer.in_place_error)},
               {"condition", Number(layer.condition)},
               {"evidence", Text(layer.evidence)},
               {"fused", layer.fused},
               {"fused_error", Number(layer.fused_error)},
               {"iteration", layer.iteration}};
  json["outputs"] = Json::array();
  for (const BlameTensorRecord& tensor : layer.outputs) json["outputs"].push_back(ToJson(tensor));
  return json;
}

Json ToJson(const BlameCulprit& culprit) {
  return {{"node", culprit.node},
          {"op_type", culprit.op_type},
          {"outputs", culprit.outputs},
          {"total_error", Number(culprit.total_error)},
          {"own_error", Number(culprit.own_error)},
          {"why", culprit.why}};
}

Json ToJson(const NonFiniteRecord& record) {
  Json json = {{"node", record.node},           {"op_type", record.op_type},
               {"output", record.output},       {"side", record.side},
               {"nan_count", record.nan_count}, {"infinite_count", record.infinite_count},
               {"first", record.first}};
  json["operands"] = Json::array();
  for (const BlameOperand& operand : record.operands) {
    Json entry = {{"name", operand.name}};
    entry.update(ToJson(operand.values));
    json["operands"].push_back(std::move(entry));
  }
  return json;
}

Json ToJson(const DisturbanceRecord& record) {
  if (!record.measured) return {};
  return {{"changed", record.changed},
          {"plain_error", Number(record.plain_error)},
          {"probed_error", Number(record.probed_error)},
          {"moved", Number(record.moved)},
          {"shown_at", record.shown_at ? Json(*record.shown_at) : Json()},
          {"shown_by", record.shown_by},
          {"effect", Text(record.effect)},
          {"probes", record.probes},
          {"region", record.region},
          {"finding", Text(record.finding)}};
}

Json Runners(const BlameRecord& record) {
  Json runners = Json::array();
  for (const RunnerRecord& runner : record.runners) {
    runners.push_back({{"name", runner.name},
                       {"backend", runner.backend},
                       {"framework_version", runner.framework_version},
                       {"framework_path", runner.framework_path},
                       {"model", runner.model},
                       {"device", runner.device},
                       {"precision", runner.precision}});
  }
  return runners;
}

// Reading: what is missing or of another type is malformed.
double NumberFrom(const Json& json) {
  if (json.is_number()) return json.get<double>();
  const std::string text = json.is_string() ? json.get<std::string>() : "";
  const double infinity = std::numeric_limits<double>::infinity();
  if (text == "inf") return infinity;
  return text == "-inf" ? -infinity : std::numeric_limits<double>::quiet_NaN();
}

std::optional<double> MaybeNumberFrom(const Json& json) {
  return json.is_null() ? std::nullopt : std::optional(NumberFrom(json));
}

std::string TextFrom(const Json& json) {
  return json.is_string() ? json.get<std::string>() : std::string();
}

template <typename T>
std::vector<T> ListFrom(const Json& json) {
  return json.is_array() ? json.get<std::vector<T>>() : std::vector<T>();
}

MagnitudeRecord MagnitudesFrom(const Json& json) {
  MagnitudeRecord m;
  m.elements = json.value("elements", int64_t{0});
  m.nan_count = json.value("nan_count", int64_t{0});
  m.infinite_count = json.value("infinite_count", int64_t{0});
  m.min = NumberFrom(json.at("min"));
  m.max = NumberFrom(json.at("max"));
  m.largest = NumberFrom(json.at("largest"));
  m.float16_overflow = NumberFrom(json.at("float16_overflow"));
  m.float16_denormal = NumberFrom(json.at("float16_denormal"));
  return m;
}

// Earlier records have a condition number of the layer only.
BlameTensorRecord TensorFrom(const Json& json, double condition_of_layer) {
  BlameTensorRecord tensor;
  tensor.name = TextFrom(json.at("name"));
  tensor.candidate_name = TextFrom(json.at("candidate_name"));
  tensor.dtype = TextFrom(json.at("dtype"));
  if (json.contains("reference_dtype")) {
    tensor.reference_dtype = TextFrom(json.at("reference_dtype"));
  }
  tensor.shape = ListFrom<int64_t>(json.at("shape"));
  tensor.total_error = NumberFrom(json.at("total_error"));
  tensor.own_error = MaybeNumberFrom(json.at("own_error"));
  tensor.total_rms = NumberFrom(json.at("total_rms"));
  tensor.own_rms = NumberFrom(json.at("own_rms"));
  tensor.total_bar = NumberFrom(json.at("total_bar"));
  tensor.own_bar = NumberFrom(json.at("own_bar"));
  const bool has_condition = json.contains("condition");
  tensor.condition = has_condition ? NumberFrom(json.at("condition")) : condition_of_layer;
  tensor.bar_why = TextFrom(json.at("bar_why"));
  tensor.reference = MagnitudesFrom(json.at("reference"));
  tensor.candidate = MagnitudesFrom(json.at("candidate"));
  return tensor;
}

BlameLayerRecord LayerFrom(const Json& json) {
  BlameLayerRecord layer;
  layer.node = TextFrom(json.at("node"));
  layer.op_type = TextFrom(json.at("op_type"));
  layer.group = ListFrom<std::string>(json.at("group"));
  layer.inputs = ListFrom<std::string>(json.at("inputs"));
  layer.total_error = NumberFrom(json.at("total_error"));
  layer.own_error = MaybeNumberFrom(json.at("own_error"));
  layer.own_missing = TextFrom(json.at("own_missing"));
  layer.in_place_error = MaybeNumberFrom(json.at("in_place_error"));
  if (json.contains("condition")) layer.condition = NumberFrom(json.at("condition"));
  if (json.contains("evidence")) layer.evidence = TextFrom(json.at("evidence"));
  if (json.contains("fused")) layer.fused = ListFrom<std::string>(json.at("fused"));
  if (json.contains("fused_error")) layer.fused_error = MaybeNumberFrom(json.at("fused_error"));
  layer.iteration = json.value("iteration", int64_t{0});
  for (const Json& tensor : json.at("outputs")) {
    layer.outputs.push_back(TensorFrom(tensor, layer.condition));
  }
  return layer;
}

NonFiniteRecord NonFiniteFrom(const Json& json) {
  NonFiniteRecord record;
  record.node = TextFrom(json.at("node"));
  record.op_type = TextFrom(json.at("op_type"));
  record.output = TextFrom(json.at("output"));
  record.side = TextFrom(json.at("side"));
  record.nan_count = json.value("nan_count", int64_t{0});
  record.infinite_count = json.value("infinite_count", int64_t{0});
  record.first = ListFrom<int64_t>(json.at("first"));
  for (const Json& operand : json.at("operands")) {
    record.operands.push_back({TextFrom(operand.at("name")), MagnitudesFrom(operand)});
  }
  return record;
}

DisturbanceRecord DisturbanceFrom(const Json& json) {
  DisturbanceRecord record;
  record.measured = true;
  record.changed = json.value("changed", false);
  record.plain_error = NumberFrom(json.at("plain_error"));
  record.probed_error = NumberFrom(json.at("probed_error"));
  record.moved = NumberFrom(json.at("moved"));
  // Earlier records have neither.
  const Json shown_at = json.value("shown_at", Json());
  if (!shown_at.is_null()) record.shown_at = shown_at.get<int64_t>();
  record.shown_by = ListFrom<std::string>(json.value("shown_by", Json::array()));
  record.effect = TextFrom(json.at("effect"));
  record.probes = ListFrom<std::string>(json.at("probes"));
  record.region = ListFrom<std::string>(json.at("region"));
  record.finding = TextFrom(json.at("finding"));
  return record;
}

BlameCulprit CulpritFrom(const Json& json) {
  BlameCulprit culprit;
  culprit.node = TextFrom(json.at("node"));
  culprit.op_type = TextFrom(json.at("op_type"));
  culprit.outputs = ListFrom<std::string>(json.at("outputs"));
  culprit.total_error = NumberFrom(json.at("total_error"));
  culprit.own_error = MaybeNumberFrom(json.at("own_error"));
  culprit.why = TextFrom(json.at("why"));
  return culprit;
}

RunnerRecord RunnerFrom(const Json& json) {
  RunnerRecord runner;
  runner.name = TextFrom(json.at("name"));
  runner.backend = TextFrom(json.at("backend"));
  runner.framework_version = TextFrom(json.at("framework_version"));
  runner.framework_path = TextFrom(json.at("framework_path"));
  runner.model = TextFrom(json.at("model"));
  runner.device = TextFrom(json.at("device"));
  runner.precision = TextFrom(json.at("precision"));
  return runner;
}

void ReadSummary(const Json& json, BlameRecord& record) {
  record.first_divergence = TextFrom(json.at("first_divergence"));
  record.output_error = NumberFrom(json.at("output_error"));
  if (json.contains("condition")) record.condition = NumberFrom(json.at("condition"));
  for (const Json& output : json.value("output_conditions", Json::array())) {
    record.output_conditions.push_back({TextFrom(output.at("name")), NumberFrom(output.at("error")),
                                        NumberFrom(output.at("condition"))});
  }
  if (json.contains("quantises_alone")) record.quantises_alone = json.at("quantises_alone");
  if (json.contains("within_bounds")) record.within_bounds = TextFrom(json.at("within_bounds"));
  record.compared = json.value("compared", int64_t{0});
  record.iterations = json.value("iterations", int64_t{0});
  record.command = TextFrom(json.at("command"));
  record.version = TextFrom(json.at("version"));
  record.model = TextFrom(json.at("model"));
  record.reference = TextFrom(json.at("reference"));
  record.candidate = TextFrom(json.at("candidate"));
  record.batches = json.value("batches", int64_t{0});
  record.planned_bytes = json.value("planned_bytes", uint64_t{0});
  record.error = TextFrom(json.at("error"));
  record.resume_key = TextFrom(json.at("resume_key"));
  record.notes = ListFrom<std::string>(json.at("notes"));
  record.seconds = NumberFrom(json.at("seconds"));
  record.exit_code = json.value("exit_code", 0);
  if (json.contains("fused_away")) {
    record.fused_away = ListFrom<std::string>(json.at("fused_away"));
  }
  for (const auto& [what, seconds] : json.at("timing_seconds").items()) {
    record.timing.emplace_back(what, NumberFrom(seconds));
  }
}

}  // namespace

std::string ToJson(const BlameRecord& record) {
  Json json = {{"schema_version", kSchemaVersion}};
  json["culprits"] = Json::array();
  for (const BlameCulprit& culprit : record.culprits) json["culprits"].push_back(ToJson(culprit));
  json["first_nonfinite"] = record.first_nonfinite ? ToJson(*record.first_nonfinite) : Json();
  json["unexposed"] = Json::array();
  for (const UnexposedTensor& tensor : record.unexposed) {
    json["unexposed"].push_back({{"name", tensor.name}, {"why", tensor.why}});
  }
  json["fused_away"] = record.fused_away;
  json["disturbed"] = record.disturbance.changed;
  json["disturbance"] = ToJson(record.disturbance);
  json["first_divergence"] = Text(record.first_divergence);
  json["output_error"] = Number(record.output_error);
  json["condition"] = Number(record.condition);
  json["output_conditions"] = Json::array();
  for (const BlameOutputCondition& output : record.output_conditions) {
    json["output_conditions"].push_back({{"name", output.name},
                                         {"error", Number(output.error)},
                                         {"condition", Number(output.condition)}});
  }
  json["quantises_alone"] = record.quantises_alone;
  json["within_bounds"] = Text(record.within_bounds);
  json["compared"] = record.compared;
  json["iterations"] = record.iterations;
  json["command"] = record.command;
  json["version"] = record.version;
  json["model"] = record.model;
  json["reference"] = record.reference;
  json["candidate"] = record.candidate;
  json["runners"] = Runners(record);
  json["batches"] = record.batches;
  json["planned_bytes"] = record.planned_bytes;
  json["error"] = Text(record.error);
  json["resume_key"] = record.resume_key;
  json["notes"] = record.notes;
  json["seconds"] = record.seconds;
  json["timing_seconds"] = Json::object();
  for (const auto& [what, seconds] : record.timing) json["timing_seconds"][what] = seconds;
  json["exit_code"] = record.exit_code;
  json["layers"] = Json::array();
  for (const BlameLayerRecord& layer : record.layers) json["layers"].push_back(ToJson(layer));
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<BlameRecord> BlameFromJson(std::string_view json) {
  try {
    const Json parsed = Json::parse(json);
    if (parsed.at("schema_version") != kSchemaVersion) return Malformed("another schema version");
    BlameRecord record;
    ReadSummary(parsed, record);
    for (const Json& culprit : parsed.at("culprits")) {
      record.culprits.push_back(CulpritFrom(culprit));
    }
    for (const Json& runner : parsed.at("runners")) record.runners.push_back(RunnerFrom(runner));
    for (const Json& layer : parsed.at("layers")) record.layers.push_back(LayerFrom(layer));
    for (const Json& tensor : parsed.at("unexposed")) {
      record.unexposed.push_back({TextFrom(tensor.at("name")), TextFrom(tensor.at("why"))});
    }
    const Json& first = parsed.at("first_nonfinite");
    if (!first.is_null()) record.first_nonfinite = NonFiniteFrom(first);
    const Json& disturbance = parsed.at("disturbance");
    if (!disturbance.is_null()) record.disturbance = DisturbanceFrom(disturbance);
    return record;
  } catch (const std::exception& error) {
    return Malformed(error.what());
  }
}

RunRecord RecordOf(BlameRecord blame) {
  RunRecord record;
  record.command = blame.command;
  record.version = blame.version;
  record.runners = blame.runners;
  record.error = blame.error;
  record.notes = blame.notes;
  record.exit_code = blame.exit_code;
  record.seconds = blame.seconds;
  record.blame = std::make_shared<const BlameRecord>(std::move(blame));
  return record;
}

BlameCoverage CoverageOf(const BlameRecord& record) {
  BlameCoverage coverage;
  for (const BlameLayerRecord& layer : record.layers) {
    for (const BlameTensorRecord& tensor : layer.outputs) {
      const int64_t count = ElementCount(tensor.shape).value_or(0);
      const MagnitudeRecord& values = tensor.reference;
      const bool one_value = values.min == values.max && values.nan_count == 0;
      coverage.tensors += count > 0 ? 1 : 0;
      coverage.elements += count;
      coverage.constant += count > 1 && one_value ? 1 : 0;
    }
  }
  return coverage;
}

}  // namespace vernier
