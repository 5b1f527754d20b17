#include "record/consistency_record.h"

#include "record/record_json.h"

namespace vernier {
namespace {

using Json = RecordJson;

constexpr int kConsistencySchema = 1;

Json ToJson(const std::vector<NotedOutput>& outputs) {
  Json json = Json::array();
  for (const NotedOutput& output : outputs) {
    json.push_back({{"output", output.name}, {"why", TextJson(output.why)}});
  }
  return json;
}

Json ToJson(const PropertyRecord& property) {
  Json json = {{"name", property.name},
               {"verdict", PropertyVerdictName(property.verdict)},
               {"detail", property.detail},
               {"left_out", ToJson(property.left_out)}};
  if (property.verdict == PropertyVerdict::kBroken) json["smallest_case"] = property.smallest_case;
  if (property.verdict == PropertyVerdict::kHolds) {
    json["times_bar"] = NumberJson(property.times_over);
  }
  return json;
}

Json ToJson(const ConsistencyCoverage& coverage) {
  return {{"outputs", coverage.outputs},
          {"elements", coverage.elements},
          {"shows_nothing", ToJson(coverage.shows_nothing)},
          {"not_compared", ToJson(coverage.not_compared)},
          {"no_rows", ToJson(coverage.no_rows)}};
}

Json ToJson(const ConsistencyRunner& runner) {
  Json json = {{"name", runner.name},
               {"backend", runner.backend},
               {"framework_version", runner.framework_version},
               {"precision", runner.precision},
               {"sizes_found", TextJson(runner.sizes_found)},
               {"failure", TextJson(runner.failure)},
               {"coverage", ToJson(runner.coverage)},
               {"properties", Json::array()}};
  for (const PropertyRecord& property : runner.properties) {
    json["properties"].push_back(ToJson(property));
  }
  return json;
}

}  // namespace

std::string_view PropertyVerdictName(PropertyVerdict verdict) {
  switch (verdict) {
    case PropertyVerdict::kHolds:
      return "holds";
    case PropertyVerdict::kBroken:
      return "broken";
    case PropertyVerdict::kNotApplicable:
      return "not applicable";
  }
  return "";
}

bool ConsistencyRecord::consistent() const {
  for (const ConsistencyRunner& runner : runners) {
    for (const PropertyRecord& property : runner.properties) {
      if (property.verdict == PropertyVerdict::kBroken) return false;
    }
  }
  return true;
}

int64_t ConsistencyRecord::tried() const {
  int64_t count = 0;
  for (const ConsistencyRunner& runner : runners) {
    for (const PropertyRecord& property : runner.properties) {
      count += property.verdict == PropertyVerdict::kNotApplicable ? 0 : 1;
    }
  }
  return count;
}

std::string ToJson(const ConsistencyRecord& record) {
  Json json = {{"schema_version", kConsistencySchema},
               {"vernier_version", record.version},
               {"command", record.command},
               {"complete", record.complete},
               {"consistent", record.consistent()},
               {"runners", Json::array()}};
  for (const ConsistencyRunner& runner : record.runners) json["runners"].push_back(ToJson(runner));
  return DumpJson(json, 2) + "\n";
}

}  // namespace vernier
