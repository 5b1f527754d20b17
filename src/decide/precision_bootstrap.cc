#include "decide/precision_bootstrap.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "decide/bootstrap.h"
#include "util/thread_pool.h"

namespace vernier {
namespace {

constexpr size_t kLimits = DetectionScorer::kIouThresholds;
constexpr size_t kRecallLevels = DetectionScorer::kRecalls;
constexpr uint16_t kAllLimits = (1U << kLimits) - 1;

/// So many draws are made at once: what is looked up of a detection serves all of them.
constexpr size_t kDraws = 8;

/// A number of each of these draws. Loops over lanes become vectors.
template <typename T>
using Lanes = std::array<T, kDraws>;
using Counts = Lanes<int32_t>;

void Add(const Counts& other, Counts& counts) {
  for (size_t lane = 0; lane < kDraws; ++lane) counts[lane] += other[lane];
}

/// A detection that is right or ignored at a threshold.
struct Mark {
  uint32_t detection = 0;  ///< among the special ones of its category
  bool ignored = false;
};

/// The detections of a category, surest first. Most are wrong at every threshold, and all that
/// counts of these is their image.
struct RankedCategory {
  std::vector<uint32_t> images;   ///< of all up to the last that is right
  std::vector<uint32_t> special;  ///< which of them are right or ignored at some threshold
  std::array<std::vector<Mark>, kLimits> marks;
};

/// Images by their place among the ids.
using ImagePlaces = std::unordered_map<int64_t, uint32_t>;

RankedCategory RankOf(const DetectionScorer::Category& category, const ImagePlaces& places) {
  RankedCategory ranked;
  size_t used = 0;
  for (const DetectionScorer::Ranked* one : DetectionScorer::SurestFirst(category)) {
    const unsigned ignored = one->ignored[0] & kAllLimits;
    const unsigned right = one->right[0] & ~ignored & kAllLimits;
    if ((right | ignored) != 0) {
      const auto own = static_cast<uint32_t>(ranked.special.size());
      ranked.special.push_back(static_cast<uint32_t>(ranked.images.size()));
      for (size_t limit = 0; limit < kLimits; ++limit) {
        if ((((right | ignored) >> limit) & 1U) == 0) continue;
        ranked.marks[limit].push_back({own, ((ignored >> limit) & 1U) != 0});
      }
    }
    ranked.images.push_back(places.at(one->image));
    if (right != 0) used = ranked.images.size();
  }
  ranked.images.resize(used);  // those behind the last one change nothing
  while (!ranked.special.empty() && ranked.special.back() >= used) {
    for (auto& marks : ranked.marks) {
      if (!marks.empty() && marks.back().detection + 1 == ranked.special.size()) marks.pop_back();
    }
    ranked.special.pop_back();
  }
  return ranked;
}

/// How often each image was drawn.
using Weights = std::vector<Counts>;

/// Average precision of a category in resamples.
class ResampledPrecision {
 public:
  /// `objects` that count in each resample; in those without any, the sums mean nothing.
  void Begin(const Counts& objects) {
    const auto most = static_cast<size_t>(*std::ranges::max_element(objects));
    reached_.assign(most + 1, {});
    for (size_t lane = 0; lane < kDraws; ++lane) CountReached(lane, objects[lane]);
  }

  Lanes<double> Of(const RankedCategory& ranked, const Weights& weights) {
    CountAll(ranked, weights);
    Lanes<double> sum{};
    for (const std::vector<Mark>& marks : ranked.marks) AddOverRecalls(marks, sum);
    for (double& one : sum) one /= static_cast<double>(kRecallLevels * kLimits);
    return sum;
  }

 private:
  /// Of a special detection.
  struct Ranked {
    Counts weight;
    Counts up_to;  // how many there are up to it, ignored ones included
  };
  /// Where a detection is right: the precision there, and how many recalls are reached.
  struct CurvePoint {
    Lanes<double> precision;
    Lanes<uint8_t> reached;
  };

  // How many of the recalls the first k right detections reach.
  void CountReached(size_t lane, int32_t objects) {
    uint8_t reached = 0;
    for (int32_t k = 1; k <= objects; ++k) {
      const double recall = static_cast<double>(k) / static_cast<double>(objects);
      while (reached < kRecallLevels && DetectionScorer::RecallLimit(reached) <= recall) ++reached;
      reached_[static_cast<size_t>(k)][lane] = reached;
    }
  }

  void CountAll(const RankedCategory& ranked, const Weights& weights) {
    special_.resize(ranked.special.size());
    Counts all{};
    size_t at = 0;
    for (size_t i = 0; i < special_.size(); ++i) {
      for (; at <= ranked.special[i]; ++at) Add(weights[ranked.images[at]], all);
      special_[i] = {weights[ranked.images[ranked.special[i]]], all};
    }
  }

