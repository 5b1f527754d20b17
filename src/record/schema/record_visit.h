// Writing and reading records by their lists of fields (record_schema.h). Only for this folder.
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "record/schema/decision_schema.h"
#include "record/schema/logits_schema.h"
#include "record/schema/record_fields.h"
#include "record/schema/record_json.h"
#include "record/schema/record_schema.h"

namespace vernier {

/// Texts of two fields, as lists of objects: skipped outputs and their reasons.
using TextPairs = std::vector<std::pair<std::string, std::string>>;
using NamedNumbers = std::vector<std::pair<std::string, double>>;

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
  /// Null unless `known`.
  template <typename T>
  void Known(const char* key, const T& value, bool known) {
    If(known, key, value);
  }
  /// Absent from records of earlier versions.
  template <typename T>
  void Later(const char* key, const T& value) {
    (*this)(key, value);
  }
  /// What older records call the field before it.
  template <typename T>
  void Former(const char*, const T&) {}
  /// Older records call it `former`.
  template <typename T>
  void Renamed(const char* key, const char* /*former*/, const T& value) {
    (*this)(key, value);
  }
  /// What readers of the file expect and we can derive from the rest, which `make` does.
  template <typename Make>
  void Derived(const char* key, Make make) {
    json_[key] = JsonOf(make());
  }
  /// Left out when it is empty.
  template <typename Record>
  void IfAny(const char* key, const std::vector<Record>& records) {
    if (!records.empty()) (*this)(key, records);
  }
  /// The name of an enumerator.
  template <typename Names>
  void Word(const char* key, auto value, const Names& names) {
    json_[key] = names[static_cast<size_t>(value)];
  }
  /// One of two words.
  void Choice(const char* key, bool value, const char* yes, const char* no) {
    json_[key] = value ? yes : no;
  }
  /// Left out when there is none.
  void Blame(const char* key, const std::shared_ptr<const BlameRecord>& blame) {
    if (blame) json_[key] = BlameJson(*blame);
  }

  void Pairs(const char* key, const TextPairs& pairs, const char* first, const char* second) {
    json_[key] = RecordJson::array();
    for (const auto& [a, b] : pairs) json_[key].push_back({{first, a}, {second, b}});
  }

  /// Numbers by names.
  void Map(const char* key, const NamedNumbers& numbers) {
    RecordJson& map = json_[key] = RecordJson::object();
    for (const auto& [name, value] : numbers) map[name] = JsonOf(value);
  }
  /// `list` is called for each instead of ListFields().
  template <typename Record, typename List>
  void Each(const char* key, const std::vector<Record>& records, List list) {
    RecordJson& parts = json_[key] = RecordJson::array();
    for (const Record& record : records) {
      FieldWriter part;
      list(part, record);
      parts.push_back(part.Take());
    }
  }
  /// Those that `saved` picks.
  template <typename Record, typename Saved>
  void Where(const char* key, const std::vector<Record>& records, Saved saved) {
    RecordJson& parts = json_[key] = RecordJson::array();
    for (const Record& record : records) {
      if (saved(record)) parts.push_back(JsonOf(record));
    }
  }

  /// A number whose digits are known where it is whole. A number of JSON has room for 64 bits of
  /// them; longer ones get a text of their own.
  void Whole(const char* key, double value, const std::string& digits) {
    const RecordJson whole = RecordJson::parse(digits, nullptr, false);
    json_[key] = whole.is_number_integer() ? whole : JsonOf(value);
    if (!whole.is_number_integer()) TextIfAny((std::string(key) + "_digits").c_str(), digits);
  }
  /// For strings and complex numbers the texts replace the numbers.
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
  static RecordJson JsonOf(std::string_view text) { return text; }
  static RecordJson JsonOf(const char* text) { return text; }
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
    if constexpr (std::is_same_v<Record, RecordJson>) {
      return record;
    } else {
      FieldWriter part;
      ListFields(part, record);
      return part.Take();
    }
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
    Each(key, records, [](auto& part, Record& record) { ListFields(part, record); });
  }
  template <typename Record>
  requires std::is_class_v<Record>
  void operator()(const char* key, Record& record) {
    const RecordFields part = fields_.Object(key);
    FieldReader reader(part);
    ListFields(reader, record);
  }

  void Text(const char* key, std::string& text) { Later(key, text); }
  void TextIfAny(const char* key, std::string& text) { Later(key, text); }
  void TextOr(const char* key, std::string& text, const std::string&) { (*this)(key, text); }
  template <typename T>
  void If(bool, const char* key, T& value) {
    if (fields_.Has(key)) (*this)(key, value);
  }
  template <typename T>
  void Given(const char* key, std::optional<T>& value) {
    Later(key, value);
  }
  template <typename T>
  void Known(const char* key, T& value, bool& known) {
    known = fields_.Has(key);
    if (known) (*this)(key, value);
  }
  template <typename T>
  void Later(const char* key, T& value) {
    if (fields_.MayHave(key)) (*this)(key, value);
  }
  template <typename T>
  void Former(const char* key, T& value) {
    Later(key, value);
  }
  template <typename T>
  void Renamed(const char* key, const char* former, T& value) {
    (*this)(fields_.MayHave(former) ? former : key, value);
  }
  template <typename Make>
  void Derived(const char*, Make) {}
  template <typename Record>
  void IfAny(const char* key, std::vector<Record>& records) {
    Later(key, records);
  }
  /// Of a name that there is not, the value stays.
  template <typename Names>
  void Word(const char* key, auto& value, const Names& names) {
    const std::string word = fields_.Text(key);
    for (size_t i = 0; i < names.size(); ++i) {
      if (names[i] == word) value = static_cast<std::remove_reference_t<decltype(value)>>(i);
    }
  }
  void Choice(const char* key, bool& value, const char* yes, const char*) {
    value = fields_.Text(key) == yes;
  }
  /// ReadRecord() does it.
  void Blame(const char*, std::shared_ptr<const BlameRecord>&) {}

  void Pairs(const char* key, TextPairs& pairs, const char* first, const char* second) {
    fields_.Each(key, [&](const RecordFields& part) {
      pairs.emplace_back(part.Text(first), part.Text(second));
    });
  }

  void Map(const char* key, NamedNumbers& numbers) {
    fields_.EachNumber(
        key, [&](const std::string& name, double value) { numbers.emplace_back(name, value); });
  }
  template <typename Record, typename List>
  void Each(const char* key, std::vector<Record>& records, List list) {
    fields_.Each(key, [&](const RecordFields& part) {
      FieldReader reader(part);
      list(reader, records.emplace_back());
    });
  }
  template <typename Record, typename Saved>
  void Where(const char* key, std::vector<Record>& records, Saved) {
    (*this)(key, records);
  }

  void Whole(const char* key, double& value, std::string& digits) {
    value = fields_.Number(key);
    digits = fields_.Digits(key);
    if (digits.empty()) TextIfAny((std::string(key) + "_digits").c_str(), digits);
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
