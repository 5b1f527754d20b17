#include "record/rows/row_text.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>

#include "io/archive/archive_names.h"
#include "record/rows/row_schema.h"
#include "record/schema/record_json.h"

namespace vernier {
namespace {

// The members of an object, one after the other.
class RowText {
 public:
  // Of the names of members that follow.
  void Prefix(std::string prefix) { prefix_ = std::move(prefix); }

  template <typename T>
  void operator()(const char* key, const T& value) {
    text_ += text_.empty() ? '{' : ',';
    AddValue(prefix_ + key);
    text_ += ':';
    AddValue(value);
  }
  template <typename T>
  void Given(const char* key, const std::optional<T>& value) {
    if (value) (*this)(key, *value);
  }

  std::string Take() && { return std::move(text_) + "}"; }

 private:
  void AddValue(const std::string& text) {
    const auto is_plain = [](char c) { return c >= ' ' && c < 0x7f && c != '"' && c != '\\'; };
    if (!std::ranges::all_of(text, is_plain)) {
      text_ += DumpJson(RecordJson(text), -1);
      return;
    }
    text_ += '"';
    text_ += text;
    text_ += '"';
  }
  void AddValue(int64_t number) { text_ += std::to_string(number); }
  void AddValue(double number) {
    if (!std::isfinite(number)) return AddValue(NumberJson(number).get<std::string>());
    // What RecordJson::dump() calls. Of one double in a thousand std::to_chars() has other digits,
    // and rows of one run are written both here and by dump(), and compared byte by byte.
    char digits[64];
    const char* const end = nlohmann::detail::to_chars(digits, digits + sizeof(digits), number);
    text_.append(digits, static_cast<size_t>(end - digits));
  }

  std::string prefix_, text_;
};

}  // namespace

std::string PlainRowText(const IterationRow& row) {
  RowText text;
  text("index", row.index);
  text("step", row.step);
  text("pair", row.pair);
  text("input_hash", row.input_hash);
  if (row.file) {
    text("input_name", row.file->name);
    text("input_index", row.file->place);
    text("input_count", row.file->named);
  }
  for (const OutputRow& output : row.outputs) {
    text.Prefix(PercentEncode(output.output) + "/");
    ListFields(text, output);
  }
  return std::move(text).Take();
}

}  // namespace vernier
