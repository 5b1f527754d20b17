#include "record/extremes_record.h"

#include <algorithm>

#include "record/record_json.h"

namespace vernier {
namespace {

using Json = RecordJson;

constexpr int kExtremesSchema = 1;

Json ToJson(const ExtremeAnswer& answer) {
  return {{"set", answer.set},
          {"runner", answer.runner},
          {"failure", TextJson(answer.failure)},
          {"elements", answer.elements},
          {"nan", answer.nan},
          {"infinite", answer.infinite},
          {"denormal", answer.denormal},
          {"zero", answer.zero},
          {"compared", answer.compared},
          {"beside", TextJson(answer.beside)},
          {"only_here_not_finite", answer.only_here_not_finite},
          {"only_here_finite", answer.only_here_finite},
          {"other_kind", answer.other_kind},
          {"flushed", answer.flushed},
          {"kept", answer.kept},
          {"other_value", answer.other_value},
          {"other_exact", answer.other_exact},
          {"other_sign", answer.other_sign},
          {"output", TextJson(answer.output)},
          {"not_compared", answer.not_compared}};
}

}  // namespace

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

std::string ToJson(const ExtremesRecord& record) {
  Json json = {{"schema_version", kExtremesSchema}, {"vernier_version", record.version},
               {"command", record.command},         {"agree", record.agree()},
               {"runners", Json::array()},          {"answers", Json::array()},
               {"not_tried", record.not_tried},     {"integers_kept", record.integers_kept},
               {"outputs", record.outputs},         {"sizes_found", TextJson(record.sizes_found)},
               {"shows_nothing", Json::array()}};
  for (const IdleOutput& output : record.shows_nothing) {
    json["shows_nothing"].push_back({{"output", output.name}, {"why", TextJson(output.why)}});
  }
  for (const ExtremeRunner& runner : record.runners) {
    json["runners"].push_back({{"name", runner.name},
                               {"backend", runner.backend},
                               {"framework_version", runner.framework_version},
                               {"failure", TextJson(runner.failure)}});
  }
  for (const ExtremeAnswer& answer : record.answers) json["answers"].push_back(ToJson(answer));
  return DumpJson(json, 2) + "\n";
}

}  // namespace vernier
