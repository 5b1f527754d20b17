#include "report/html/page_data.h"

#include <map>

#include "compare/metric_table.h"
#include "report/html/blame_data.h"
#include "report/html/page_json.h"
#include "report/run_summary.h"
#include "report/verdict_text.h"
#include "util/number_text.h"
#include "util/shell_words.h"
#include "vernier/blame_record.h"

namespace vernier {
namespace {

// Enough to tell neighbouring float32 values apart.
constexpr int kValueDigits = 9;
constexpr int kErrorDigits = 6;

// Integers as their digits, which a number of the page's script may round.
void AddWhole(PageJson& page, const char* key, double value, const std::string& digits,
              int precision) {
  if (digits.empty()) return page.Number(key, value, precision);
  page.Text(key, digits);
}

void AddRunner(PageJson& page, const RunnerRecord& runner) {
  page.Text("name", runner.name);
  page.Text("backend", runner.backend);
  page.Text("version", runner.framework_version);
  page.Text("library", runner.framework_path);
  page.Text("model", runner.model);
  page.Text("device", runner.device);
  page.Text("precision", runner.precision);
  page.Number("load", runner.load_seconds);
  page.Integer("iterations", runner.iterations);
  page.Text("failure", runner.failure);
  if (runner.latency) {
    page.Number("first", runner.latency->first);
    page.Number("median", runner.latency->median);
    page.Number("p95", runner.latency->p95);
  }
  page.Objects("skipped", runner.skipped_outputs, [&](const auto& skipped) {
    page.Text("name", skipped.first);
    page.Text("why", skipped.second);
  });
}

void AddSide(PageJson& page, const char* key, const std::optional<SideRecord>& side) {
  if (!side) return;
  page.BeginObject(key);
  page.Text("type", side->dtype);
  AddWhole(page, "min", side->min, side->min_digits, kValueDigits);
  AddWhole(page, "max", side->max, side->max_digits, kValueDigits);
  page.Number("mean", side->mean);
  page.Number("std", side->std_dev);
  page.Integer("nan", side->nan_count);
  page.Integer("inf", side->infinite_count);
  if (side->first_nan) page.Integers("nanAt", *side->first_nan);
  if (side->first_infinite) page.Integers("infAt", *side->first_infinite);
  page.EndObject();
}

void AddDistances(PageJson& page, const DistanceRecord& distances) {
  page.BeginObject("dist");
  for (const MetricRow& metric : MetricTable()) {
    page.Number(std::string(metric.name).c_str(), distances.values[metric.function],
                metric.digits > 0 ? metric.digits + 1 : PageJson::kDigits);
  }
  if (distances.max_ulp) page.Text("ulp", std::to_string(*distances.max_ulp));
  page.EndObject();
}

// How the page shows what AddDistances has written: once, not with each output.
void AddMetrics(PageJson& page) {
  std::vector<const MetricRow*> shown;
  for (const MetricRow& metric : MetricTable()) {
    if (!metric.title.empty()) shown.push_back(&metric);
  }
  page.Objects("metrics", shown, [&](const MetricRow* metric) {
    page.Text("name", metric->name);
    page.Text("title", metric->title);
    page.Text("unit", metric->unit);
    page.Integer("digits", metric->digits);
  });
}

void AddElement(PageJson& page, const ElementRecord& element) {
  page.Integers("at", element.index);
  if (element.first_text || element.second_text) {
    page.Text("a", element.first_text.value_or(""));
    page.Text("b", element.second_text.value_or(""));
  } else {
    AddWhole(page, "a", element.first, element.first_digits, kValueDigits);
    AddWhole(page, "b", element.second, element.second_digits, kValueDigits);
  }
  AddWhole(page, "abs", element.absolute_error, element.absolute_digits, kErrorDigits);
  page.Number("rel", element.relative_error);
  page.Number("over", element.times_tolerance);
}

void AddCharts(PageJson& page, const ChartRecord& charts) {
  page.BeginObject("charts");
  page.Text("missing", charts.missing);
  if (charts.missing.empty()) {
    page.Number("low", charts.low, kValueDigits);
    page.Number("high", charts.high, kValueDigits);
    page.Integers("a", charts.first);
    page.Integers("b", charts.second);
    page.Integer("decade", charts.differences.first_decade);
    page.Integers("diffs", charts.differences.counts);
    page.Integer("equal", charts.differences.equal);
    page.Integer("wild", charts.differences.not_finite);
    page.Text("points", charts.points);
    const HeatRecord& heat = charts.heat;
    page.Integer("rows", heat.rows);
    page.Integer("columns", heat.columns);
    page.Integer("ofRows", heat.matrix_rows);
    page.Integer("ofColumns", heat.matrix_columns);
    page.Integer("rowAxes", heat.row_axes);
    page.Number("least", heat.least);
    page.Number("most", heat.most);
    page.Text("cells", heat.cells);
  }
  page.EndObject();
}

void AddGate(PageJson& page, const GateRecord& gate) {
  page.Text("what", gate.function);
  page.Text("verdict", gate.verdict);
  page.Text("why", gate.why);
  page.Number("value", gate.value);
  page.Number("bar", gate.threshold);
}

// Each tensor's own error, by its name.
using OwnErrors = std::map<std::string_view, std::optional<double>>;

OwnErrors OwnErrorsOf(const RunRecord& record) {
  OwnErrors errors;
  if (record.blame == nullptr) return errors;
  for (const BlameLayerRecord& layer : record.blame->layers) {
    for (const BlameTensorRecord& tensor : layer.outputs) errors[tensor.name] = tensor.own_error;
  }
  return errors;
}

void AddOutput(PageJson& page, const OutputRecord& output) {
  page.Text("name", output.name);
  if (output.other_name != output.name) page.Text("other", output.other_name);
  if (output.paired_by != "exact") page.Text("by", output.paired_by);
  if (output.other_dtype != output.dtype) page.Text("otherType", output.other_dtype);
  const std::string_view verdict = OutputVerdict(output);
  if (verdict != "passed") page.Text("verdict", verdict);
  page.Text("failure", DescribeFailure(output));
  if (!HasFailed(output)) page.Text("vacuous", output.vacuous);
  page.Integer("compared", output.compared);
  page.Integer("passed", output.passed);
  page.Integer("elements", output.elements);
  page.Integer("out", output.mismatches);
  page.Flag("checked", output.tolerances_checked);
  page.Number("over", output.worst_times_tolerance);
  page.Number("abs", output.max_absolute_error, HoldsIntegers(output) ? 17 : kErrorDigits);
  page.Flag("whole", HoldsIntegers(output));
  page.Number("rel", output.max_relative_error);
  page.Number("mean", output.mean_absolute_error);
  page.Number("needAbs", output.required_absolute);
  page.Number("needRel", output.required_relative);
  if (output.bar) {
    page.Number("bar", output.bar->bar);
    page.Number("barScale", output.bar->scale);
    page.Text("barWhy", output.bar->why);
  }
  const OutputFigures& figures = output.figures;
  page.Integer("iteration", figures.iteration);
  page.Integers("shape", figures.shape);
  // One verdict of `simple` says nothing that the output's does not.
  const bool plain = figures.gates.size() == 1 && figures.gates[0].function == "simple";
  if (!plain) {
    page.Objects("gates", figures.gates, [&](const GateRecord& gate) { AddGate(page, gate); });
  }
  page.Text("advice", figures.suggestion);
  AddSide(page, "first", figures.first);
  AddSide(page, "second", figures.second);
  if (figures.distances) AddDistances(page, *figures.distances);
  page.Objects("worst", figures.worst,
               [&](const ElementRecord& element) { AddElement(page, element); });
  if (figures.charts) AddCharts(page, *figures.charts);
}

void AddPair(PageJson& page, const PairRecord& pair, const OwnErrors& own) {
  page.Text("first", pair.first);
  page.Text("second", pair.second);
  page.Text("coverage", FormatCoverage(pair));
  page.Texts("onlyFirst", pair.only_in_first);
  page.Texts("onlySecond", pair.only_in_second);
  page.Flag("byLayer", pair.by_layer);
  page.Objects("outputs", pair.outputs, [&](const OutputRecord& output) {
    AddOutput(page, output);
    if (!pair.by_layer) return;
    auto found = own.find(output.name);
    if (found == own.end()) found = own.find(output.other_name);
    if (found != own.end()) page.Number("own", found->second);
  });
}

// Tensors are numbered in the order in which they occur, nodes name them by number.
class GraphData {
 public:
  explicit GraphData(PageJson& page) : page_(page) {}

