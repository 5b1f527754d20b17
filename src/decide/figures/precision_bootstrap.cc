#include "decide/figures/precision_bootstrap.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <mutex>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "decide/figures/bootstrap.h"
#include "kernels/classes/drawn_precision.h"
#include "util/threads/thread_pool.h"

namespace vernier {
namespace {

constexpr size_t kLimits = DetectionScorer::kIouThresholds;
constexpr size_t kRecallLevels = DetectionScorer::kRecalls;
constexpr uint16_t kAllLimits = (1U << kLimits) - 1;

template <typename T>
using Lanes = std::array<T, kDrawLanes>;

/// Images by their place among the ids.
using ImagePlaces = std::unordered_map<int64_t, uint32_t>;

/// Those behind the last one that is right change nothing.
void DropRest(size_t used, RankedDetections& ranked) {
  ranked.images.resize(used);
  while (!ranked.special.empty() && ranked.special.back() >= used) ranked.special.pop_back();
  for (RankedMarks& marks : ranked.limits) {
    while (!marks.ignored.empty() && marks.ignored.back() >= ranked.special.size()) {
      marks.ignored.pop_back();
    }
  }
}

RankedDetections RankOf(const DetectionScorer::Category& category, const ImagePlaces& places) {
  RankedDetections ranked;
  ranked.limits.resize(kLimits);
  size_t used = 0;
  for (const DetectionScorer::Ranked* one : DetectionScorer::SurestFirst(category)) {
    const unsigned ignored = one->ignored[0] & kAllLimits;
    const unsigned right = one->right[0] & ~ignored & kAllLimits;
    if ((right | ignored) != 0) {
      const auto own = static_cast<uint32_t>(ranked.special.size());
      ranked.special.push_back(static_cast<uint32_t>(ranked.images.size()));
      for (size_t limit = 0; limit < kLimits; ++limit) {
        if (((right >> limit) & 1U) != 0) ranked.limits[limit].right.push_back(own);
        if (((ignored >> limit) & 1U) != 0) ranked.limits[limit].ignored.push_back(own);
      }
    }
    ranked.images.push_back(places.at(one->image));
    if (right != 0) used = ranked.images.size();
  }
  DropRest(used, ranked);
  ranked.NoteChanges();
  return ranked;
}

/// A category of both sides.
struct PairedCategory {
  std::vector<ImageObjects> objects;
  RankedDetections first, second;
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
      category.objects.push_back({places.at(image), static_cast<int32_t>(count)});
    }
    category.first = RankOf(own, places);
    category.second = RankOf(other == second.categories().end() ? nothing : other->second, places);
  }
  return categories;
}

/// The recalls of whole percents, as doubles, that lie above their quotient by 100, the highest
/// first: k of n objects do not reach them where 100 k is n times the percents. All other pairs of
/// k and n are further from a recall than roundings reach.
std::vector<int64_t> RaisedRecalls() {
  std::vector<int64_t> raised;
  for (size_t i = kRecallLevels; i-- > 1;) {
    if (DetectionScorer::RecallLimit(i) <= static_cast<double>(i) / 100) continue;
    raised.push_back(static_cast<int64_t>(i));
  }
  return raised;
}

/// How right detections reach recalls of resamples with so many objects.
class RecallsOfDraws {
 public:
  const DrawnRecalls& Of(const Lanes<int32_t>& objects) {
    constexpr double kAboveRoundings = 1 + 4 * std::numeric_limits<double>::epsilon();
    for (size_t lane = 0; lane < kDrawLanes; ++lane) {
      const int32_t count = objects[lane];
      recalls_.percent[lane] = count == 0 ? 0 : 100 / static_cast<double>(count) * kAboveRoundings;
      recalls_.late[lane].clear();
      for (const int64_t percent : raised_) {
        if (count * percent % 100 == 0) {
          recalls_.late[lane].push_back(static_cast<double>(count * percent / 100));
        }
      }
    }
    return recalls_;
  }

 private:
  std::vector<int64_t> raised_ = RaisedRecalls();
  DrawnRecalls recalls_;
};

