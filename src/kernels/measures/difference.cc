#include "kernels/measures/difference.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "kernels/measures/block_tasks.h"
#include "kernels/measures/difference_dispatch.h"
#include "kernels/measures/pair_arithmetic.h"
#include "kernels/measures/rank_sample.h"
#include "kernels/measures/tolerance_limit.h"

namespace vernier {
namespace {

template <typename Reader>
DifferenceSummary Summarise(Reader& reader, int64_t count, const DifferenceRule& rule,
                            std::span<const double> quantiles) {
  using Absolute = typename Reader::Absolute;
  using Relative = typename Reader::Relative;
  DifferenceSummary summary;
  summary.count = count;
  summary.absolute_dtype = Reader::kAbsolute;
  summary.relative_dtype = Reader::kRelative;
  // Polygraphy offers no quantiles of bool arrays, but those of the quotients.
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
  if (summary.mismatches == 0)
    summary.worst_ratio = PassingRatio(summary.absolute.max, summary.relative.max, rule);
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
  return WithReader(a, b, rule,
                    [&](auto& reader) { return Summarise(reader, a.count, rule, quantiles); });
}

Result<DifferenceArrays> MakeDifferences(const ElementSpan& a, const ElementSpan& b,
                                         const DifferenceRule& rule) {
  VERNIER_TRY(CheckTypes(a, b));
  return WithReader(a, b, rule, [&](auto& reader) -> Result<DifferenceArrays> {
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

Status VisitDifferences(const ElementSpan& a, const ElementSpan& b, const DifferenceRule& rule,
                        int64_t first, int64_t count, const DifferenceVisitor& visit) {
  VERNIER_TRY(CheckTypes(a, b));
  WithReader(a, b, rule, [&](auto& reader) {
    using Reader = std::remove_reference_t<decltype(reader)>;
    typename Reader::Absolute absolute[kBlockSize];
    typename Reader::Relative relative[kBlockSize];
    double wide_absolute[kBlockSize];
    double wide_relative[kBlockSize];
    for (int64_t done = 0; done < count; done += static_cast<int64_t>(kBlockSize)) {
      const auto n = static_cast<size_t>(std::min<int64_t>(kBlockSize, count - done));
      reader.Read(first + done, n, absolute, relative);
      for (size_t i = 0; i < n; ++i) wide_absolute[i] = static_cast<double>(absolute[i]);
      for (size_t i = 0; i < n; ++i) wide_relative[i] = static_cast<double>(relative[i]);
      visit({first + done, {wide_absolute, n}, {wide_relative, n}});
    }
  });
  return {};
}

Result<std::vector<int64_t>> FindMismatches(const ElementSpan& a, const ElementSpan& b,
                                            const DifferenceRule& rule, size_t limit) {
  VERNIER_TRY(CheckTypes(a, b));
  return WithReader(a, b, rule, [&](auto& reader) {
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

namespace {

/// What the differences are counted in.
struct HistogramPair {
  HistogramBuilder absolute;
  HistogramBuilder relative;

  template <typename T>
  void Add(const T* absolutes, const T* relatives, size_t n) {
    if (absolute.ok()) absolute.Add(absolutes, n);
    if (relative.ok()) relative.Add(relatives, n);
  }
  void Merge(const HistogramPair& other) {
    absolute.Merge(other.absolute);
    relative.Merge(other.relative);
  }
  DifferenceHistograms histograms() const { return {absolute.histogram(), relative.histogram()}; }
};

// Floats, whose differences are those of the vector kernels.
template <typename T>
DifferenceHistograms CountInVectors(const PairSource<T>& source, const HistogramPair& empty,
                                    ThreadPool* pool) {
  const auto add = [&](HistogramPair& counts, int64_t start, size_t n) {
    PairScratch<T> scratch;
    source.Differences({source.LoadA(start, n, scratch.a), source.LoadB(start, n, scratch.b), n},
                       scratch.absolute, scratch.relative);
    counts.Add(scratch.absolute, scratch.relative, n);
  };
  return AddUpBlocks(source.count(), pool, empty, add).histograms();
}

template <typename Reader>
DifferenceHistograms CountInOrder(Reader& reader, int64_t count, HistogramPair counts) {
  double absolutes[kBlockSize];
  double relatives[kBlockSize];
  ForEachBlock(reader, count,
               [&](int64_t, size_t n, const auto* absolute, const auto* relative, int64_t) {
                 std::transform(absolute, absolute + n, absolutes,
                                [](auto value) { return static_cast<double>(value); });
                 std::transform(relative, relative + n, relatives,
                                [](auto value) { return static_cast<double>(value); });
                 counts.Add(absolutes, relatives, n);
               });
  return counts.histograms();
}

}  // namespace

Result<DifferenceHistograms> MakeDifferenceHistograms(const ElementSpan& a, const ElementSpan& b,
                                                      const DifferenceRule& rule,
                                                      const DifferenceSummary& summary,
                                                      ThreadPool* pool) {
  VERNIER_TRY(CheckTypes(a, b));
  const auto range = [](const ValueStatistics& statistics) {
    // NumPy's range of an empty array is 0 to 1.
    return statistics.count == 0 ? HistogramRange{0, 1, false}
                                 : HistogramRange{statistics.min, statistics.max, false};
  };
  const HistogramPair empty{{summary.absolute_dtype, range(summary.absolute)},
                            {summary.relative_dtype, range(summary.relative)}};
  const bool halves = rule.halves_where_needed && summary.absolute.infinite_count > 0;
  if (!halves && NaturalArithmetic(a.dtype) == Arithmetic::kFloat32 &&
      NaturalArithmetic(b.dtype) == Arithmetic::kFloat32 && !rule.infinities_equal) {
    const PairRules rules = ArithmeticOf(a.dtype, b.dtype, rule).rules;
    return CountInVectors<float>({a, b, rules}, empty, pool);
  }
  if (!halves && a.dtype == DType::kFloat64 && b.dtype == DType::kFloat64) {
    const PairRules rules = ArithmeticOf(a.dtype, b.dtype, rule).rules;
    return CountInVectors<double>({a, b, rules}, empty, pool);
  }
  return WithReader(a, b, rule, [&](auto& reader) { return CountInOrder(reader, a.count, empty); });
}

}  // namespace vernier
