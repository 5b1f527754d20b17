#include "report/html/blame_data.h"

namespace vernier {
namespace {

void AddMagnitudes(PageJson& page, const MagnitudeRecord& values) {
  page.Integer("elements", values.elements);
  page.Integer("nan", values.nan_count);
  page.Integer("inf", values.infinite_count);
  page.Number("min", values.min);
  page.Number("max", values.max);
  page.Number("overflow", values.float16_overflow);
  page.Number("denormal", values.float16_denormal);
}

void AddNonFinite(PageJson& page, const NonFiniteRecord& found) {
  page.BeginObject("nonFinite");
  page.Text("node", found.node);
  page.Text("op", found.op_type);
  page.Text("output", found.output);
  page.Text("side", found.side);
  page.Integer("nan", found.nan_count);
  page.Integer("inf", found.infinite_count);
  page.Integers("first", found.first);
  page.Objects("operands", found.operands, [&](const BlameOperand& operand) {
    page.Text("name", operand.name);
    AddMagnitudes(page, operand.values);
  });
  page.EndObject();
}

void AddDisturbance(PageJson& page, const DisturbanceRecord& disturbance) {
  if (!disturbance.measured) return;
  page.BeginObject("disturbance");
  page.Flag("changed", disturbance.changed);
  page.Text("effect", disturbance.effect);
  page.Text("finding", disturbance.finding);
  page.Number("plain", disturbance.plain_error);
  page.Number("probed", disturbance.probed_error);
  page.Texts("probes", disturbance.probes);
  page.Texts("region", disturbance.region);
  page.EndObject();
}

}  // namespace

void AddBlame(PageJson& page, const BlameRecord& blame) {
  page.BeginObject("blame");
  page.Text("reference", blame.reference);
  page.Text("candidate", blame.candidate);
  page.Text("firstDivergence", blame.first_divergence);
  page.Text("withinBounds", blame.within_bounds);
  page.Integer("compared", blame.compared);
  page.Number("outputError", blame.output_error);
  page.Objects("culprits", blame.culprits, [&](const BlameCulprit& culprit) {
    page.Text("node", culprit.node);
    page.Text("op", culprit.op_type);
    page.Texts("outputs", culprit.outputs);
    page.Number("total", culprit.total_error);
    page.Number("own", culprit.own_error);
    page.Text("why", culprit.why);
  });
  if (blame.first_nonfinite) AddNonFinite(page, *blame.first_nonfinite);
  AddDisturbance(page, blame.disturbance);
  page.Texts("fusedAway", blame.fused_away);
  page.Objects("unexposed", blame.unexposed, [&](const UnexposedTensor& tensor) {
    page.Text("name", tensor.name);
    page.Text("why", tensor.why);
  });
  page.EndObject();
}

}  // namespace vernier
