#include "compare/functions/indices.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "util/text/cast_grammar.h"
#include "util/text/number_text.h"
#include "vernier/compare_options.h"

namespace vernier {
namespace {

/// The elements of a row as comparable keys, with their spelling.
template <typename T>
class NumberRows {
 public:
  using Key = T;
  explicit NumberRows(const Tensor& tensor) : elements_(Elements(tensor)) {}

  void Load(int64_t start, int64_t n, std::vector<T>& out) const {
    out.resize(static_cast<size_t>(n));
    for (int64_t done = 0; done < n; done += static_cast<int64_t>(kBlockSize)) {
      const auto part = static_cast<size_t>(std::min<int64_t>(kBlockSize, n - done));
      T* target = out.data() + done;
      const T* values = LoadBlock(elements_, start + done, part, target);
      if (values != target) std::copy(values, values + part, target);
    }
  }

 private:
  ElementSpan elements_;
};

class StringRows {
 public:
  using Key = std::string_view;
  explicit StringRows(const Tensor& tensor) : tensor_(tensor) {}
  void Load(int64_t start, int64_t n, std::vector<std::string_view>& out) const {
    out.clear();
    for (int64_t i = 0; i < n; ++i) out.push_back(tensor_.StringAt(start + i));
  }

 private:
  const Tensor& tensor_;
};

/// A number that float64 may have no room for: its nearest float64, and what an integer has beyond
/// that. Equal numbers have equal parts; NaN equals nothing.
struct ExactNumber {
  double nearest = 0;
  int64_t rest = 0;  // at most 1024 either way
  bool operator==(const ExactNumber& other) const = default;
};

struct ExactNumberHash {
  size_t operator()(const ExactNumber& number) const { return std::hash<double>()(number.nearest); }
};

/// The elements of a row where the two sides have no type in common that holds both exactly.
class MixedRows {
 public:
  using Key = ExactNumber;
  explicit MixedRows(const Tensor& tensor) : tensor_(tensor) {}

  void Load(int64_t start, int64_t n, std::vector<ExactNumber>& out) const {
    switch (NaturalArithmetic(tensor_.dtype())) {
      case Arithmetic::kInt64:
        return LoadAs<int64_t>(start, n, out);
      case Arithmetic::kUint64:
        return LoadAs<uint64_t>(start, n, out);
      default:
        return LoadAs<double>(start, n, out);
    }
  }

 private:
  template <typename T>
  void LoadAs(int64_t start, int64_t n, std::vector<ExactNumber>& out) const {
    std::vector<T> values;
    NumberRows<T>(tensor_).Load(start, n, values);
    out.clear();
    for (const T value : values) {
      ExactNumber number{static_cast<double>(value), 0};
      if constexpr (!std::is_same_v<T, double>) {
        number.rest = static_cast<int64_t>(static_cast<WideInt>(value) -
                                           static_cast<WideInt>(number.nearest));
      }
      out.push_back(number);
    }
  }

  const Tensor& tensor_;
};

std::string Spell(int64_t value, DType dtype) {
  if (dtype == DType::kBool) return value != 0 ? "True" : "False";
  return std::to_string(value);
}
std::string Spell(uint64_t value, DType) { return std::to_string(value); }
std::string Spell(double value, DType) { return FormatFloatRepr(value); }
std::string Spell(const ExactNumber& number, DType dtype) {
  if (Kind(dtype) == DTypeKind::kFloat) return FormatFloatRepr(number.nearest);
  const WideInt value = static_cast<WideInt>(number.nearest) + number.rest;
  return dtype == DType::kUint64 ? Spell(static_cast<uint64_t>(value), dtype)
                                 : Spell(static_cast<int64_t>(value), dtype);
}
std::string Spell(std::string_view value, DType) { return std::string(value); }

/// Finds the first place of a value in a row. The table is built when the first value is out of
/// place: rows that agree cost one comparison an element.
template <typename Key>
class PlaceTable {
 public:
  explicit PlaceTable(const std::vector<Key>& row) : row_(row) {}

