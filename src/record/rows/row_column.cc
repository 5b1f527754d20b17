#include "record/rows/row_column.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

#include "record/rows/totals_columns.h"

namespace vernier {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

// Of a number that JSON has no digits for.
std::optional<double> NotFiniteFrom(std::string_view text) {
  if (text == "nan") return kNone;
  if (text == "inf") return std::numeric_limits<double>::infinity();
  if (text == "-inf") return -std::numeric_limits<double>::infinity();
  return std::nullopt;
}

bool FitsInt64(const RecordJson& value) {
  return value.is_number_integer() &&
         (!value.is_number_unsigned() ||
          value.get<uint64_t>() <= uint64_t{std::numeric_limits<int64_t>::max()});
}

template <typename T>
void AppendBytes(T value, std::string& bytes) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

template <typename T>
T TakeBytes(std::string_view& bytes) {
  T value{};
  std::memcpy(&value, bytes.data(), sizeof(value));
  bytes.remove_prefix(sizeof(value));
  return value;
}

std::string_view TakeText(std::string_view& bytes) {
  const auto length = TakeBytes<uint32_t>(bytes);
  const std::string_view text = bytes.substr(0, length);
  bytes.remove_prefix(length);
  return text;
}

// Integers as numbers.
std::string AsNumbers(std::string_view integers) {
  std::string numbers;
  numbers.reserve(integers.size());
  while (!integers.empty()) {
    AppendBytes(static_cast<double>(TakeBytes<int64_t>(integers)), numbers);
  }
  return numbers;
}

// Numbers that are all NaN as texts.
std::string AsTexts(std::string_view numbers) {
  return std::string(numbers.size() / sizeof(double) * sizeof(uint32_t), '\0');
}

}  // namespace

SpilledColumn::SpilledColumn(std::string name) : name_(std::move(name)) {
  const bool texts = name_ == "label" || name_ == "input_name" || name_.ends_with("/label") ||
                     name_.ends_with("/decision") || name_.ends_with("/detail") ||
                     name_.ends_with("/flip") || name_.ends_with(kClassesEnd);
  if (texts) kind_ = Kind::kTexts;
}

bool SpilledColumn::Add(size_t row, const RecordJson& value) {
  if (!value.is_array()) {
    BeginRow(row);
    return AddOne(value);
  }
  BeginList(row, value.size());
  return std::all_of(value.begin(), value.end(),
                     [this](const RecordJson& one) { return AddOne(one); });
}

bool SpilledColumn::Add(size_t row, const ScannedField& field,
                        std::span<const ScannedValue> values) {
  if (field.list) {
    BeginList(row, values.size());
  } else {
    BeginRow(row);
  }
  return std::ranges::all_of(values, [this](const ScannedValue& value) {
    return std::visit([this](const auto& one) { return AddOne(one); }, value);
  });
}

void SpilledColumn::Spill(ByteSpill& spill) {
  if (buffer_.empty()) return;
  pieces_.push_back({kind_, spill.Append(std::exchange(buffer_, std::string()))});
}

bool SpilledColumn::TooUneven() const {
  return Width() > 1 && rows_ > (8 * values_ + (size_t{1} << 20)) / Width();
}

void SpilledColumn::BeginRow(size_t row) {
  Fill(row);
  ++rows_;
  if (!widths_.empty()) widths_.push_back(1);
}

void SpilledColumn::BeginList(size_t row, size_t size) {
  Fill(row);
  ++rows_;
  Become(Kind::kNumbers);
  if (widths_.empty()) widths_.assign(rows_ - 1, 1);
  widths_.push_back(static_cast<uint32_t>(size));
}

bool SpilledColumn::AddOne(const RecordJson& value) {
  if (value.is_string()) return AddOne(std::string_view(value.get_ref<const std::string&>()));
  if (!value.is_number()) return false;
  return FitsInt64(value) ? AddOne(value.get<int64_t>()) : AddOne(value.get<double>());
}

bool SpilledColumn::AddOne(int64_t value) {
  if (kind_ != Kind::kIntegers) return AddOne(static_cast<double>(value));
  AppendBytes(value, buffer_);
  any_number_ = true;
  ++values_;
  return true;
}