/// Draws that are made together, in the memory of one thread.
struct DrawnTogether {
  /// How often each image was drawn: a row to an image. One of 256 times is less likely than
  /// 10^-500.
  std::vector<uint8_t> drawn;
  std::vector<uint32_t> one_draw;
  RecallsOfDraws recalls;
  DrawnScratch scratch;
  Lanes<double> first = {};
  Lanes<double> second = {};

  void Draw(size_t images, Pcg64& random) {
    drawn.assign(images * kDrawLanes, 0);
    one_draw.resize(images);
    for (size_t lane = 0; lane < kDrawLanes; ++lane) {
      random.FillBelow(static_cast<uint32_t>(images), one_draw);
      for (const uint32_t image : one_draw) ++drawn[image * kDrawLanes + lane];
    }
  }

  // NaN of a draw without an object.
  void Measure(const std::vector<PairedCategory>& categories) {
    Lanes<int32_t> counted{}, objects;
    Lanes<double> a, b;
    first = second = {};
    for (const PairedCategory& category : categories) {
      CountDrawnObjects(category.objects, drawn.data(), objects);
      const DrawnRecalls& reached = recalls.Of(objects);
      SumDrawnPrecisions(category.first, drawn.data(), reached, scratch, a);
      SumDrawnPrecisions(category.second, drawn.data(), reached, scratch, b);
      for (size_t lane = 0; lane < kDrawLanes; ++lane) {
        if (objects[lane] == 0) continue;
        ++counted[lane];
        first[lane] += a[lane] / static_cast<double>(kRecallLevels * kLimits);
        second[lane] += b[lane] / static_cast<double>(kRecallLevels * kLimits);
      }
    }
    for (size_t lane = 0; lane < kDrawLanes; ++lane) {
      first[lane] /= counted[lane];
      second[lane] /= counted[lane];
    }
  }
};

/// A number of each draw, in their order; NaN of a draw without an object.
struct DrawnFigures {
  std::vector<double> first, second;
};

DrawnFigures MeasureDraws(const std::vector<PairedCategory>& categories, size_t images,
                          uint64_t seed, size_t draws) {
  DrawnFigures figures{std::vector<double>(draws), std::vector<double>(draws)};
  Pcg64 random(seed);
  std::mutex drawing;  // of what comes next
  size_t next = 0;
  ThreadPool pool;
  const size_t batches = (draws + kDrawLanes - 1) / kDrawLanes;
  std::vector<DrawnTogether> own(std::min(pool.thread_count(), batches));
  pool.Run(own.size(), [&](size_t i, size_t) {
    while (true) {
      std::unique_lock lock(drawing);
      const size_t begin = next;
      if (begin >= draws) return;
      next += kDrawLanes;
      own[i].Draw(images, random);
      lock.unlock();
      own[i].Measure(categories);
      const size_t count = std::min(kDrawLanes, draws - begin);
      std::copy_n(own[i].first.begin(), count, figures.first.begin() + begin);
      std::copy_n(own[i].second.begin(), count, figures.second.begin() + begin);
    }
  });
  return figures;
}

}  // namespace

PrecisionIntervals BootstrapPrecision(const DetectionScorer& first, const DetectionScorer& second,
                                      uint64_t seed, size_t draws) {
  PrecisionIntervals intervals;
  const std::vector<int64_t> ids = first.ImageIds();
  if (ids.size() < 2) return intervals;
  ImagePlaces places;
  for (size_t i = 0; i < ids.size(); ++i) places[ids[i]] = static_cast<uint32_t>(i);
  auto [of_first, of_second] =
      MeasureDraws(PairCategories(first, second, places), ids.size(), seed, draws);
  std::erase_if(of_first, [](double ap) { return std::isnan(ap); });
  std::erase_if(of_second, [](double ap) { return std::isnan(ap); });
  std::vector<double> of_drop(of_first.size());
  std::ranges::transform(of_first, of_second, of_drop.begin(), std::minus());
  intervals.draws = static_cast<int64_t>(of_drop.size());
  if (of_drop.empty()) return intervals;
  std::tie(intervals.first_low, intervals.first_high) = MiddleOfDraws(of_first);
  std::tie(intervals.second_low, intervals.second_high) = MiddleOfDraws(of_second);
  std::tie(intervals.drop_low, intervals.drop_high) = MiddleOfDraws(of_drop);
  return intervals;
}

}  // namespace vernier
