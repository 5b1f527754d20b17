#include "vernier/consistency_record.h"

#include "record/schema/record_visit.h"

namespace vernier {
namespace {

constexpr int kConsistencySchema = 1;

}  // namespace

template <typename Fields>
void ListFields(Fields& field, const NotedOutput& output) {
  field("output", output.name);
  field.Text("why", output.why);
}

template <typename Fields>
void ListFields(Fields& field, const PropertyRecord& property) {
  field("name", property.name);
  field("verdict", PropertyVerdictName(property.verdict));
  field("detail", property.detail);
  field("left_out", property.left_out);
  if (property.verdict == PropertyVerdict::kBroken) field("smallest_case", property.smallest_case);
  if (property.verdict == PropertyVerdict::kHolds) field("times_over", property.times_over);
  if (property.condition > 1) field("condition", property.condition);
}

template <typename Fields>
void ListFields(Fields& field, const ConsistencyCoverage& coverage) {
  field("outputs", coverage.outputs);
  field("elements", coverage.elements);
  field("shows_nothing", coverage.shows_nothing);
  field("not_compared", coverage.not_compared);
  field("no_rows", coverage.no_rows);
}

template <typename Fields>
void ListFields(Fields& field, const ConsistencyRunner& runner) {
  field("name", runner.name);
  field("backend", runner.backend);
  field("framework_version", runner.framework_version);
  field("precision", runner.precision);
  field.Text("sizes_found", runner.sizes_found);
  field.Text("failure", runner.failure);
  field("coverage", runner.coverage);
  field("properties", runner.properties);
}

template <typename Fields>
void ListFields(Fields& field, const ConsistencyRecord& record) {
  field("schema_version", kConsistencySchema);
  field("vernier_version", record.version);
  field("command", record.command);
  field("complete", record.complete);
  field("consistent", record.consistent());
  field("runners", record.runners);
}

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
  return DumpJson(WriteFields(record), 2) + "\n";
}

}  // namespace vernier