bool SpilledColumn::AddOne(double value) {
  if (kind_ == Kind::kTexts) return false;
  AppendNumber(value);
  return true;
}

bool SpilledColumn::AddOne(std::string_view text) {
  const std::optional<double> number = kind_ == Kind::kTexts ? std::nullopt : NotFiniteFrom(text);
  if (number) {
    AppendNumber(*number);
    return true;
  }
  // Before the first text there may have been rows without a value, and nothing else.
  if (kind_ != Kind::kTexts && any_number_) return false;
  Become(Kind::kTexts);
  AppendText(text);
  return true;
}

void SpilledColumn::AppendNumber(double value) {
  Become(Kind::kNumbers);
  AppendBytes(value, buffer_);
  any_number_ = any_number_ || !std::isnan(value);
  ++values_;
}

void SpilledColumn::AppendText(std::string_view text) {
  AppendBytes(static_cast<uint32_t>(text.size()), buffer_);
  buffer_ += text;
  ++values_;
}

void SpilledColumn::Fill(size_t rows) {
  if (rows_ == rows) return;
  const size_t missing = rows - rows_;
  rows_ = rows;
  if (!widths_.empty()) widths_.insert(widths_.end(), missing, 1);
  for (size_t i = 0; i < missing; ++i) {
    if (kind_ == Kind::kTexts) {
      AppendText("");
    } else {
      AppendNumber(kNone);
    }
  }
}

void SpilledColumn::Become(Kind kind) {
  if (kind <= kind_) return;
  if (kind_ == Kind::kIntegers) buffer_ = AsNumbers(buffer_);
  if (kind == Kind::kTexts) buffer_ = AsTexts(buffer_);
  kind_ = kind;
}

size_t SpilledColumn::Width() const {
  const auto widest = std::max_element(widths_.begin(), widths_.end());
  return widest == widths_.end() ? 1 : std::max<size_t>(*widest, 1);
}

template <typename T>
Result<std::vector<T>> SpilledColumn::ReadAll(const ByteSpill& spill) {
  std::vector<T> values;
  values.reserve(values_);
  const auto take = [&](std::string_view bytes) {
    while (!bytes.empty()) {
      if constexpr (std::is_same_v<T, std::string>) {
        values.emplace_back(TakeText(bytes));
      } else {
        values.push_back(TakeBytes<T>(bytes));
      }
    }
  };
  for (const Piece& piece : std::exchange(pieces_, {})) {
    VERNIER_ASSIGN_OR_RETURN(std::string bytes, spill.Read(piece.bytes));
    if (piece.kind == Kind::kIntegers && kind_ != Kind::kIntegers) bytes = AsNumbers(bytes);
    if (piece.kind != Kind::kTexts && kind_ == Kind::kTexts) bytes = AsTexts(bytes);
    take(bytes);
  }
  take(std::exchange(buffer_, std::string()));
  return values;
}

// Of lists all that a row has, then `none` up to the widest.
template <typename T>
Result<RowColumn> SpilledColumn::TakeAs(const ByteSpill& spill, const T& none) {
  VERNIER_ASSIGN_OR_RETURN(std::vector<T> values, ReadAll<T>(spill));
  const size_t width = Width();
  if (widths_.empty()) return RowColumn{std::move(name_), std::move(values), width};
  std::vector<T> padded;
  padded.reserve(widths_.size() * width);
  auto next = values.begin();
  for (const size_t own : widths_) {
    const auto end = next + static_cast<std::ptrdiff_t>(own);
    padded.insert(padded.end(), std::make_move_iterator(next), std::make_move_iterator(end));
    padded.insert(padded.end(), width - own, none);
    next = end;
  }
  return RowColumn{std::move(name_), std::move(padded), width};
}

Result<RowColumn> SpilledColumn::Take(size_t rows, const ByteSpill& spill) {
  Fill(rows);
  switch (kind_) {
    case Kind::kIntegers:
      return TakeAs<int64_t>(spill, 0);
    case Kind::kNumbers:
      return TakeAs<double>(spill, kNone);
    case Kind::kTexts:
      break;
  }
  return TakeAs<std::string>(spill, "");
}

}  // namespace vernier