  // Of one threshold.
  void AddOverRecalls(const std::vector<Mark>& marks, Lanes<double>& sum) {
    Draw(marks);
    Lanes<double> best{};  // the highest precision from here to the end
    for (size_t i = curve_.size(); i-- > 1;) {
      const CurvePoint &point = curve_[i], &before = curve_[i - 1];
      for (size_t lane = 0; lane < kDraws; ++lane) {
        best[lane] = best[lane] < point.precision[lane] ? point.precision[lane] : best[lane];
      }
      for (size_t lane = 0; lane < kDraws; ++lane) {
        sum[lane] += best[lane] * (point.reached[lane] - before.reached[lane]);
      }
    }
  }

  // The first point is that of no detection.
  void Draw(const std::vector<Mark>& marks) {
    constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
    curve_.assign(1, {});
    Counts right{}, ignored{};
    for (const Mark& mark : marks) {
      const Ranked& one = special_[mark.detection];
      Add(one.weight, mark.ignored ? ignored : right);
      if (mark.ignored) continue;
      CurvePoint& point = curve_.emplace_back();
      for (size_t lane = 0; lane < kDraws; ++lane) {
        point.precision[lane] = right[lane] / (one.up_to[lane] - ignored[lane] + kEpsilon);
      }
      for (size_t lane = 0; lane < kDraws; ++lane) {
        point.reached[lane] = reached_[static_cast<size_t>(right[lane])][lane];
      }
    }
  }

  std::vector<Lanes<uint8_t>> reached_;
  std::vector<CurvePoint> curve_;
  std::vector<Ranked> special_;
};

/// A category of both sides.
struct PairedCategory {
  std::vector<std::pair<uint32_t, int32_t>> objects;  // images that have some, and how many
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
      category.objects.emplace_back(places.at(image), static_cast<int32_t>(count));
    }
    category.first = RankOf(own, places);
    category.second = RankOf(other == second.categories().end() ? nothing : other->second, places);
  }
  return categories;
}

/// Draws that are made together, in the memory of one thread.
struct DrawnTogether {
  Weights weights;
  ResampledPrecision precision;
  Lanes<double> first = {};
  Lanes<double> second = {};

  void Draw(Pcg64& random) {
    const auto images = static_cast<uint32_t>(weights.size());
    std::ranges::fill(weights, Counts{});
    for (size_t lane = 0; lane < kDraws; ++lane) {
      for (uint32_t i = 0; i < images; ++i) ++weights[random.Below(images)][lane];
    }
  }

  // NaN of a draw without an object.
  void Measure(const std::vector<PairedCategory>& categories) {
    Counts counted{};
    first = second = {};
    for (const PairedCategory& category : categories) {
      Counts objects{};
      for (const auto& [image, count] : category.objects) {
        for (size_t lane = 0; lane < kDraws; ++lane) objects[lane] += count * weights[image][lane];
      }
      precision.Begin(objects);
      const Lanes<double> a = precision.Of(category.first, weights);
      const Lanes<double> b = precision.Of(category.second, weights);
      for (size_t lane = 0; lane < kDraws; ++lane) {
        if (objects[lane] == 0) continue;
        ++counted[lane];
        first[lane] += a[lane];
        second[lane] += b[lane];
      }
    }
    for (size_t lane = 0; lane < kDraws; ++lane) {
      first[lane] /= counted[lane];
      second[lane] /= counted[lane];
    }
  }
};

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
  ThreadPool pool;
  std::vector<DrawnTogether> drawn(std::min(pool.thread_count(), (draws + kDraws - 1) / kDraws));
  for (DrawnTogether& one : drawn) one.weights.resize(ids.size());
  std::vector<double> of_first, of_second, of_drop;
  for (size_t done = 0; done < draws; done += drawn.size() * kDraws) {
    for (DrawnTogether& one : drawn) one.Draw(random);
    pool.Run(drawn.size(), [&](size_t i, size_t) { drawn[i].Measure(categories); });
    for (size_t draw = done; draw < std::min(draws, done + drawn.size() * kDraws); ++draw) {
      const DrawnTogether& one = drawn[(draw - done) / kDraws];
      const double a = one.first[draw % kDraws], b = one.second[draw % kDraws];
      if (std::isnan(a)) continue;
      of_first.push_back(a);
      of_second.push_back(b);
      of_drop.push_back(a - b);
    }
  }
  intervals.draws = static_cast<int64_t>(of_drop.size());
  if (of_drop.empty()) return intervals;
  std::tie(intervals.first_low, intervals.first_high) = MiddleOfDraws(of_first);
  std::tie(intervals.second_low, intervals.second_high) = MiddleOfDraws(of_second);
  std::tie(intervals.drop_low, intervals.drop_high) = MiddleOfDraws(of_drop);
  return intervals;
}

}  // namespace vernier
