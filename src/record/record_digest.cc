#include "record/record_digest.h"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

namespace vernier {
namespace {

using SortedJson = nlohmann::json;

// Not a number is written as a text: "inf" exceeds everything.
double NumberOf(const SortedJson& value) {
  if (value.is_number()) return value.get<double>();
  return value == "inf" ? std::numeric_limits<double>::infinity() : 0;
}

std::string TextOf(const SortedJson& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

const SortedJson& ListOf(const SortedJson& object, const char* key) {
  static const SortedJson kNone = SortedJson::array();
  const auto found = object.find(key);
  return found != object.end() && found->is_array() ? *found : kNone;
}

void AddOutput(const SortedJson& output, RecordDigest& digest) {
  ++digest.outputs;
  const auto passed = output.find("passed");
  const auto times_over = output.find("times_over_tolerance");
  // What differs shows that it does.
  if (passed == output.end() || *passed != true) {
    ++digest.failed;
  } else if (!TextOf(output, "vacuous").empty()) {
    ++digest.vacuous;
  }
  const auto elements = output.find("elements");
  if (elements != output.end() && elements->is_number_integer()) {
    digest.elements += elements->get<int64_t>();
  }
  const double times = times_over == output.end() ? 0 : NumberOf(*times_over);
  if (times > digest.worst_times_tolerance) {
    digest.worst_times_tolerance = times;
    digest.worst_output = TextOf(output, "name");
  }
}

}  // namespace

Result<RecordDigest> ReadRecordDigest(std::string_view text) {
  const SortedJson json = SortedJson::parse(text, nullptr, false);
  if (!json.is_object() || !json.contains("schema_version")) {
    return Malformed("this is no record of --save-record");
  }
  RecordDigest digest;
  for (const SortedJson& saved : ListOf(json, "saved")) {
    if (saved.is_object()) digest.saved.push_back(TextOf(saved, "where"));
  }
  for (const SortedJson& pair : ListOf(json, "pairs")) {
    ++digest.pairs;
    digest.one_sided += static_cast<int64_t>(ListOf(pair, "only_in_first").size() +
                                             ListOf(pair, "only_in_second").size());
    digest.left_out += static_cast<int64_t>(ListOf(pair, "without_verdict").size() +
                                            ListOf(pair, "dropped").size());
    for (const SortedJson& output : ListOf(pair, "outputs")) {
      if (output.is_object()) AddOutput(output, digest);
    }
  }
  for (const SortedJson& fault : ListOf(json, "faults")) {
    if (digest.error.empty() && fault.is_string()) digest.error = fault.get<std::string>();
  }
  for (const SortedJson& runner : ListOf(json, "runners")) {
    const std::string failure = TextOf(runner, "failure");
    if (failure.empty()) continue;
    digest.error = failure;
    break;
  }
  if (const std::string error = TextOf(json, "error"); !error.empty()) digest.error = error;
  return digest;
}

}  // namespace vernier
