// topK and rank: the largest values of each row.
#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <type_traits>
#include <unordered_map>

#include "decide/kinds/class_rows.h"
#include "decide/kinds/kinds.h"
#include "decide/kinds/logit_noise.h"
#include "decide/kinds/row_top.h"
#include "decide/kinds/tie_limits.h"

namespace vernier {
namespace {

// So few say little of the noise: their median may be next to 0 by chance.
constexpr size_t kFewValues = 8;

/// One row on both sides.
template <typename T>
struct RowPair {
  std::span<const T> a;
  std::span<const T> b;
  int64_t index = 0;
};

/// The rows of both sides, and what differs in those that decided nothing.
template <typename T>
class TopRows {
 public:
  TopRows(const DecideInput& input, const ClassRows& rows)
      : input_(input),
        a_(input.reference, rows),
        b_(input.candidate, rows),
        others_(input.reference, input.candidate, rows.classes * rows.inner),
        rows_(rows) {}

  RowPair<T> At(int64_t index) { return {a_.Row(index), b_.Row(index), index}; }

  /// `deciding`: the places whose values decided, sorted; two changed for each other, or more.
  void Judge(DecisionSample& sample, const RowPair<T>& row, const std::vector<size_t>& deciding) {
    const auto changed = static_cast<int64_t>(deciding.size() / 2);
    double largest = 0;
    for (const size_t i : deciding) {
      Raise(largest, row.a[i]);
      Raise(largest, row.b[i]);
    }
    bool by_few = false;
    input_.near_tie.Judge(sample, largest, [&] {
      by_few = CountOthers(row, deciding) < kFewValues;
      return LimitByOthers(row, deciding, changed);
    });
    if (sample.flip != Flip::kClear || !input_.near_tie.observes()) return;
    const double doubt = std::max(by_few ? LimitByBatch(row, deciding, changed) : 0,
                                  LimitOfSigmoids(row, deciding, changed, largest));
    sample.over_bound = ClearMargin(sample) <= kMostNoiseLimits * doubt;
  }

 private:
  static double LargestOf(const RowPair<T>& row, const std::vector<size_t>& deciding) {
    double most = 0;
    for (const size_t i : deciding) most = std::max(most, static_cast<double>(row.a[i]));
    return most;
  }

  double LimitByOthers(const RowPair<T>& row, const std::vector<size_t>& deciding,
                       int64_t changed) {
    if constexpr (std::is_floating_point_v<T>) {
      if (const auto noise = NoiseOfLogits(row.a, row.b, deciding)) {
        return LimitOfProbability(LargestOf(row, deciding),
                                  NoiseLimit(*noise, NoisyValues::kTwo, changed));
      }
    }
    DifferenceNoise noise;
    for (size_t i = 0; i < row.a.size(); ++i) {
      if (std::binary_search(deciding.begin(), deciding.end(), i)) continue;
      noise.Add(row.a[i], row.b[i]);
    }
    const double scale = noise.empty() ? others_.Without(row.index / rows_.inner) : noise.scale();
    return NoiseLimit(scale, NoisyValues::kTwo, changed);
  }

  // Of sigmoids, of which most are next to 0 and differ by less than those that decide.
  static double LimitOfSigmoids(const RowPair<T>& row, const std::vector<size_t>& deciding,
                                int64_t changed, double largest) {
    if constexpr (!std::is_floating_point_v<T>) return 0;
    if (AreProbabilities(row.a) && AreProbabilities(row.b)) return 0;
    LogitsOfValues logits(0.5);
    for (size_t i = 0; i < row.a.size(); ++i) {
      if (std::binary_search(deciding.begin(), deciding.end(), i)) continue;
      logits.Add(static_cast<double>(row.a[i]), static_cast<double>(row.b[i]));
    }
    const std::optional<double> scale = logits.scale();
    if (!scale) return 0;
    return LogitsOfValues::LimitAt(largest, NoiseLimit(*scale, NoisyValues::kTwo, changed));
  }

  // Values that say something of the noise: of probabilities those that are not 0.
  static size_t CountOthers(const RowPair<T>& row, const std::vector<size_t>& deciding) {
    const size_t others = row.a.size() - deciding.size();
    if constexpr (!std::is_floating_point_v<T>) return others;
    if (others >= kFewValues || !AreProbabilities(row.a) || !AreProbabilities(row.b)) {
      return others;
    }
    size_t count = 0;
    for (size_t i = 0; i < row.a.size(); ++i) {
      const bool is_other = !std::binary_search(deciding.begin(), deciding.end(), i);
      count += is_other && row.a[i] > 0 && row.b[i] > 0 ? 1 : 0;
    }
    return count;
  }

