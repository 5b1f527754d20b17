#include "kernels/difference.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <type_traits>

#include "kernels/difference_readers.h"

namespace vernier {
namespace {

bool IsSmallFloat(DType dtype) { return NaturalArithmetic(dtype) == Arithmetic::kFloat32; }
bool IsInteger(DType dtype) {
  const Arithmetic arithmetic = NaturalArithmetic(dtype);
  return arithmetic == Arithmetic::kInt64 || arithmetic == Arithmetic::kUint64;
}
bool IsBoolOrSmallFloat(DType dtype) { return dtype == DType::kBool || IsSmallFloat(dtype); }

Status CheckTypes(const ElementSpan& a, const ElementSpan& b) {
  const DTypeKind kind_a = Kind(a.dtype);
  const DTypeKind kind_b = Kind(b.dtype);
  const bool undefined = kind_a == DTypeKind::kNone || kind_b == DTypeKind::kNone;
  const bool one_string = (kind_a == DTypeKind::kString) != (kind_b == DTypeKind::kString);
  if (!undefined && !one_string && a.count == b.count) return {};
  return InvalidArgument("cannot compare " + std::to_string(a.count) + " elements of type " +
                         std::string(DTypeName(a.dtype)) + " with " + std::to_string(b.count) +
                         " of type " + std::string(DTypeName(b.dtype)));
}

// Calls `function` with the reader for the two types. The types must have passed CheckTypes.
template <typename Function>
auto WithReader(const ElementSpan& a, const ElementSpan& b, bool infinities_equal,
                Function function) {
  if (Kind(a.dtype) == DTypeKind::kString) {
    StringDifferences reader(a, b);
    return function(reader);
  }
  if (Kind(a.dtype) == DTypeKind::kComplex || Kind(b.dtype) == DTypeKind::kComplex) {
    ComplexDifferences reader(a, b, infinities_equal);
    return function(reader);
  }
  if (a.dtype == DType::kBool && b.dtype == DType::kBool) {
    BoolDifferences reader(a, b);
    return function(reader);
  }
  if (IsInteger(a.dtype) && IsInteger(b.dtype)) {
    IntegerDifferences reader(a, b);
    return function(reader);
  }
  if (!IsBoolOrSmallFloat(a.dtype) || !IsBoolOrSmallFloat(b.dtype)) {
    RealDifferences<double> reader(a, b, infinities_equal);
    return function(reader);
  }
  if (infinities_equal) {
    WidenedDifferences reader(a, b);
    return function(reader);
  }
  RealDifferences<float> reader(a, b, false);
  return function(reader);
}

// Calls `function(start, n, absolute, relative, zeros)` for each block.
template <typename Reader, typename Function>
void ForEachBlock(Reader& reader, int64_t count, Function function) {
  typename Reader::Absolute absolute[kBlockSize];
  typename Reader::Relative relative[kBlockSize];
  for (int64_t start = 0; start < count; start += static_cast<int64_t>(kBlockSize)) {
    const auto n = static_cast<size_t>(std::min<int64_t>(kBlockSize, count - start));
    const int64_t zeros = reader.Read(start, n, absolute, relative);
    function(start, n, absolute, relative, zeros);
  }
}

// A tolerance in the type of the differences. Floats compare as float64; an integer exceeds a
// tolerance exactly when it exceeds the tolerance's whole part.
template <typename T>
class Limit {
 public:
  explicit Limit(double tolerance) : tolerance_(tolerance) {
    if constexpr (std::is_integral_v<T>) {
      never_ = !(tolerance < 0x1p64);  // also NaN: nothing is greater than NaN
      always_ = tolerance < 0;
      whole_ = never_ || always_ ? 0 : static_cast<T>(tolerance);
    }
  }
  bool Exceeded(T value) const {
    if constexpr (std::is_integral_v<T>) {
      return always_ || (!never_ && value > whole_);
    } else {
      return static_cast<double>(value) > tolerance_ || value != value;
    }
  }
  // How many times the tolerance the value is; infinite for NaN and for a tolerance of 0.
  double Ratio(T value) const {
    const double ratio = static_cast<double>(value) / tolerance_;
    return ratio == ratio ? ratio : std::numeric_limits<double>::infinity();
  }

