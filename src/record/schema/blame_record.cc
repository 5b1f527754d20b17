#include "vernier/blame_record.h"

#include <type_traits>
#include <utility>

#include "record/schema/record_json.h"
#include "record/schema/record_visit.h"
#include "record/schema/step_schema.h"
#include "vernier/tensor.h"

namespace vernier {
namespace {

constexpr int kBlameSchema = 1;

}  // namespace

template <typename Fields>
void ListFields(Fields& field, Some<MagnitudeRecord> auto& values) {
  field("elements", values.elements);
  field("nan_count", values.nan_count);
  field("infinite_count", values.infinite_count);
  field("min", values.min);
  field("max", values.max);
  field("largest", values.largest);
  field("float16_overflow", values.float16_overflow);
  field("float16_denormal", values.float16_denormal);
}

template <typename Fields>
void ListFields(Fields& field, Some<BlameTensorRecord> auto& tensor) {
  field("name", tensor.name);
  field.Text("candidate_name", tensor.candidate_name);
  field("dtype", tensor.dtype);
  field.Text("reference_dtype", tensor.reference_dtype);
  field("shape", tensor.shape);
  field("total_error", tensor.total_error);
  field("own_error", tensor.own_error);
  field("total_rms", tensor.total_rms);
  field("own_rms", tensor.own_rms);
  field.Renamed("total_bound", "total_bar", tensor.total_bound);
  field.Renamed("own_bound", "own_bar", tensor.own_bound);
  field.Later("condition", tensor.condition);
  field.Renamed("bound_why", "bar_why", tensor.bound_why);
  field("reference", tensor.reference);
  field("candidate", tensor.candidate);
}

template <typename Fields>
void ListFields(Fields& field, Some<BlameLayerRecord> auto& layer) {
  field("node", layer.node);
  field("op_type", layer.op_type);
  field("group", layer.group);
  field("inputs", layer.inputs);
  field("total_error", layer.total_error);
  field("own_error", layer.own_error);
  field.Text("own_missing", layer.own_missing);
  field("in_place_error", layer.in_place_error);
  field.Later("condition", layer.condition);
  field.Text("evidence", layer.evidence);
  field.Later("fused", layer.fused);
  field.Later("fused_error", layer.fused_error);
  field("iteration", layer.iteration);
  // Earlier records have a condition number of the layer only.
  field.Each("outputs", layer.outputs, [&](auto& part, auto& tensor) {
    if constexpr (!std::is_const_v<std::remove_reference_t<decltype(tensor)>>) {
      tensor.condition = layer.condition;
    }
    ListFields(part, tensor);
  });
}

template <typename Fields>
void ListFields(Fields& field, Some<BlameOutputCondition> auto& output) {
  field("name", output.name);
  field("error", output.error);
  field("condition", output.condition);
}

template <typename Fields>
void ListFields(Fields& field, Some<BlameCulprit> auto& culprit) {
  field("node", culprit.node);
  field("op_type", culprit.op_type);
  field("outputs", culprit.outputs);
  field("total_error", culprit.total_error);
  field("own_error", culprit.own_error);
  field("why", culprit.why);
}

template <typename Fields>
void ListFields(Fields& field, Some<BlameOperand> auto& operand) {
  field("name", operand.name);
  ListFields(field, operand.values);
}

template <typename Fields>
void ListFields(Fields& field, Some<NonFiniteRecord> auto& found) {
  field("node", found.node);
  field("op_type", found.op_type);
  field("output", found.output);
  field("side", found.side);
  field("nan_count", found.nan_count);
  field("infinite_count", found.infinite_count);
  field("first", found.first);
  field("operands", found.operands);
}

template <typename Fields>
void ListFields(Fields& field, Some<UnexposedTensor> auto& tensor) {
  field("name", tensor.name);
  field("why", tensor.why);
}

template <typename Fields>
void ListFields(Fields& field, Some<BlamePairRecord> auto& pair) {
  field("candidate", pair.candidate);
  field("reference", pair.reference);
  field("how", pair.how);
  field("error", pair.error);
}

template <typename Fields>
void ListFields(Fields& field, Some<DisturbanceRecord> auto& disturbance) {
  field("changed", disturbance.changed);
  field("plain_error", disturbance.plain_error);
  field("probed_error", disturbance.probed_error);
  field("moved", disturbance.moved);
  field.Later("shown_at", disturbance.shown_at);
  field.Later("shown_by", disturbance.shown_by);
  field.Text("effect", disturbance.effect);
  field("probes", disturbance.probes);
  field("region", disturbance.region);
  field.Text("finding", disturbance.finding);
}

template <typename Fields>
void ListFields(Fields& field, Some<BlameStepRecord> auto& step) {
  field("sequence", step.sequence);
  field("step", step.step);
  field("output", step.output);
  field("own_error", step.own_error);
  field("total_error", step.total_error);
  field.TextIfAny("not_finite", step.not_finite);
  field("wrong_by_itself", step.wrong_by_itself);
  field("first_total_step", step.first_total_step);
  field("first_total_sequence", step.first_total_sequence);
  field.Given("largest_own_error", step.largest_own_error);
  field.Given("largest_own_step", step.largest_own_step);
  field.Given("largest_own_sequence", step.largest_own_sequence);
  field.Given("divergence", step.divergence);
}

template <typename Fields>
void ListFields(Fields& field, Some<BlameMarginSample> auto& sample) {
  field("output", sample.output);
  field("kind", sample.kind);
  field("iteration", sample.iteration);
  field("row", sample.row);
  field("margin", sample.margin);
}

template <typename Fields>
void ListFields(Fields& field, Some<BlameEatenMargin> auto& layer) {
  field("node", layer.node);
  field("op_type", layer.op_type);
  field("margin", layer.margin);
  field("eaten", layer.eaten);
}

template <typename Fields>
void ListFields(Fields& field, Some<BlameFlipsRecord> auto& flips) {
  field("decisions", flips.decisions);
  field("iterations", flips.iterations);
  field("margin_of", flips.margin_of);
  field("margins", flips.margins);
}

template <typename Fields>
void ListFields(Fields& field, Some<BlameRecord> auto& blame) {
  field.Derived("schema_version", [] { return kBlameSchema; });
  field("culprits", blame.culprits);
  field("first_nonfinite", blame.first_nonfinite);
  field("unexposed", blame.unexposed);
  field.Later("tensor_pairs", blame.tensor_pairs);
  field.Later("fused_away", blame.fused_away);
  field.Derived("disturbed", [&] { return blame.disturbance.changed; });
  field.Known("disturbance", blame.disturbance, blame.disturbance.measured);
  field.Text("first_divergence", blame.first_divergence);
  field("output_error", blame.output_error);
  field.Later("condition", blame.condition);
  field.Later("output_conditions", blame.output_conditions);
  field.Later("quantises_alone", blame.quantises_alone);
  field.Text("within_bounds", blame.within_bounds);
  field.Later("at_step", blame.at_step);
  field.Later("on_flips", blame.on_flips);
  field("compared", blame.compared);
  field.Later("iterations", blame.iterations);
  field("command", blame.command);
  field("version", blame.version);
  field("model", blame.model);
  field("reference", blame.reference);
  field("candidate", blame.candidate);
  field.Each("runners", blame.runners,
             [](auto& part, auto& runner) { ListIdentity(part, runner); });
  field("batches", blame.batches);
  field("planned_bytes", blame.planned_bytes);
  field.Text("error", blame.error);
  field("resume_key", blame.resume_key);
  field("notes", blame.notes);
  field("seconds", blame.seconds);
  field.Map("timing_seconds", blame.timing);
  field("exit_code", blame.exit_code);
  field("layers", blame.layers);
}

RecordJson BlameJson(const BlameRecord& record) { return WriteFields(record); }

RecordJson CulpritJson(const BlameCulprit& culprit) { return WriteFields(culprit); }

std::string ToJson(const BlameRecord& record) { return DumpJson(BlameJson(record), 2) + "\n"; }

Result<BlameRecord> BlameFromParsed(const RecordJson& json) {
  std::string error;
  const RecordFields fields(json, "", &error, Absent::kWrong);
  if (error.empty() && fields.Integer("schema_version") != kBlameSchema) {
    return Malformed("another schema version");
  }
  BlameRecord record;
  FieldReader reader(fields);
  ListFields(reader, record);
  if (!error.empty()) return Malformed(error);
  return record;
}

Result<BlameRecord> BlameFromJson(std::string_view json) {
  return BlameFromParsed(RecordJson::parse(json, nullptr, /*allow_exceptions=*/false));
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
      coverage.retyped += tensor.reference_dtype.empty() ? 0 : 1;
    }
  }
  return coverage;
}

}  // namespace vernier
