// Writing and reading records by their lists of fields (record_schema.h). Only for this folder.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "record/record_fields.h"
#include "record/record_json.h"
#include "record/record_schema.h"

namespace vernier {

/// Texts of two fields, as lists of objects: skipped outputs and their reasons.
using TextPairs = std::vector<std::pair<std::string, std::string>>;

class FieldWriter {
 public:
  template <typename T>
  void operator()(const char* key, const T& value) {
    json_[key] = JsonOf(value);
  }

  /// Null when it is empty.
  void Text(const char* key, const std::string& text) { json_[key] = TextJson(text); }
  /// Left out when it is empty.
  void TextIfAny(const char* key, const std::string& text) {
    if (!text.empty()) json_[key] = text;
  }
  void TextOr(const char* key, const std::string& text, const std::string& fallback) {
    json_[key] = text.empty() ? fallback : text;
  }

  /// Null unless `there`.
  template <typename T>
  void If(bool there, const char* key, const T& value) {
    json_[key] = there ? JsonOf(value) : RecordJson();
  }
  /// Left out when there is none.
  template <typename T>
  void Given(const char* key, const std::optional<T>& value) {
    if (value) json_[key] = JsonOf(*value);
  }
  /// What readers of the file want to have and we can tell from the rest.
  void Derived(const char* key, bool value) { json_[key] = value; }
  template <typename Record>
  void Computed(const char* key, const Record& record) {
    json_[key] = JsonOf(record);
  }

  void Pairs(const char* key, const TextPairs& pairs, const char* first, const char* second) {
    json_[key] = RecordJson::array();
    for (const auto& [a, b] : pairs) json_[key].push_back({{first, a}, {second, b}});
  }

  /// A number whose digits are known where it is whole.
  void Whole(const char* key, double value, const std::string& digits) {
    const RecordJson whole = RecordJson::parse(digits, nullptr, false);
    json_[key] = whole.is_number_integer() ? whole : JsonOf(value);
  }
  /// Of string tensors the texts are in the place of the numbers.
  void Values(const ElementRecord& element) {
    Whole("first", element.first, element.first_digits);
    Whole("second", element.second, element.second_digits);
    if (element.first_text) json_["first"] = *element.first_text;
    if (element.second_text) json_["second"] = *element.second_text;
  }

  RecordJson Take() { return std::move(json_); }

 private:
  static RecordJson JsonOf(double value) { return NumberJson(value); }
  static RecordJson JsonOf(bool value) { return value; }
  static RecordJson JsonOf(std::integral auto value) { return value; }
  static RecordJson JsonOf(const std::string& text) { return text; }
  static RecordJson JsonOf(const std::vector<std::string>& texts) { return texts; }
  static RecordJson JsonOf(const std::vector<int64_t>& numbers) { return numbers; }
  template <typename T>
  static RecordJson JsonOf(const std::optional<T>& value) {
    return value ? JsonOf(*value) : RecordJson();
  }
  template <typename Record>
  static RecordJson JsonOf(const std::vector<Record>& records) {
    RecordJson list = RecordJson::array();
    for (const Record& record : records) list.push_back(JsonOf(record));
    return list;
  }
  template <typename Record>
  requires std::is_class_v<Record>
  static RecordJson JsonOf(const Record& record) {
    FieldWriter part;
    ListFields(part, record);
    return part.Take();
  }

  RecordJson json_ = RecordJson::object();
};

class FieldReader {
 public:
  explicit FieldReader(const RecordFields& fields) : fields_(fields) {}

  void operator()(const char* key, std::string& text) { text = fields_.Text(key); }
  void operator()(const char* key, double& number) { number = fields_.Number(key); }
  void operator()(const char* key, int64_t& number) { number = fields_.Integer(key); }
  void operator()(const char* key, int& number) { number = fields_.Small(key); }
  void operator()(const char* key, bool& flag) { flag = fields_.Flag(key); }
  void operator()(const char* key, std::vector<std::string>& texts) { texts = fields_.Texts(key); }
  void operator()(const char* key, std::vector<int64_t>& numbers) {
    numbers = fields_.Integers(key);
  }
  void operator()(const char* key, uint64_t& number) {
    number = static_cast<uint64_t>(fields_.Integer(key));
  }
  template <typename T>
  void operator()(const char* key, std::optional<T>& value) {
    if (fields_.Has(key)) (*this)(key, value.emplace());
  }
  template <typename Record>
  void operator()(const char* key, std::vector<Record>& records) {
    fields_.Each(key, [&](const RecordFields& part) {
      FieldReader reader(part);
      ListFields(reader, records.emplace_back());
    });
  }
  template <typename Record>
  requires std::is_class_v<Record>
  void operator()(const char* key, Record& record) {
    const RecordFields part = fields_.Object(key);
    FieldReader reader(part);
    ListFields(reader, record);
  }

  void Text(const char* key, std::string& text) { (*this)(key, text); }
  void TextIfAny(const char* key, std::string& text) { (*this)(key, text); }
  void TextOr(const char* key, std::string& text, const std::string&) { (*this)(key, text); }
  template <typename T>
  void If(bool, const char* key, T& value) {
    if (fields_.Has(key)) (*this)(key, value);
  }
  template <typename T>
  void Given(const char* key, std::optional<T>& value) {
    (*this)(key, value);
  }
  void Derived(const char*, bool) {}
  template <typename Record>
  void Computed(const char*, const Record&) {}

  void Pairs(const char* key, TextPairs& pairs, const char* first, const char* second) {
    fields_.Each(key, [&](const RecordFields& part) {
      pairs.emplace_back(part.Text(first), part.Text(second));
    });
  }

  void Whole(const char* key, double& value, std::string& digits) {
    value = fields_.Number(key);
    digits = fields_.Digits(key);
  }
  void Values(ElementRecord& element) {
    if (fields_.HoldsWords("first") || fields_.HoldsWords("second")) {
      element.first_text = fields_.Text("first");
      element.second_text = fields_.Text("second");
    } else {
      Whole("first", element.first, element.first_digits);
      Whole("second", element.second, element.second_digits);
    }
  }

 private:
  const RecordFields& fields_;
};

/// One record as an object.
template <typename Record>
RecordJson WriteFields(const Record& record) {
  FieldWriter writer;
  ListFields(writer, record);
  return writer.Take();
}

}  // namespace vernier
