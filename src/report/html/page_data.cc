#include "report/html/page_data.h"

#include <cmath>
#include <map>
#include <string_view>

#include "compare/functions/metric_table.h"
#include "io/bytes/byte_sink.h"
#include "io/json/json_writer.h"
#include "record/schema/page_json.h"
#include "report/text/decision_text.h"
#include "report/text/decode_text.h"
#include "report/text/next_step.h"
#include "report/text/run_summary.h"
#include "report/text/step_text.h"
#include "report/text/tokens_text.h"
#include "report/text/verdict_text.h"
#include "util/text/number_text.h"
#include "util/text/shell_words.h"
#include "vernier/blame_record.h"

namespace vernier {
namespace {

void AddText(JsonWriter& json, const char* key, std::string_view text) {
  if (text.empty()) return;
  json.Key(key);
  json.String(text);
}

// As records have it.
void AddNumber(JsonWriter& json, const char* key, double value) {
  json.Key(key);
  if (!std::isfinite(value)) return json.String(FormatG(value, 1));
  json.Fail(json.BeginRaw().WriteText(FormatG(value, 6)));
}

// How the page shows the distances of outputs.
void AddMetrics(JsonWriter& json) {
  json.Key("metrics");
  json.BeginArray();
  for (const MetricRow& metric : MetricTable()) {
    if (metric.title.empty()) continue;
    json.BeginObject();
    AddText(json, "name", metric.name);
    AddText(json, "title", metric.title);
    AddText(json, "unit", metric.unit);
    if (metric.digits > 0) {
      json.Key("digits");
      json.Integer(metric.digits);
    }
    json.EndObject();
  }
  json.EndArray();
}

// Each tensor's own error, by its name.
using OwnErrors = std::map<std::string_view, double>;

OwnErrors OwnErrorsOf(const RunRecord& record) {
  OwnErrors errors;
  if (record.blame == nullptr) return errors;
  for (const BlameLayerRecord& layer : record.blame->layers) {
    for (const BlameTensorRecord& tensor : layer.outputs) {
      if (tensor.own_error) errors[tensor.name] = *tensor.own_error;
    }
  }
  return errors;
}

void AddOutput(JsonWriter& json, const PairRecord& pair, const OutputRecord& output,
               const OwnErrors& own) {
  json.BeginObject();
  AddText(json, "verdict", OutputVerdict(pair, output));
  AddText(json, "failure", DescribeFailure(pair, output));
  if (HoldsIntegers(output)) {
    json.Key("whole");
    json.Bool(true);
    if (output.max_absolute_error) {
      AddText(json, "max_abs", FormatError(*output.max_absolute_error, output));
    }
  }
  auto found = own.find(output.name);
  if (found == own.end()) found = own.find(output.other_name);
  if (found != own.end()) AddNumber(json, "own_error", found->second);
  json.EndObject();
}

void AddPair(JsonWriter& json, const PairRecord& pair, bool averaged, const OwnErrors& own) {
  json.BeginObject();
  AddText(json, "summary", FormatPair(pair, averaged));
  AddText(json, "steps", FormatStepsAndTokens(pair));
  json.Key("tokens");
  json.BeginArray();
  for (const std::string& tokens : FormatTokens(pair)) json.String(tokens);
  json.EndArray();
  json.Key("outputs");
  json.BeginArray();
  for (const OutputRecord& output : pair.outputs) {
    AddOutput(json, pair, output, pair.by_layer ? own : OwnErrors());
  }
  json.EndArray();
  json.EndObject();
}

// What is no part of a record: our sentences, which other reports have too, and verdicts.
std::string MakeTexts(const RunRecord& record) {
  const VerdictText verdict = DecideVerdict(record);
  const OriginRecord& origin = record.origin;
  StringSink sink;
  JsonWriter json(sink, JsonLayout::kCompact);
  json.BeginObject();
  if (verdict.outcome == Outcome::kMismatched) AddText(json, "next", Trim(FormatAdvice(record)));
  AddText(json, "command", origin.words.empty() ? record.command : JoinForShell(origin.words));
  if (record.blame != nullptr && record.blame->at_step) {
    AddText(json, "at_step", FormatBlameStep(*record.blame->at_step));
  }
  if (record.blame != nullptr && record.blame->on_flips) {
    AddText(json, "on_flips", FormatBlameFlips(*record.blame->on_flips));
  }
  AddMetrics(json);
  const OwnErrors own = OwnErrorsOf(record);
  json.Key("pairs");
  json.BeginArray();
  for (const PairRecord& pair : record.pairs) AddPair(json, pair, record.averaged, own);
  json.EndArray();
  json.EndObject();
  (void)json.Finish();  // a string takes everything
  return sink.text();
}

}  // namespace

std::string MakePageData(const RunRecord& record) {
  const std::string data =
      "{\"record\":" + ToPageJson(record) + ",\"texts\":" + MakeTexts(record) + "}";
  // '<' stands in strings only, where an escape means the same.
  std::string escaped;
  escaped.reserve(data.size());
  for (const char c : data) {
    if (c == '<') {
      escaped += "\\u003c";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

}  // namespace vernier
