#include "record/schema/record_fields.h"

#include <limits>
#include <utility>

namespace vernier {
namespace {

using Json = RecordJson;

// What NumberJson makes of numbers that JSON does not have.
std::optional<double> NotFinite(const Json& value) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (value == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (value == "inf") return kInfinity;
  if (value == "-inf") return -kInfinity;
  return std::nullopt;
}

}  // namespace

RecordFields::RecordFields(const Json& json, std::string path, std::string* error, Absent absent)
    : json_(json), path_(std::move(path)), error_(error), absent_(absent) {
  if (!json_.is_object()) Complain("", "an object");
}

std::string RecordFields::Text(const char* key) const {
  const Json* value = Find(key);
  if (value == nullptr) return "";
  if (value->is_string()) return value->get<std::string>();
  Complain(key, "text");
  return "";
}

std::vector<std::string> RecordFields::Texts(const char* key) const {
  std::vector<std::string> texts;
  for (const Json& item : List(key)) {
    if (!item.is_string()) Complain(key, "a list of texts");
    texts.push_back(item.is_string() ? item.get<std::string>() : "");
  }
  return texts;
}

bool RecordFields::Flag(const char* key) const {
  constexpr const char* kExpected = "true or false";
  const Json* value = FindValue(key, kExpected);
  if (value == nullptr) return false;
  if (value->is_boolean()) return value->get<bool>();
  Complain(key, kExpected);
  return false;
}

double RecordFields::Number(const char* key) const {
  (void)FindValue(key, "a number");
  return MaybeNumber(key).value_or(0);
}

std::optional<double> RecordFields::MaybeNumber(const char* key) const {
  const Json* value = Find(key);
  if (value == nullptr) return std::nullopt;
  if (value->is_number()) return value->get<double>();
  const std::optional<double> number = NotFinite(*value);
  if (!number) Complain(key, "a number");
  return number;
}

int64_t RecordFields::Integer(const char* key) const {
  constexpr const char* kExpected = "a whole number";
  const Json* value = FindValue(key, kExpected);
  if (value == nullptr) return 0;
  if (value->is_number_integer()) return value->get<int64_t>();
  Complain(key, kExpected);
  return 0;
}

std::string RecordFields::Digits(const char* key) const {
  const Json* value = Find(key);
  return value != nullptr && value->is_number_integer() ? value->dump() : "";
}

std::vector<int64_t> RecordFields::Integers(const char* key) const {
  std::vector<int64_t> numbers;
  for (const Json& item : List(key)) {
    if (!item.is_number_integer()) Complain(key, "a list of whole numbers");
    numbers.push_back(item.is_number_integer() ? item.get<int64_t>() : 0);
  }
  return numbers;
}

int RecordFields::Small(const char* key) const {
  const int64_t value = Integer(key);
  if (std::in_range<int>(value)) return static_cast<int>(value);
  Complain(key, "a smaller number");
  return 0;
}

bool RecordFields::HoldsWords(const char* key) const {
  const Json* value = Find(key);
  return value != nullptr && value->is_string() && !NotFinite(*value);
}

RecordFields RecordFields::Object(const char* key) const {
  static const Json kNothing = Json::object();
  const Json* value = Find(key);
  return RecordFields(value == nullptr ? kNothing : *value, path_ + key + ".", error_, absent_);
}

const Json* RecordFields::Look(const char* key) const {
  if (!json_.is_object()) return nullptr;
  const auto found = json_.find(key);
  return found == json_.end() || found->is_null() ? nullptr : &*found;
}

const Json* RecordFields::Find(const char* key) const {
  const bool wrong = absent_ == Absent::kWrong && json_.is_object() && !json_.contains(key);
  if (wrong) Complain(key, "to be there");
  return Look(key);
}

// Of what null cannot stand for.
const Json* RecordFields::FindValue(const char* key, const char* expected) const {
  const Json* value = Find(key);
  if (value == nullptr && absent_ == Absent::kWrong) Complain(key, expected);
  return value;
}

const Json& RecordFields::List(const char* key) const {
  static const Json kNothing = Json::array();
  const Json* value = Find(key);
  if (value == nullptr) return kNothing;
  if (value->is_array()) return *value;
  Complain(key, "a list");
  return kNothing;
}

void RecordFields::Complain(const char* key, const char* expected) const {
  if (!error_->empty()) return;
  std::string place = path_ + key;
  if (place.ends_with('.')) place.pop_back();  // the object itself
  *error_ = (place.empty() ? "the record" : "field '" + place + "'") + ": expected " + expected;
}

}  // namespace vernier