  void Add(const GraphRecord& graph) {
    page_.BeginObject("graph");
    page_.Text("model", graph.model);
    JsonWriter& json = page_.json();
    AddTensors("inputs", graph.inputs);
    json.Key("nodes");
    json.BeginArray();
    for (const NodeRecord& node : graph.nodes) {
      json.BeginArray();
      json.String(node.name);
      json.String(node.op_type);
      page_.IntegerList(Numbers(node.inputs));
      page_.IntegerList(Numbers(node.outputs));
      json.EndArray();
    }
    json.EndArray();
    AddTensors("outputs", graph.outputs);
    page_.Texts("tensors", names_);
    page_.EndObject();
  }

 private:
  std::vector<int64_t> Numbers(const std::vector<std::string>& tensors) {
    std::vector<int64_t> numbers;
    for (const std::string& name : tensors) {
      const auto [at, fresh] = numbers_.try_emplace(name, static_cast<int64_t>(names_.size()));
      if (fresh) names_.push_back(name);
      numbers.push_back(at->second);
    }
    return numbers;
  }

  void AddTensors(const char* key, const std::vector<std::string>& tensors) {
    page_.Integers(key, Numbers(tensors));
  }

  PageJson& page_;
  std::vector<std::string> names_;
  std::map<std::string, int64_t> numbers_;
};

void AddPoint(PageJson& page, const ProfilePoint& point) {
  page.Text("runner", point.runner);
  page.Text("shapes", point.shapes);
  page.Integer("batch", point.batch.value_or(0));
  page.Text("failure", point.failure);
  page.Integer("warmUps", point.warm_ups);
  page.Number("firstRun", point.first_seconds);
  page.Number("warmUp", point.warm_up_seconds);
  const LatencyStatistics& latency = point.latency;
  page.Integer("count", latency.count);
  page.Number("mean", latency.mean);
  page.Number("std", latency.std_dev);
  page.Number("min", latency.min);
  page.Number("max", latency.max);
  page.Number("median", latency.median);
  page.Number("p90", latency.p90);
  page.Number("p95", latency.p95);
  page.Number("p99", latency.p99);
  page.Number("noise", latency.median_noise);
  page.Number("drift", latency.drift);
  page.Number("rate", point.per_second);
  if (point.peak_memory) page.Integer("memory", static_cast<int64_t>(*point.peak_memory));
  page.Objects("layers", point.layers, [&](const LayerTime& layer) {
    page.Text("name", layer.name);
    page.Text("type", layer.kind);
    page.Number("s", layer.seconds);
  });
  page.Text("noLayers", point.layers_missing);
  const ProfileAccuracy& accuracy = point.accuracy;
  page.Text("accuracy", !accuracy.compared ? "unknown" : accuracy.passed ? "matches" : "differs");
  page.Text("why", accuracy.why);
  page.Number("over", accuracy.times_over_tolerance);
  page.Number("abs", accuracy.max_absolute_error);
}

void AddProfile(PageJson& page, const ProfileRecord& profile) {
  page.BeginObject("profile");
  page.Objects("runners", profile.runners, [&](const ProfileRunner& runner) {
    page.Text("name", runner.name);
    page.Text("backend", runner.backend);
    page.Text("version", runner.framework_version);
    page.Text("device", runner.device);
    page.Text("precision", runner.precision);
    page.Number("load", runner.load_seconds);
  });
  page.Objects("points", profile.points, [&](const ProfilePoint& point) { AddPoint(page, point); });
  page.EndObject();
}

void AddOrigin(PageJson& page, const RunRecord& record) {
  const OriginRecord& origin = record.origin;
  page.Text("command", origin.words.empty() ? record.command : JoinForShell(origin.words));
  page.Text("directory", origin.directory);
  page.Text("started", origin.started);
  page.Text("system", origin.system);
  page.Text("processor", origin.processor);
  page.Integer("processors", origin.processors);
  page.Objects("settings", origin.settings, [&](const SettingRecord& setting) {
    page.Text("option", setting.option);
    page.Text("value", setting.value);
    page.Flag("given", setting.given);
  });
}

void AddRecord(PageJson& page, const RunRecord& record) {
  const VerdictText verdict = DecideVerdict(record);
  page.Text("version", record.version);
  page.Text("outcome", OutcomeName(verdict.outcome));
  page.Text("sentence", verdict.sentence);
  page.Integer("exitCode", record.exit_code);
  page.Number("seconds", record.seconds);
  page.Flag("averaged", record.averaged);
  page.Text("error", record.error);
  page.Texts("faults", record.faults);
  page.Texts("notes", record.notes);
  if (verdict.outcome == Outcome::kMismatched) page.Text("next", Trim(FormatAdvice(record)));
  AddOrigin(page, record);
  page.Objects("runners", record.runners,
               [&](const RunnerRecord& runner) { AddRunner(page, runner); });
  AddMetrics(page);
  const OwnErrors own = OwnErrorsOf(record);
  page.Objects("pairs", record.pairs, [&](const PairRecord& pair) { AddPair(page, pair, own); });
  if (record.graph) GraphData(page).Add(*record.graph);
  if (record.profile) AddProfile(page, *record.profile);
  if (record.blame) AddBlame(page, *record.blame);
}

}  // namespace

std::string MakePageData(const RunRecord& record) {
  StringSink sink;
  PageJson page(sink);
  page.json().BeginObject();
  AddRecord(page, record);
  page.json().EndObject();
  (void)page.json().Finish();  // a string takes everything
  // '<' stands in strings only, where an escape means the same.
  std::string escaped;
  escaped.reserve(sink.text().size());
  for (const char c : sink.text()) {
    if (c == '<') {
      escaped += "\\u003c";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

}  // namespace vernier
