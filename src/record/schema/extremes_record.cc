#include "vernier/extremes_record.h"

#include <algorithm>

#include "record/schema/record_visit.h"

namespace vernier {
namespace {

constexpr int kExtremesSchema = 1;

}  // namespace

template <typename Fields>
void ListFields(Fields& field, const IdleOutput& output) {
  field("output", output.name);
  field.Text("why", output.why);
}

template <typename Fields>
void ListFields(Fields& field, const ExtremeAnswer& answer) {
  field("set", answer.set);
  field("runner", answer.runner);
  field.Text("failure", answer.failure);
  field("elements", answer.elements);
  field("nan", answer.nan);
  field("infinite", answer.infinite);
  field("denormal", answer.denormal);
  field("zero", answer.zero);
  field("compared", answer.compared);
  field.Text("beside", answer.beside);
  field("only_here_not_finite", answer.only_here_not_finite);
  field("only_here_finite", answer.only_here_finite);
  field("other_kind", answer.other_kind);
  field("flushed", answer.flushed);
  field("kept", answer.kept);
  field("other_value", answer.other_value);
  field("other_exact", answer.other_exact);
  field("other_sign", answer.other_sign);
  field.Text("output", answer.output);
  field("not_compared", answer.not_compared);
}

template <typename Fields>
void ListFields(Fields& field, const ExtremeRunner& runner) {
  field("name", runner.name);
  field("backend", runner.backend);
  field("framework_version", runner.framework_version);
  field.Text("failure", runner.failure);
}

template <typename Fields>
void ListFields(Fields& field, const ExtremesRecord& record) {
  field("schema_version", kExtremesSchema);
  field("vernier_version", record.version);
  field("command", record.command);
  field("agree", record.agree());
  field("runners", record.runners);
  field("answers", record.answers);
  field("not_tried", record.not_tried);
  field("integers_kept", record.integers_kept);
  field("outputs", record.outputs);
  field.Text("sizes_found", record.sizes_found);
  field("shows_nothing", record.shows_nothing);
}

bool ExtremesRecord::agree() const {
  return std::none_of(answers.begin(), answers.end(),
                      [](const ExtremeAnswer& answer) { return answer.disagrees(); });
}

bool ExtremesRecord::compared_nothing() const {
  const auto has_other = [](const ExtremeAnswer& answer) { return !answer.beside.empty(); };
  return std::any_of(answers.begin(), answers.end(), has_other) &&
         std::none_of(answers.begin(), answers.end(),
                      [](const ExtremeAnswer& answer) { return answer.compared > 0; });
}

bool ExtremesRecord::counted_nothing() const {
  const auto answered = [](const ExtremeAnswer& answer) { return answer.failure.empty(); };
  return std::any_of(answers.begin(), answers.end(), answered) &&
         std::none_of(answers.begin(), answers.end(),
                      [](const ExtremeAnswer& answer) { return answer.elements > 0; });
}

std::string ToJson(const ExtremesRecord& record) { return DumpJson(WriteFields(record), 2) + "\n"; }

}  // namespace vernier