  int64_t Find(const Key& value) {
    if (!built_) {
      for (size_t i = 0; i < row_.size(); ++i) {
        places_.try_emplace(row_[i], static_cast<int64_t>(i));
      }
      built_ = true;
    }
    const auto it = places_.find(value);
    return it == places_.end() ? -1 : it->second;
  }

 private:
  const std::vector<Key>& row_;
  bool built_ = false;
  using Hash =
      std::conditional_t<std::is_same_v<Key, ExactNumber>, ExactNumberHash, std::hash<Key>>;
  std::unordered_map<Key, int64_t, Hash> places_;
};

template <typename Rows>
IndicesResult CompareRows(const Tensor& a, const Tensor& b, int64_t tolerance, bool fail_fast) {
  using Key = typename Rows::Key;
  IndicesResult result;
  result.tolerance = tolerance;
  const int64_t length = a.dims().back();
  const int64_t checked = tolerance > 0 ? std::max<int64_t>(length - tolerance, 0) : length;
  const Rows rows_a(a);
  const Rows rows_b(b);
  std::vector<Key> row_a;
  std::vector<Key> row_b;
  for (int64_t start = 0; start < a.element_count() && checked > 0; start += length) {
    rows_a.Load(start, checked, row_a);
    rows_b.Load(start, length, row_b);
    PlaceTable<Key> places(row_b);
    for (int64_t i = 0; i < checked; ++i) {
      const Key& value = row_a[static_cast<size_t>(i)];
      if (value == row_b[static_cast<size_t>(i)]) continue;
      const int64_t place = places.Find(value);
      if (place >= 0 && std::abs(place - i) <= tolerance) continue;
      result.mismatches.push_back({Spell(value, a.dtype()), place >= 0});
      if (fail_fast) return result;
    }
  }
  return result;
}

bool IsSigned64(const Tensor& tensor) {
  return NaturalArithmetic(tensor.dtype()) == Arithmetic::kInt64;
}
bool IsUnsigned64(const Tensor& tensor) { return tensor.dtype() == DType::kUint64; }

}  // namespace

FunctionResult CompareIndices(std::string_view name, const Tensor& a, const Tensor& b,
                              const CompareOptions& options) {
  FunctionResult result;
  if (a.dims() != b.dims()) {
    result.verdict = Verdict::kMismatched;
    result.shapes_differ = true;
    return result;
  }
  const bool strings = a.dtype() == DType::kString;
  const auto unusable = [](const Tensor& t) {
    return Kind(t.dtype()) == DTypeKind::kComplex || Kind(t.dtype()) == DTypeKind::kNone;
  };
  if (a.dims().empty() || strings != (b.dtype() == DType::kString) || unusable(a) || unusable(b)) {
    result.verdict = Verdict::kFailed;
    result.why =
        "indices are compared along the last axis of two arrays of numbers or of "
        "strings, not " +
        std::string(DTypeName(a.dtype())) + " and " + std::string(DTypeName(b.dtype())) +
        " of shape " + FormatDims(a.dims());
    return result;
  }
  const int64_t tolerance = options.index_tolerance.Lookup(name, 0);
  IndicesResult indices;
  if (strings) {
    indices = CompareRows<StringRows>(a, b, tolerance, options.fail_fast);
  } else if (IsSigned64(a) && IsSigned64(b)) {
    indices = CompareRows<NumberRows<int64_t>>(a, b, tolerance, options.fail_fast);
  } else if (IsUnsigned64(a) && IsUnsigned64(b)) {
    indices = CompareRows<NumberRows<uint64_t>>(a, b, tolerance, options.fail_fast);
  } else if (IsUnsigned64(a) || IsUnsigned64(b) || IsSigned64(a) || IsSigned64(b)) {
    indices = CompareRows<MixedRows>(a, b, tolerance, options.fail_fast);
  } else {
    indices = CompareRows<NumberRows<double>>(a, b, tolerance, options.fail_fast);
  }
  if (!indices.mismatches.empty()) result.verdict = Verdict::kMismatched;
  result.data = std::move(indices);
  return result;
}

}  // namespace vernier