 private:
  double tolerance_;
  bool never_ = false;
  bool always_ = false;
  T whole_{};
};

template <typename Reader>
class MismatchTest {
 public:
  using Absolute = typename Reader::Absolute;
  using Relative = typename Reader::Relative;

  explicit MismatchTest(const DifferenceRule& rule) : absolute_(rule.atol), relative_(rule.rtol) {}

  bool Fails(Absolute absolute, Relative relative) const {
    return absolute_.Exceeded(absolute) && relative_.Exceeded(relative);
  }
  double Ratio(Absolute absolute, Relative relative) const {
    return std::min(absolute_.Ratio(absolute), relative_.Ratio(relative));
  }
  int64_t Count(const Absolute* absolute, const Relative* relative, size_t n) const {
    int64_t count = 0;
    for (size_t i = 0; i < n; ++i) {
      count += (absolute_.Exceeded(absolute[i]) & relative_.Exceeded(relative[i])) ? 1 : 0;
    }
    return count;
  }

 private:
  Limit<Absolute> absolute_;
  Limit<Relative> relative_;
};

// No element fails: the largest differences bound every element's ratio.
double PassingRatio(const DifferenceSummary& summary, const DifferenceRule& rule) {
  const double absolute = Limit<double>(rule.atol).Ratio(summary.absolute.max);
  const double relative = Limit<double>(rule.rtol).Ratio(summary.relative.max);
  if (summary.count == 0 || summary.absolute.max == 0) return 0;
  return std::min({absolute, relative, 1.0});
}

template <typename Reader>
DifferenceSummary Summarise(Reader& reader, int64_t count, const DifferenceRule& rule,
                            std::span<const double> quantiles) {
  using Absolute = typename Reader::Absolute;
  using Relative = typename Reader::Relative;
  DifferenceSummary summary;
  summary.count = count;
  summary.absolute_dtype = Reader::kAbsolute;
  summary.relative_dtype = Reader::kRelative;
  // The peer offers no quantiles of bool arrays, but those of the quotients.
  StatisticsBuilder<Absolute> absolute_builder(count, quantiles);
  StatisticsBuilder<Relative> relative_builder(count, quantiles);
  const MismatchTest<Reader> test(rule);

  ForEachBlock(reader, count,
               [&](int64_t start, size_t n, const Absolute* absolute, const Relative* relative,
                   int64_t zeros) {
                 summary.zeros_in_b += zeros;
                 absolute_builder.Add(absolute, n);
                 relative_builder.Add(relative, n);
                 const int64_t failing = test.Count(absolute, relative, n);
                 if (failing == 0) return;
                 summary.mismatches += failing;
                 for (size_t i = 0; i < n; ++i) {
                   if (!test.Fails(absolute[i], relative[i])) continue;
                   if (summary.first_mismatch < 0)
                     summary.first_mismatch = start + static_cast<int64_t>(i);
                   summary.worst_ratio =
                       std::max(summary.worst_ratio, test.Ratio(absolute[i], relative[i]));
                 }
               });
  for (bool more_absolute = absolute_builder.NextPass(),
            more_relative = relative_builder.NextPass();
       more_absolute || more_relative;) {
    ForEachBlock(
        reader, count,
        [&](int64_t, size_t n, const Absolute* absolute, const Relative* relative, int64_t) {
          if (more_absolute) absolute_builder.AddAgain(absolute, n);
          if (more_relative) relative_builder.AddAgain(relative, n);
        });
    if (more_absolute) more_absolute = absolute_builder.NextPass();
    if (more_relative) more_relative = relative_builder.NextPass();
  }
  summary.absolute = absolute_builder.Finish();
  summary.relative = relative_builder.Finish();
  if (summary.mismatches == 0) summary.worst_ratio = PassingRatio(summary, rule);
  return summary;
}

template <typename T>
void Store(const T* values, size_t n, int64_t start, DType dtype, std::span<std::byte> out) {
  for (size_t i = 0; i < n; ++i) {
    const auto place = static_cast<size_t>(start) + i;
    if (dtype == DType::kBool) {
      out[place] = values[i] != 0 ? std::byte{1} : std::byte{0};
    } else {
      std::memcpy(out.data() + place * sizeof(T), &values[i], sizeof(T));
    }
  }
}

}  // namespace

Result<DifferenceSummary> SummariseDifferences(const ElementSpan& a, const ElementSpan& b,
                                               const DifferenceRule& rule,
                                               std::span<const double> quantiles) {
  VERNIER_TRY(CheckTypes(a, b));
  return WithReader(a, b, rule.infinities_equal,
                    [&](auto& reader) { return Summarise(reader, a.count, rule, quantiles); });
}

Result<DifferenceArrays> MakeDifferences(const ElementSpan& a, const ElementSpan& b,
                                         const DifferenceRule& rule) {
  VERNIER_TRY(CheckTypes(a, b));
  return WithReader(a, b, rule.infinities_equal, [&](auto& reader) -> Result<DifferenceArrays> {
    using Reader = std::remove_reference_t<decltype(reader)>;
    VERNIER_ASSIGN_OR_RETURN(TensorBuffer absolute_out,
                             TensorBuffer::Allocate(Reader::kAbsolute, {a.count}));
    VERNIER_ASSIGN_OR_RETURN(TensorBuffer relative_out,
                             TensorBuffer::Allocate(Reader::kRelative, {a.count}));
    ForEachBlock(reader, a.count,
                 [&](int64_t start, size_t n, const auto* absolute, const auto* relative, int64_t) {
                   Store(absolute, n, start, Reader::kAbsolute, absolute_out.bytes());
                   Store(relative, n, start, Reader::kRelative, relative_out.bytes());
                 });
    return DifferenceArrays{std::move(absolute_out).Freeze(), std::move(relative_out).Freeze()};
  });
}

Result<std::vector<int64_t>> FindMismatches(const ElementSpan& a, const ElementSpan& b,
                                            const DifferenceRule& rule, size_t limit) {
  VERNIER_TRY(CheckTypes(a, b));
  return WithReader(a, b, rule.infinities_equal, [&](auto& reader) {
    const MismatchTest<std::remove_reference_t<decltype(reader)>> test(rule);
    std::vector<int64_t> places;
    ForEachBlock(reader, a.count,
                 [&](int64_t start, size_t n, const auto* absolute, const auto* relative, int64_t) {
                   for (size_t i = 0; i < n && places.size() < limit; ++i) {
                     if (!test.Fails(absolute[i], relative[i])) continue;
                     places.push_back(start + static_cast<int64_t>(i));
                   }
                 });
    return places;
  });
}

Result<DifferenceHistograms> MakeDifferenceHistograms(const ElementSpan& a, const ElementSpan& b,
                                                      const DifferenceRule& rule,
                                                      const DifferenceSummary& summary) {
  VERNIER_TRY(CheckTypes(a, b));
  const auto range = [](const ValueStatistics& statistics) {
    // NumPy's range of an empty array is 0 to 1.
    return statistics.count == 0 ? HistogramRange{0, 1, false}
                                 : HistogramRange{statistics.min, statistics.max, false};
  };
  HistogramBuilder absolute_builder(summary.absolute_dtype, range(summary.absolute));
  HistogramBuilder relative_builder(summary.relative_dtype, range(summary.relative));
  return WithReader(a, b, rule.infinities_equal, [&](auto& reader) {
    double wide[kBlockSize];
    ForEachBlock(reader, a.count,
                 [&](int64_t, size_t n, const auto* absolute, const auto* relative, int64_t) {
                   for (size_t i = 0; i < n; ++i) wide[i] = static_cast<double>(absolute[i]);
                   if (absolute_builder.ok()) absolute_builder.Add(wide, n);
                   for (size_t i = 0; i < n; ++i) wide[i] = static_cast<double>(relative[i]);
                   if (relative_builder.ok()) relative_builder.Add(wide, n);
                 });
    return DifferenceHistograms{absolute_builder.histogram(), relative_builder.histogram()};
  });
}

}  // namespace vernier