  // By what the other samples differ by, or the logits of rows that are decided alike.
  double LimitByBatch(const RowPair<T>& row, const std::vector<size_t>& deciding, int64_t changed) {
    if constexpr (std::is_floating_point_v<T>) {
      if (!logits_) MeasureLogits();
      if (const auto noise = logits_->scale()) {
        return LimitOfProbability(LargestOf(row, deciding),
                                  NoiseLimit(*noise, NoisyValues::kTwo, changed));
      }
    }
    return NoiseLimit(others_.Without(row.index / rows_.inner), NoisyValues::kTwo, changed);
  }

  void MeasureLogits() {
    logits_.emplace();
    RowReader<T> a(input_.reference, rows_), b(input_.candidate, rows_);
    for (int64_t i = 0; i < rows_.count() && logits_->probabilities(); ++i) {
      const std::span<const T> first = a.Row(i), second = b.Row(i);
      const TopTwo<T> best = FindTopTwo(first), other = FindTopTwo(second);
      if (best.has_nan || other.has_nan || best.place != other.place) continue;
      logits_->Add(first.data(), second.data(), first.size(), 1, best.place);
    }
  }

  const DecideInput& input_;
  RowReader<T> a_;
  RowReader<T> b_;
  OtherSamples others_;
  ClassRows rows_;
  std::optional<LogitsOfRows> logits_;
};

ClassRows RowsOf(const DecideInput& input) {
  const Dims& dims = input.reference.dims();
  return RowsAlongAxis(dims, *ClassAxis(input.plan, dims));
}

// Calls `decide` with each pair of rows and its sample, for every row that has no NaN there.
template <typename Decide>
std::vector<DecisionSample> EachRow(const DecideInput& input, const Decide& decide) {
  const ClassRows rows = RowsOf(input);
  std::vector<DecisionSample> samples(static_cast<size_t>(rows.classes > 0 ? rows.count() : 0));
  WithArithmetic(input.reference, input.candidate, [&](auto zero) {
    TopRows<decltype(zero)> pairs(input, rows);
    for (size_t i = 0; i < samples.size(); ++i) {
      samples[i].near_tie = input.near_tie.known();
      decide(pairs, pairs.At(static_cast<int64_t>(i)), samples[i]);
    }
  });
  return samples;
}

template <typename T>
void DecideTop1(TopRows<T>& rows, const RowPair<T>& row, DecisionSample& sample) {
  const TopTwo<T> a = FindTopTwo(row.a);
  const TopTwo<T> b = FindTopTwo(row.b);
  sample.first = std::to_string(a.place);
  sample.first_margin = Gap(a.best, a.second);
  sample.second_margin = Gap(b.best, b.second);
  if (a.has_nan || b.has_nan) {
    sample.second = std::to_string(b.place);
    return MakeInvalid(sample, a.has_nan, b.has_nan);
  }
  if (a.place == b.place) {
    sample.second = sample.first;
    return;
  }
  sample.second = std::to_string(b.place);
  sample.similarity = 0;
  sample.first_margin = Gap(a.best, row.a[b.place]);
  sample.second_margin = Gap(b.best, row.b[a.place]);
  const auto [low, high] = std::minmax(a.place, b.place);
  rows.Judge(sample, row, {low, high});
}

using Places = std::vector<size_t>;

Places WithoutThose(const Places& places, const Places& others) {
  Places rest;
  std::ranges::set_difference(places, others, std::back_inserter(rest));
  return rest;
}

// By how much the least of `held` is above the most of `passed`... of the pair that is furthest
// apart: what had to be overcome.
template <typename T>
double MostOvercome(std::span<const T> row, const Places& held, const Places& passed) {
  const auto by_value = [row](size_t x, size_t y) { return row[x] < row[y]; };
  return Gap(row[*std::ranges::max_element(held, by_value)],
             row[*std::ranges::min_element(passed, by_value)]);
}

/// The K largest of a row: the places in rising order, and the margin of the set.
struct TopSet {
  Places places;
  double margin = kNoMargin;
  bool has_nan = false;
};

template <typename T>
TopSet SetOf(std::span<const T> row, size_t k) {
  TopSet set;
  set.has_nan = HasNan(row);
  if (set.has_nan) return set;
  FindLargest(row, std::min(k + 1, row.size()), set.places);
  set.margin = std::numeric_limits<double>::infinity();
  if (set.places.size() > k) {
    set.margin = Gap(row[set.places[k - 1]], row[set.places[k]]);
    set.places.pop_back();
  }
  std::ranges::sort(set.places);
  return set;
}

template <typename T>
void DecideTopSet(size_t k, TopRows<T>& rows, const RowPair<T>& row, DecisionSample& sample) {
  const TopSet a = SetOf(row.a, k);
  const TopSet b = SetOf(row.b, k);
  sample.first = NumbersText(a.places);
  sample.second = a.places == b.places ? sample.first : NumbersText(b.places);
  sample.first_margin = a.margin;
  sample.second_margin = b.margin;
  if (a.has_nan || b.has_nan) return MakeInvalid(sample, a.has_nan, b.has_nan);
  if (a.places == b.places) return;
  const Places lost = WithoutThose(a.places, b.places);
  const Places gained = WithoutThose(b.places, a.places);
  sample.similarity = 1 - static_cast<double>(lost.size()) / static_cast<double>(k);
  sample.first_margin = MostOvercome(row.a, lost, gained);
  sample.second_margin = MostOvercome(row.b, gained, lost);
  Places deciding;
  std::ranges::set_union(lost, gained, std::back_inserter(deciding));
  rows.Judge(sample, row, deciding);
}

/// The K largest of a row in falling order.
struct Ranking {
  Places order;
  double margin = kNoMargin;  ///< the least between two neighbours
  bool all_tied = false;      ///< the first equals the one behind the last
  bool has_nan = false;
};

template <typename T>
Ranking RankingOf(std::span<const T> row, size_t k) {
  Ranking ranking;
  ranking.has_nan = HasNan(row);
  if (ranking.has_nan) return ranking;
  FindLargest(row, std::min(k + 1, row.size()), ranking.order);
  ranking.margin = std::numeric_limits<double>::infinity();
  for (size_t i = 1; i < ranking.order.size(); ++i) {
    const double gap = Gap(row[ranking.order[i - 1]], row[ranking.order[i]]);
    ranking.margin = std::min(ranking.margin, gap);
  }
  ranking.all_tied =
      ranking.order.size() > 1 && Gap(row[ranking.order.front()], row[ranking.order.back()]) == 0;
  ranking.order.resize(k);
  return ranking;
}

// The largest gap in `row`, which has the first order, between two places that the second order
// turns around.
template <typename T>
double MostTurned(std::span<const T> row, const Places& order, const Places& turned) {
  std::unordered_map<size_t, size_t> rank;
  for (size_t i = 0; i < order.size(); ++i) rank[order[i]] = i;
  const auto rank_of = [&](size_t place) {
    const auto found = rank.find(place);
    return found == rank.end() ? order.size() : found->second;
  };
  // Everything that `turned` does not list comes behind all that it lists.
  std::vector<bool> listed(order.size());
  for (const size_t place : turned) {
    if (rank_of(place) < order.size()) listed[rank_of(place)] = true;
  }
  double most = 0;
  size_t unlisted = 0;
  while (unlisted < order.size() && listed[unlisted]) ++unlisted;
  size_t best_behind = unlisted;  // the rank of the largest that comes behind, seen from the end
  for (size_t i = turned.size(); i-- > 0;) {
    const size_t own = rank_of(turned[i]);
    if (best_behind < own) most = std::max(most, Gap(row[order[best_behind]], row[turned[i]]));
    best_behind = std::min(best_behind, own);
  }
  return most;
}

template <typename T>
void DecideRanking(size_t k, TopRows<T>& rows, const RowPair<T>& row, DecisionSample& sample) {
  const Ranking a = RankingOf(row.a, k);
  const Ranking b = RankingOf(row.b, k);
  sample.first = NumbersText(a.order);
  sample.second = NumbersText(b.order);
  sample.first_margin = a.margin;
  sample.second_margin = b.margin;
  if (a.has_nan || b.has_nan) return MakeInvalid(sample, a.has_nan, b.has_nan);
  sample.all_above = a.all_tied;
  Places deciding;
  for (size_t i = 0; i < k; ++i) {
    if (a.order[i] != b.order[i]) deciding.insert(deciding.end(), {a.order[i], b.order[i]});
  }
  if (deciding.empty()) return;
  const auto moved = static_cast<double>(deciding.size() / 2);
  std::ranges::sort(deciding);
  sample.similarity = 1 - moved / static_cast<double>(k);
  sample.first_margin = MostTurned(row.a, a.order, b.order);
  sample.second_margin = MostTurned(row.b, b.order, a.order);
  rows.Judge(sample, row, deciding);
}

}  // namespace

std::vector<DecisionSample> DecideTop(const DecideInput& input) {
  const auto k = static_cast<size_t>(input.plan.k);
  return EachRow(input, [k](auto& rows, const auto& row, DecisionSample& sample) {
    if (k == 1) {
      DecideTop1(rows, row, sample);
    } else {
      DecideTopSet(k, rows, row, sample);
    }
  });
}

std::vector<DecisionSample> DecideRank(const DecideInput& input) {
  const auto k = static_cast<size_t>(input.plan.k);
  return EachRow(input, [k](auto& rows, const auto& row, DecisionSample& sample) {
    DecideRanking(k, rows, row, sample);
  });
}

}  // namespace vernier
