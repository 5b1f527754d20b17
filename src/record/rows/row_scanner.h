// Takes a row apart without a tree of JSON values: of these there are millions. Only for this
// folder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

namespace vernier {

using ScannedValue = std::variant<int64_t, double, std::string_view>;

struct ScannedField {
  std::string_view name;
  size_t first = 0, count = 0;  ///< of its values
  bool list = false;
};

class RowScanner {
 public:
  /// Whether `line` is an object of numbers, texts and lists of these, as RowLine() writes it with
  /// plain ASCII. Of everything else, right or wrong, it says that it cannot read it. What was read
  /// are views of the line.
  bool Scan(std::string_view line);

  const std::vector<ScannedField>& fields() const { return fields_; }
  std::span<const ScannedValue> ValuesOf(const ScannedField& field) const {
    return std::span(values_).subspan(field.first, field.count);
  }

 private:
  bool TakeIf(char c);
  bool TakeText(std::string_view& text);
  bool TakeNumber();
  bool TakeValue();
  bool TakeList();
  bool TakeField();

  std::string_view rest_;
  std::vector<ScannedField> fields_;
  std::vector<ScannedValue> values_;
};

}  // namespace vernier
