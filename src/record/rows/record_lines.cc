// The record line by line.
#include "record/schema/record_visit.h"
#include "vernier/blame_record.h"

namespace vernier {
namespace {

using Json = RecordJson;

// A line holds what programs filter by; pictures and long lists stay in the record.
Json OutputLine(const PairRecord& pair, const OutputRecord& output) {
  OutputRecord plain = output;
  plain.figures.charts.reset();
  Json line = {{"kind", "output"}, {"first", pair.first}, {"second", pair.second}};
  line.update(WriteFields(plain));
  line["worst_iteration"].erase("charts");
  return line;
}

Json PairLine(const PairRecord& pair) {
  Json line = {{"kind", "pair"},
               {"first", pair.first},
               {"second", pair.second},
               {"outputs", pair.outputs.size()},
               {"compared_iterations", pair.compared_iterations},
               {"expected_iterations", pair.expected_iterations},
               {"only_in_first", pair.only_in_first},
               {"only_in_second", pair.only_in_second},
               {"without_verdict", pair.without_verdict},
               {"dropped", pair.dropped},
               {"judged_by", pair.judged_by}};
  if (pair.decode) line["decode"] = WriteFields(*pair.decode);
  return line;
}

// The name of `kind` is taken: it says what the line is.
Json DecisionLine(const char* what, const PairRecord& pair, Json fields) {
  Json line = {{"kind", what}, {"first", pair.first}, {"second", pair.second}};
  fields["decide"] = fields["kind"];
  fields.erase("kind");
  if (fields.contains("worst")) {
    for (Json& flip : fields["worst"]) flip.erase("pictures");
  }
  line.update(fields);
  return line;
}

}  // namespace

std::string ToJsonLines(const RunRecord& record) {
  std::string text;
  const auto add = [&](const Json& line) { text += DumpJson(line, -1) + "\n"; };
  add({{"kind", "run"},
       {"schema_version", kRecordSchemaVersion},
       {"vernier_version", record.version},
       {"command", record.command},
       {"origin", WriteFields(record.origin)},
       {"notes", record.notes}});
  for (const RunnerRecord& runner : record.runners) {
    Json line = {{"kind", "runner"}};
    line.update(WriteFields(runner));
    add(line);
  }
  for (const PairRecord& pair : record.pairs) {
    for (const OutputRecord& output : pair.outputs) add(OutputLine(pair, output));
    for (const DecisionRecord& decision : pair.decisions) {
      add(DecisionLine("decision", pair, WriteFields(decision)));
    }
    for (const DecisionGateRecord& gate : pair.decision_gates) {
      add(DecisionLine("decision_gate", pair, WriteFields(gate)));
    }
    add(PairLine(pair));
  }
  if (record.profile) {
    for (const ProfilePoint& point : record.profile->points) {
      Json line = {{"kind", "profile"}};
      line.update(WriteFields(point));
      add(line);
    }
  }
  if (record.blame) {
    for (const BlameCulprit& culprit : record.blame->culprits) {
      Json line = {{"kind", "culprit"}};
      line.update(CulpritJson(culprit));
      add(line);
    }
  }
  add({{"kind", "verdict"},
       {"exit_code", record.exit_code},
       {"complete", IsComplete(record)},
       {"faults", record.faults},
       {"rejections", record.rejections},
       {"error", TextJson(record.error)},
       {"seconds", record.seconds}});
  return text;
}

}  // namespace vernier
