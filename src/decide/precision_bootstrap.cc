#include "decide/precision_bootstrap.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "decide/bootstrap.h"

namespace vernier {
namespace {

constexpr size_t kLimits = DetectionScorer::kIouThresholds;
constexpr uint16_t kAllLimits = (1U << kLimits) - 1;

/// A detection that is right at some threshold, or is ignored at some.
struct SpecialDetection {
  uint32_t image = 0;
  uint16_t right = 0;  // a bit for each threshold
  uint16_t wrong = 0;
  size_t plain_end = 0;  // the plain ones before it end here
};

/// The detections of a category, surest first. Most are wrong at every threshold, and all that
/// counts of these is their image.
struct RankedCategory {
  std::vector<SpecialDetection> special;
  std::vector<uint32_t> plain;
};

/// Images by their place among the ids.
using ImagePlaces = std::unordered_map<int64_t, uint32_t>;

RankedCategory RankOf(const DetectionScorer::Category& category, const ImagePlaces& places) {
  RankedCategory ranked;
  size_t plain_end = 0;
  for (const DetectionScorer::Ranked* one : DetectionScorer::SurestFirst(category)) {
    const auto ignored = one->ignored[0];
    const auto right = static_cast<uint16_t>(one->right[0] & ~ignored & kAllLimits);
    const auto wrong = static_cast<uint16_t>(~one->right[0] & ~ignored & kAllLimits);
    const uint32_t image = places.at(one->image);
    if (wrong == kAllLimits) {
      ranked.plain.push_back(image);
    } else if ((right | wrong) != 0) {
      plain_end = ranked.plain.size();
      ranked.special.push_back({image, right, wrong, plain_end});
    }
  }
  ranked.plain.resize(plain_end);  // those behind the last one change nothing
  return ranked;
}

/// How often each image was drawn.
using Weights = std::vector<uint32_t>;

/// Average precision of a category in a resample.
class ResampledPrecision {
 public:
  /// `objects` that count in the resample; at least 1.
  void Begin(int64_t objects) {
    // How many of the 101 recalls the first k right detections reach.
    const auto count = static_cast<size_t>(objects);
    reached_.assign(count + 1, 0);
    uint8_t reached = 0;
    for (size_t k = 1; k <= count; ++k) {
      const double recall = static_cast<double>(k) / static_cast<double>(objects);
      while (reached < kRecallLimits && DetectionScorer::RecallLimit(reached) <= recall) ++reached;
      reached_[k] = reached;
    }
  }

  double Of(const RankedCategory& ranked, const Weights& weights) {
    CountAll(ranked, weights);
    std::array<double, kLimits> best{};  // the highest precision from here to the end
    double sum = 0;
    for (size_t i = ranked.special.size(); i-- > 0;) {
      const SpecialDetection& one = ranked.special[i];
      const uint32_t weight = weights[one.image];
      if (weight > 0) sum += Leave(one, weight, best);
      plain_ -= plain_before_[i];
    }
    return sum / static_cast<double>(kRecallLimits * kLimits);
  }

 private:
  static constexpr uint8_t kRecallLimits = DetectionScorer::kRecalls;

  template <typename Function>
  static void EachLimit(uint16_t bits, const Function& function) {
    for (unsigned rest = bits; rest != 0; rest &= rest - 1) {
      function(static_cast<size_t>(std::countr_zero(rest)));
    }
  }

  void CountAll(const RankedCategory& ranked, const Weights& weights) {
    right_ = {};
    wrong_ = {};
    plain_ = 0;
    plain_before_.resize(ranked.special.size());
    size_t at = 0;
    for (size_t i = 0; i < ranked.special.size(); ++i) {
      const SpecialDetection& one = ranked.special[i];
      uint32_t before = 0;
      for (; at < one.plain_end; ++at) before += weights[ranked.plain[at]];
      plain_before_[i] = before;
      plain_ += before;
      const uint32_t weight = weights[one.image];
      if (weight == 0) continue;
      EachLimit(one.right, [&](size_t limit) { right_[limit] += weight; });
      EachLimit(one.wrong, [&](size_t limit) { wrong_[limit] += weight; });
    }
  }

