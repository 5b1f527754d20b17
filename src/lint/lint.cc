#include "lint/lint.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "io/json/json_writer.h"
#include "lint/rule_groups.h"
#include "model/onnx/onnx_order.h"
#include "util/text/close_matches.h"

namespace vernier {
namespace {

using Names = std::unordered_set<std::string_view>;

// Nodes that wait, over any number of steps, for one that failed.
std::vector<bool> BehindFailing(const OnnxModel& model, const Findings& findings) {
  const OnnxGraph& graph = model.graph();
  std::vector<bool> behind(graph.nodes.size(), false);
  std::unordered_map<std::string_view, std::vector<uint32_t>> readers;
  std::vector<uint32_t> waiting;
  for (uint32_t i = 0; i < graph.nodes.size(); ++i) {
    for (const std::string_view name : ValuesReadBy(model, graph, graph.nodes[i])) {
      readers[name].push_back(i);
    }
    if (findings.Failed(i)) waiting.push_back(i);
  }
  while (!waiting.empty()) {
    const uint32_t node = waiting.back();
    waiting.pop_back();
    for (const std::string_view name : graph.Outputs(graph.nodes[node])) {
      const auto found = readers.find(name);
      if (name.empty() || found == readers.end()) continue;
      for (const uint32_t reader : found->second) {
        if (behind[reader]) continue;
        behind[reader] = true;
        waiting.push_back(reader);
      }
    }
  }
  return behind;
}

void WriteNames(JsonWriter& json, std::string_view key, const std::vector<std::string>& names) {
  json.Key(key);
  json.BeginArray();
  for (const std::string& name : names) json.String(name);
  json.EndArray();
}

void WriteFinding(JsonWriter& json, const LintFinding& finding) {
  json.BeginObject();
  json.Key("level");
  json.String(LintLevelName(finding.level));
  json.Key("source");
  json.String(finding.source);
  json.Key("message");
  json.String(finding.message);
  if (!finding.nodes.empty()) WriteNames(json, "nodes", finding.nodes);
  json.Key("rule");
  json.String(finding.rule);
  json.EndObject();
}

}  // namespace

Status CheckRuleNames(std::span<const std::string> names) {
  std::vector<std::string_view> all;
  for (const LintRule* rule : lint_rule::All()) all.emplace_back(rule->name);
  return CheckNames(names, {"--skip", "a rule", "rules", all});
}

void LintModel(const OnnxModel& model, const LintContext& context, Findings& findings) {
  const OperatorTable table;
  const LintSubject subject{model, table, findings, context.inputs, context.external_data_dir};
  CheckModel(subject);
  CheckNames(subject);
  CheckOperators(subject);
  CheckTypes(subject);
  CheckShapes(subject);
  CheckWeights(subject);
  CheckUsage(subject);
}

size_t LintRecord::Count(LintLevel level) const {
  return static_cast<size_t>(
      std::count_if(findings.begin(), findings.end(),
                    [&](const LintFinding& finding) { return finding.level == level; }));
}

LintRecord MakeLintRecord(const OnnxModel& model, Findings findings,
                          const std::vector<LintRun>& runs) {
  LintRecord record;
  const std::vector<bool> behind = BehindFailing(model, findings);
  const std::vector<bool> needed = NodesOutputsDependOn(model);
  // Of a faulty model that was to be run, only what ran is known to be good.
  const bool only_ran = !runs.empty() && findings.AnyException();
  Names listed;  // names may repeat
  const auto list = [&](uint32_t i, std::vector<std::string>& names) {
    if (listed.insert(findings.NameOf(i)).second) names.push_back(findings.NameOf(i));
  };
  const auto count = static_cast<uint32_t>(model.graph().nodes.size());
  for (uint32_t i = 0; i < count; ++i) {
    if (findings.Failed(i)) list(i, record.failing);
  }
  for (uint32_t i = 0; i < count; ++i) {
    const bool ran = !runs.empty() && runs[i] == LintRun::kPassed;
    if (!ran) record.not_run.push_back(findings.NameOf(i));
    const bool by_rules = !only_ran && !behind[i] && needed[i];
    if (ran || by_rules) list(i, record.passing);
  }
  record.findings = std::move(findings).Take();
  return record;
}

LintRecord UnreadableRecord(const Status& why) {
  LintRecord record;
  const LintRule& rule = lint_rule::kUnreadable;
  record.findings.push_back(
      {rule.level, std::string(rule.source), std::string(rule.name), why.message(), {}, {}});
  return record;
}

std::string ToJson(const LintRecord& record) {
  StringSink sink;
  JsonWriter json(sink);
  json.BeginObject();
  json.Key("summary");
  json.BeginObject();
  WriteNames(json, "passing", record.passing);
  WriteNames(json, "failing", record.failing);
  json.EndObject();
  json.Key("lint_entries");
  json.BeginArray();
  for (const LintFinding& finding : record.findings) WriteFinding(json, finding);
  json.EndArray();
  json.Key("vernier");
  json.BeginObject();
  json.Key("schema_version");
  json.Integer(1);
  WriteNames(json, "runners", record.runners);
  WriteNames(json, "not_run", record.not_run);
  json.EndObject();
  json.EndObject();
  // A string takes everything.
  (void)json.Finish();
  return sink.text() + "\n";
}

}  // namespace vernier
