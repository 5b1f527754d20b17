// Decides what is described on standard input, one JSON object a line, and prints the samples as
// JSON, one line for each:
//
//   {"decision": "top5", "bound": [ATOL, RTOL], "near_tie": 0.1, "sides": [[DTYPE, DIMS, FILE],
//   ...]}
//   {"wilson": [3, 10]}  {"mcnemar": [1, 7]}  {"power": [0.01, 0.05]}  {"decide": [0.1, 0.2]}
//   {"average_precision": LABELS, "detections": FILE}: average_precision_request.h
//   {"drop": [BOTH, ONLY_FIRST, ONLY_SECOND, NEITHER]}, of which "limit" asks for the samples that
//   decide; {"bootstrap": [FIRST, SECOND], "seed": 1}
//
// `bound` and `near_tie` may be absent; FILE holds raw elements. Doubles are text with 17 digits.

#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "average_precision_request.h"
#include "decide/figures/bootstrap.h"
#include "decide/figures/intervals.h"
#include "decide/kinds/decision.h"

namespace vernier {
namespace {

using Json = nlohmann::json;

std::string Digits(double value) {
  char text[40];
  std::snprintf(text, sizeof(text), "%.17g", value);
  return text;
}

Result<Tensor> ReadSide(const Json& side) {
  std::ifstream file(side[2].get<std::string>(), std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  return Tensor::Copy(DTypeFromName(side[0].get<std::string>()).value_or(DType::kUndefined),
                      side[1].get<Dims>(),
                      {reinterpret_cast<const std::byte*>(bytes.data()), bytes.size()});
}

std::optional<double> NumberOf(const Json& request, const char* name) {
  if (!request.contains(name)) return std::nullopt;
  return request[name].get<double>();
}

std::optional<AllowedDifference> AllowedOf(const Json& request) {
  if (!request.contains("bound")) return std::nullopt;
  return AllowedDifference{request["bound"][0].get<double>(), request["bound"][1].get<double>()};
}

Json SampleJson(const DecisionSample& sample) {
  constexpr const char* kFlips[] = {"none", "near", "clear", "invalid"};
  return {{"first", sample.first},
          {"second", sample.second},
          {"first_margin", Digits(sample.first_margin)},
          {"second_margin", Digits(sample.second_margin)},
          {"near_tie", Digits(sample.near_tie)},
          {"similarity", Digits(sample.similarity)},
          {"flip", kFlips[static_cast<size_t>(sample.flip)]},
          {"detail", sample.detail}};
}

Result<Json> DecideRequest(const Json& request) {
  VERNIER_ASSIGN_OR_RETURN(const DecisionPlan plan,
                           ParseDecision(request["decision"].get<std::string>()));
  VERNIER_ASSIGN_OR_RETURN(const Tensor reference, ReadSide(request["sides"][0]));
  VERNIER_ASSIGN_OR_RETURN(const Tensor candidate, ReadSide(request["sides"][1]));
  VERNIER_ASSIGN_OR_RETURN(
      const std::vector<DecisionSample> samples,
      Decide(plan, reference, candidate, AllowedOf(request), NumberOf(request, "near_tie")));
  Json answer = Json::array();
  for (const DecisionSample& sample : samples) answer.push_back(SampleJson(sample));
  return answer;
}

PairedCounts CountsIn(const Json& counts) { return {counts[0], counts[1], counts[2], counts[3]}; }

Json Bootstrap(const Json& request) {
  const auto first = request["bootstrap"][0].get<std::vector<double>>();
  const auto second = request["bootstrap"][1].get<std::vector<double>>();
  const PairedMeans means = BootstrapMeans(first, second, request["seed"].get<uint64_t>());
  Json answer = Json::array();
  for (const auto& [low, high] : {means.first, means.second, means.difference}) {
    answer.push_back(Digits(low));
    answer.push_back(Digits(high));
  }
  return answer;
}

Json Answer(const Json& request) {
  if (request.contains("bootstrap")) return Bootstrap(request);
  if (request.contains("limit")) {
    return SamplesToDecideDrop(CountsIn(request["drop"]), request["limit"]);
  }
  if (request.contains("drop")) {
    const auto [low, high] = PairedDropInterval(CountsIn(request["drop"]));
    return {Digits(low), Digits(high)};
  }
  if (request.contains("wilson")) {
    const auto [low, high] = WilsonInterval(request["wilson"][0], request["wilson"][1]);
    return {Digits(low), Digits(high)};
  }
  if (request.contains("mcnemar")) {
    return Digits(McNemarP(request["mcnemar"][0], request["mcnemar"][1]));
  }
  if (request.contains("power")) return McNemarSamples(request["power"][0], request["power"][1]);
  if (request.contains("decide")) {
    return SamplesToDecide(request["decide"][0], request["decide"][1]);
  }
  if (request.contains("average_precision")) return AveragePrecisionAnswer(request);
  Result<Json> answer = DecideRequest(request);
  return answer.ok() ? *std::move(answer) : Json{{"error", answer.status().message()}};
}

}  // namespace
}  // namespace vernier

int main() {
  std::string line;
  while (std::getline(std::cin, line)) {
    std::cout << vernier::Answer(nlohmann::json::parse(line)).dump() << std::endl;
  }
  return 0;
}