  // What the detection adds to the sums over recalls; counts are then of those before it.
  double Leave(const SpecialDetection& one, uint32_t weight, std::array<double, kLimits>& best) {
    constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
    double sum = 0;
    EachLimit(one.right, [&](size_t limit) {
      const auto right = static_cast<double>(right_[limit]);
      const auto wrong = static_cast<double>(wrong_[limit] + plain_);
      best[limit] = std::max(best[limit], right / (wrong + right + kEpsilon));
      const size_t before = right_[limit] - weight;
      sum += best[limit] * (reached_[right_[limit]] - reached_[before]);
      right_[limit] = before;
    });
    EachLimit(one.wrong, [&](size_t limit) { wrong_[limit] -= weight; });
    return sum;
  }

  std::vector<uint8_t> reached_;
  std::array<size_t, kLimits> right_{};
  std::array<size_t, kLimits> wrong_{};
  size_t plain_ = 0;  // the plain ones before the present one
  std::vector<uint32_t> plain_before_;
};

/// A category of both sides.
struct PairedCategory {
  std::vector<std::pair<uint32_t, int64_t>> objects;  // images that have some, and how many
  RankedCategory first, second;
};

std::vector<PairedCategory> PairCategories(const DetectionScorer& first,
                                           const DetectionScorer& second,
                                           const ImagePlaces& places) {
  const DetectionScorer::Category nothing;
  std::vector<PairedCategory> categories;
  for (const auto& [id, own] : first.categories()) {
    if (own.objects[0] == 0) continue;
    const auto other = second.categories().find(id);
    PairedCategory& category = categories.emplace_back();
    for (const auto& [image, count] : own.objects_of) {
      category.objects.emplace_back(places.at(image), count);
    }
    category.first = RankOf(own, places);
    category.second = RankOf(other == second.categories().end() ? nothing : other->second, places);
  }
  return categories;
}

std::pair<double, double> MeansOfDraw(const std::vector<PairedCategory>& categories,
                                      const Weights& weights, ResampledPrecision& precision) {
  double first = 0;
  double second = 0;
  int64_t counted = 0;
  for (const PairedCategory& category : categories) {
    int64_t objects = 0;
    for (const auto& [image, count] : category.objects) objects += count * weights[image];
    if (objects == 0) continue;
    ++counted;
    precision.Begin(objects);
    first += precision.Of(category.first, weights);
    second += precision.Of(category.second, weights);
  }
  const auto count = static_cast<double>(counted);
  return {first / count, second / count};
}

}  // namespace

PrecisionIntervals BootstrapPrecision(const DetectionScorer& first, const DetectionScorer& second,
                                      uint64_t seed, size_t draws) {
  PrecisionIntervals intervals;
  const std::vector<int64_t> ids = first.ImageIds();
  if (ids.size() < 2) return intervals;
  ImagePlaces places;
  for (size_t i = 0; i < ids.size(); ++i) places[ids[i]] = static_cast<uint32_t>(i);
  const std::vector<PairedCategory> categories = PairCategories(first, second, places);
  Pcg64 random(seed);
  ResampledPrecision precision;
  std::vector<double> of_first, of_second, of_drop;
  for (size_t draw = 0; draw < draws; ++draw) {
    Weights weights(ids.size());
    for (size_t i = 0; i < ids.size(); ++i) {
      ++weights[random.Below(static_cast<uint32_t>(ids.size()))];
    }
    const auto [a, b] = MeansOfDraw(categories, weights, precision);
    if (std::isnan(a)) continue;
    of_first.push_back(a);
    of_second.push_back(b);
    of_drop.push_back(a - b);
  }
  intervals.draws = static_cast<int64_t>(of_drop.size());
  if (of_drop.empty()) return intervals;
  std::tie(intervals.first_low, intervals.first_high) = MiddleOfDraws(of_first);
  std::tie(intervals.second_low, intervals.second_high) = MiddleOfDraws(of_second);
  std::tie(intervals.drop_low, intervals.drop_high) = MiddleOfDraws(of_drop);
  return intervals;
}

}  // namespace vernier
