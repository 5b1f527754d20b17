#include "record/schema/page_json.h"

#include <cmath>
#include <cstdlib>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "record/schema/record_visit.h"
#include "util/text/number_text.h"

namespace vernier {
namespace {

// Enough to distinguish neighbouring float32 values.
constexpr int kPageDigits = 9;
// JavaScript would round whole numbers from here on: 2^53 + 1 is 2^53 there.
constexpr double kLargestExact = 0x1p53;

bool GoesWithoutSaying(const RecordJson& json) {
  return json.is_null() || json == false || json == "" || (json.is_structured() && json.empty());
}

RecordJson Shortened(const RecordJson& json) {
  if (json.is_number_float()) {
    return std::strtod(FormatG(json.get<double>(), kPageDigits).c_str(), nullptr);
  }
  if (json.is_number_integer()) {
    return std::fabs(json.get<double>()) >= kLargestExact ? RecordJson(json.dump()) : json;
  }
  if (!json.is_structured()) return json;
  RecordJson out = json.is_array() ? RecordJson::array() : RecordJson::object();
  for (const auto& [key, value] : json.items()) {
    RecordJson part = Shortened(value);
    if (json.is_array()) {
      out.push_back(std::move(part));
    } else if (!GoesWithoutSaying(part)) {
      out[key] = std::move(part);
    }
  }
  return out;
}

// Objects without their keys: {"N": [values]}, whose keys are the N-th list. Layers share a few
// lists, which saves more than a third of a large page.
class Packer {
 public:
  RecordJson Pack(const RecordJson& json) {
    if (!json.is_structured()) return json;
    std::vector<std::string> keys;
    RecordJson values = RecordJson::array();
    for (const auto& [key, value] : json.items()) {
      if (json.is_object()) keys.push_back(key);
      values.push_back(Pack(value));
    }
    if (json.is_array()) return values;
    const auto [place, is_new] = places_.try_emplace(keys, places_.size());
    if (is_new) lists_.push_back(keys);
    RecordJson out = RecordJson::object();
    out[std::to_string(place->second)] = std::move(values);
    return out;
  }

  const RecordJson& lists() const { return lists_; }

 private:
  std::map<std::vector<std::string>, size_t> places_;
  RecordJson lists_ = RecordJson::array();
};

}  // namespace

std::string ToPageJson(const RunRecord& record) {
  RecordJson json = WriteFields(record);
  json.erase("inference_results");
  json.erase("comparison_results");
  if (record.blame) json["blame"].erase("layers");
  for (const PairRecord& pair : record.pairs) {
    if (!pair.by_layer) continue;
    json["pairs"].push_back(WriteFields(pair));
    json["pairs"].back()["by_layer"] = true;
  }
  Packer packer;
  RecordJson page = RecordJson::object();
  page["value"] = packer.Pack(Shortened(json));
  page["keys"] = packer.lists();
  return DumpJson(page, -1);
}

}  // namespace vernier
