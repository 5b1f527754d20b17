// argmax: the class of every position, as of a segmentation.
#include <algorithm>
#include <cstring>
#include <iterator>
#include <limits>
#include <optional>
#include <type_traits>

#include "decide/kinds/class_rows.h"
#include "decide/kinds/kinds.h"
#include "decide/kinds/logit_noise.h"
#include "decide/kinds/row_top.h"
#include "decide/kinds/tie_limits.h"
#include "kernels/classes/class_blocks.h"
#include "util/text/number_text.h"

namespace vernier {
namespace {

constexpr size_t kTile = 1024;

/// The classes of neighbouring positions.
template <typename T>
struct ClassTile {
  T best[kTile];
  T second[kTile];
  int32_t place[kTile];
  bool has_nan = false;  // somewhere in the tile; that place's other members then mean nothing

  double margin(size_t i) const { return Gap(best[i], second[i]); }
};

// Class c of position i is from[c * stride + i].
template <typename T>
void FillScattered(const T* from, int64_t classes, size_t stride, size_t count,
                   ClassTile<T>& tile) {
  if constexpr (std::is_same_v<T, float>) {
    tile.has_nan = FindClasses(from, static_cast<size_t>(classes), stride, count,
                               {tile.best, tile.second, tile.place});
    return;
  }
  int any_nan = 0;
  for (size_t i = 0; i < count; ++i) {
    tile.best[i] = from[i];
    tile.second[i] = LeastValue<T>();
    tile.place[i] = 0;
    any_nan |= IsNan(from[i]) ? 1 : 0;
  }
  for (int64_t c = 1; c < classes; ++c) {
    const T* values = from + static_cast<size_t>(c) * stride;
    const auto own = static_cast<int32_t>(c);
    for (size_t i = 0; i < count; ++i) {
      const T value = values[i];
      const T best = tile.best[i];
      const bool is_larger = value > best;
      const T lower = is_larger ? best : value;
      tile.best[i] = is_larger ? value : best;
      tile.place[i] = is_larger ? own : tile.place[i];
      tile.second[i] = lower > tile.second[i] ? lower : tile.second[i];
      any_nan |= IsNan(value) ? 1 : 0;
    }
  }
  tile.has_nan = any_nan != 0;
}

template <typename T>
void FillTogether(const T* from, int64_t classes, size_t count, ClassTile<T>& tile) {
  tile.has_nan = false;
  for (size_t i = 0; i < count; ++i) {
    const size_t width = static_cast<size_t>(classes);
    const TopTwo<T> top = FindTopTwo(std::span<const T>(from + i * width, width));
    tile.best[i] = top.best;
    tile.second[i] = top.second;
    tile.place[i] = static_cast<int32_t>(top.place);
    tile.has_nan |= top.has_nan;
  }
}

/// How the positions of one sample stand to each other.
struct PositionCounts {
  explicit PositionCounts(int64_t classes)
      : first(static_cast<size_t>(classes)), lost(first), gained(first) {}

  std::vector<int64_t> first;   // of each class
  std::vector<int64_t> lost;    // those of `first` that the second side has otherwise
  std::vector<int64_t> gained;  // likewise of the second side
  int64_t positions = 0;
  int64_t different = 0;
  bool first_has_nan = false;
  bool second_has_nan = false;
  bool first_all_tied = true;  // every position has two or more best classes
  double first_least = std::numeric_limits<double>::infinity();
  double second_least = std::numeric_limits<double>::infinity();
  // Of the positions that differ.
  double first_most = 0;
  double second_most = 0;
  double largest = 0;  // magnitude of a value that decided

  int64_t Both(size_t c) const { return first[c] - lost[c]; }
  std::vector<int64_t> Second() const {
    std::vector<int64_t> second(first.size());
    for (size_t c = 0; c < first.size(); ++c) second[c] = Both(c) + gained[c];
    return second;
  }
};

/// One sample on both sides: its positions in blocks (outer), each with `inner` neighbours.
template <typename T>
struct SamplePair {
  const T* a;
  const T* b;
  ClassRows rows;  // within the sample
};

// Calls `visit(first_block_element, stride, tile_a, tile_b, count)` with all positions in tiles.
// `stride` is between two classes of a position, `step` between two positions.
template <typename T, typename Visit>
void EachTile(const SamplePair<T>& sample, ClassTile<T>& a, ClassTile<T>& b, const Visit& visit) {
  const auto classes = static_cast<size_t>(sample.rows.classes);
  const auto inner = static_cast<size_t>(sample.rows.inner);
  const auto outer = static_cast<size_t>(sample.rows.outer);
  const bool together = inner == 1;
  const size_t blocks = together ? 1 : outer;
  const size_t positions = together ? outer : inner;
  for (size_t block = 0; block < blocks; ++block) {
    for (size_t done = 0; done < positions; done += kTile) {
      const size_t count = std::min(kTile, positions - done);
      const size_t first = block * classes * inner + done * (together ? classes : 1);
      if (together) {
        FillTogether(sample.a + first, sample.rows.classes, count, a);
        FillTogether(sample.b + first, sample.rows.classes, count, b);
      } else {
        FillScattered(sample.a + first, sample.rows.classes, inner, count, a);
        FillScattered(sample.b + first, sample.rows.classes, inner, count, b);
      }
      visit(first, count);
    }
  }
}

// Of a position whose classes are `x` and `y`: by how much they differ.
template <typename T>
void CountDifference(const SamplePair<T>& sample, size_t position, size_t x, size_t y,
                     PositionCounts& counts) {
  const auto inner = static_cast<size_t>(sample.rows.inner);
  const T* from_a = sample.a + position;
  const T* from_b = sample.b + position;
  const T a_x = from_a[x * inner], a_y = from_a[y * inner];
  const T b_x = from_b[x * inner], b_y = from_b[y * inner];
  ++counts.lost[x];
  ++counts.gained[y];
  ++counts.different;
  counts.first_most = std::max(counts.first_most, Gap(a_x, a_y));
  counts.second_most = std::max(counts.second_most, Gap(b_y, b_x));
  for (const T value : {a_x, a_y, b_x, b_y}) Raise(counts.largest, value);
}

// Margins in float32 keep their order but for rounding: whose is the least may be the exact least.
double LeastMargin(const ClassTile<float>& tile, size_t count, double least) {
  constexpr size_t kLanes = 16;
  const auto apart = [&tile](size_t i) {
    return tile.best[i] == tile.second[i] ? 0 : tile.best[i] - tile.second[i];
  };
  float lanes[kLanes];
  std::fill_n(lanes, kLanes, std::numeric_limits<float>::infinity());
  size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) {
      const float own = apart(i + lane);
      lanes[lane] = own < lanes[lane] ? own : lanes[lane];
    }
  }
  for (; i < count; ++i) lanes[0] = std::min(lanes[0], apart(i));
  const float rounded = *std::min_element(std::begin(lanes), std::end(lanes));
  // Rounding keeps the order, so that no exact margin of the tile is less than `least`.
  if (rounded > static_cast<float>(least)) return least;
  for (size_t first = 0; first < count; first += kLanes) {
    const size_t end = std::min(first + kLanes, count);
    int any = 0;
    for (i = first; i < end; ++i) any |= apart(i) == rounded ? 1 : 0;
    for (i = first; any != 0 && i < end; ++i) {
      if (apart(i) == rounded) least = std::min(least, tile.margin(i));
    }
  }
  return least;
}

// The least margin of a tile, or what is less. Lanes do not wait for each other.
template <typename T>
double LeastMargin(const ClassTile<T>& tile, size_t count, double least) {
  constexpr size_t kLanes = 4;
  double lanes[kLanes] = {least, least, least, least};
  size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) {
      lanes[lane] = std::min(lanes[lane], tile.margin(i + lane));
    }
  }
  for (; i < count; ++i) lanes[0] = std::min(lanes[0], tile.margin(i));
  return *std::min_element(std::begin(lanes), std::end(lanes));
}

// `first`: where the first position of the tile is in the sample.
template <typename T>
void CountTile(const SamplePair<T>& sample, const ClassTile<T>& a, const ClassTile<T>& b,
               size_t first, size_t count, PositionCounts& counts) {
  counts.first_has_nan |= a.has_nan;
  counts.second_has_nan |= b.has_nan;
  counts.first_least = LeastMargin(a, count, counts.first_least);
  counts.second_least = LeastMargin(b, count, counts.second_least);
  for (size_t i = 0; counts.first_all_tied && i < count; ++i) {
    counts.first_all_tied = a.best[i] == a.second[i];
  }
  const size_t step = sample.rows.inner == 1 ? static_cast<size_t>(sample.rows.classes) : 1;
  for (size_t i = 0; i < count; ++i) {
    const auto x = static_cast<size_t>(a.place[i]);
    const auto y = static_cast<size_t>(b.place[i]);
    ++counts.first[x];
    if (x != y) CountDifference(sample, first + i * step, x, y, counts);
  }
  counts.positions += static_cast<int64_t>(count);
}

template <typename T>
EqualNoise NoiseOfEqual(const SamplePair<T>& sample, ClassTile<T>& a, ClassTile<T>& b) {
  const auto classes = static_cast<size_t>(sample.rows.classes);
  const auto inner = static_cast<size_t>(sample.rows.inner);
  const size_t step = inner == 1 ? classes : 1;
  EqualNoise noise;
  EachTile(sample, a, b, [&](size_t first, size_t count) {
    for (size_t i = 0; i < count; ++i) {
      if (a.place[i] != b.place[i]) continue;
      const T* from_a = sample.a + first + i * step;
      const T* from_b = sample.b + first + i * step;
      for (size_t c = 0; c < classes; ++c) {
        noise.values.Add(from_a[c * inner], from_b[c * inner]);
      }
      if constexpr (std::is_floating_point_v<T>) {
        for (size_t c = 0; c < classes; ++c) {
          noise.sigmoids.Add(static_cast<double>(from_a[c * inner]),
                             static_cast<double>(from_b[c * inner]));
        }
        if (!noise.logits.probabilities()) continue;
        noise.logits.Add(from_a, from_b, classes, inner, static_cast<size_t>(a.place[i]));
      }
    }
  });
  return noise;
}

// Of a single position the other classes show the noise, as of a row of topK.
template <typename T>
std::optional<double> LogitsOfSample(const SamplePair<T>& pair, const ClassTile<T>& a,
                                     const ClassTile<T>& b, const EqualNoise& noise,
                                     int64_t positions) {
  if constexpr (std::is_floating_point_v<T>) {
    if (positions > 1) return noise.logits.scale();
    const auto [low, high] = std::minmax(a.place[0], b.place[0]);
    const auto classes = static_cast<size_t>(pair.rows.classes);
    return NoiseOfLogits<T>({pair.a, classes}, {pair.b, classes},
                            {static_cast<size_t>(low), static_cast<size_t>(high)});
  }
  return std::nullopt;
}

template <typename T>
void AddOtherClasses(const SamplePair<T>& pair, const ClassTile<T>& a, const ClassTile<T>& b,
                     DifferenceNoise& noise) {
  for (int32_t c = 0; c < pair.rows.classes; ++c) {
    if (c != a.place[0] && c != b.place[0]) noise.Add(pair.a[c], pair.b[c]);
  }
}

template <typename T>
LimitsByEqual LimitByEqual(const SamplePair<T>& pair, ClassTile<T>& a, ClassTile<T>& b,
                           const PositionCounts& counts, OtherSamples& others, int64_t index) {
  EqualNoise noise = NoiseOfEqual(pair, a, b);
  LimitsByEqual limits;
  if (counts.positions == 1) AddOtherClasses(pair, a, b, noise.values);
  const auto logits = LogitsOfSample(pair, a, b, noise, counts.positions);
  if (logits) {
    limits.near_tie = LimitOfProbability(counts.largest,
                                         NoiseLimit(*logits, NoisyValues::kTwo, counts.different));
    return limits;
  }
  if (const auto sigmoids = noise.sigmoids.scale()) {
    const double moved = NoiseLimit(*sigmoids, NoisyValues::kTwo, counts.different);
    limits.doubt = LogitsOfValues::LimitAt(counts.largest, moved);
  }
  const double scale = noise.values.empty() ? others.Without(index) : noise.values.scale();
  limits.near_tie = NoiseLimit(scale, NoisyValues::kTwo, counts.different);
  return limits;
}

// "0:812 3:40" of the classes that are there; of one position its class alone.
std::string ClassText(const std::vector<int64_t>& counts, int64_t positions) {
  ClassCountsText text;
  for (size_t c = 0; c < counts.size(); ++c) {
    if (counts[c] == 0) continue;
    if (positions == 1) return std::to_string(c);
    text.Add(static_cast<int64_t>(c), counts[c]);
  }
  return std::move(text).Take();
}

// Of the classes that either side has. Those of a vocabulary are no regions of a map.
std::vector<ClassOverlap> Overlaps(const PositionCounts& counts) {
  constexpr size_t kMostClasses = 4096;
  std::vector<ClassOverlap> overlaps;
  if (counts.positions == 1 || counts.first.size() > kMostClasses) return overlaps;
  for (size_t c = 0; c < counts.first.size(); ++c) {
    const int64_t both = counts.Both(c);
    const int64_t second = both + counts.gained[c];
    if (counts.first[c] + second == 0) continue;
    overlaps.push_back({static_cast<int64_t>(c), counts.first[c], second, both});
  }
  return overlaps;
}

std::string IouText(const PositionCounts& counts) {
  double sum = 0;
  double least = 2;
  int64_t classes = 0;
  size_t worst = 0;
  for (size_t c = 0; c < counts.first.size(); ++c) {
    const int64_t either = counts.first[c] + counts.gained[c];
    if (either == 0) continue;
    const double iou = static_cast<double>(counts.Both(c)) / static_cast<double>(either);
    sum += iou;
    ++classes;
    if (iou < least) least = iou, worst = c;
  }
  return std::to_string(counts.different) + " of " + std::to_string(counts.positions) +
         " positions, mean IoU " + FormatG(sum / static_cast<double>(classes), 4) + ", least " +
         FormatG(least, 4) + " of class " + std::to_string(worst);
}

template <typename T>
void DecideImage(const SamplePair<T>& pair, const NearTieRule& near_tie, OtherSamples& others,
                 int64_t index, DecisionSample& sample) {
  ClassTile<T> a;
  ClassTile<T> b;
  PositionCounts counts(pair.rows.classes);
  EachTile(pair, a, b,
           [&](size_t first, size_t count) { CountTile(pair, a, b, first, count, counts); });
  sample.near_tie = near_tie.known();
  sample.first = ClassText(counts.first, counts.positions);
  sample.second = ClassText(counts.Second(), counts.positions);
  sample.first_margin = counts.first_least;
  sample.second_margin = counts.second_least;
  if (counts.first_has_nan || counts.second_has_nan) {
    return MakeInvalid(sample, counts.first_has_nan, counts.second_has_nan);
  }
  sample.all_above = counts.first_all_tied;
  sample.classes = Overlaps(counts);
  if (counts.different == 0) return;
  const int64_t equal = counts.positions - counts.different;
  sample.similarity = static_cast<double>(equal) / static_cast<double>(counts.positions);
  if (counts.positions > 1) sample.detail = IouText(counts);
  sample.first_margin = counts.first_most;
  sample.second_margin = counts.second_most;
  LimitsByEqual limits;
  near_tie.Judge(sample, counts.largest, [&] {
    limits = LimitByEqual(pair, a, b, counts, others, index);
    return limits.near_tie;
  });
  if (sample.flip != Flip::kClear) return;
  sample.over_bound = ClearMargin(sample) <= kMostNoiseLimits * limits.doubt;
}

}  // namespace

std::vector<DecisionSample> DecideArgmax(const DecideInput& input) {
  const Dims& dims = input.reference.dims();
  const size_t axis = *ClassAxis(input.plan, dims);
  ClassRows rows = RowsAlongAxis(dims, axis);
  const int64_t count = axis == 0 ? 1 : dims[0];
  std::vector<DecisionSample> samples;
  if (input.reference.element_count() == 0) return samples;
  samples.resize(static_cast<size_t>(count));
  rows.outer /= count;
  const int64_t size = rows.outer * rows.classes * rows.inner;
  WithArithmetic(input.reference, input.candidate, [&](auto zero) {
    using T = decltype(zero);
    PartReader<T> a(input.reference, size);
    PartReader<T> b(input.candidate, size);
    OtherSamples others(input.reference, input.candidate, size);
    for (int64_t i = 0; i < count; ++i) {
      DecideImage<T>({a.Part(i), b.Part(i), rows}, input.near_tie, others, i,
                     samples[static_cast<size_t>(i)]);
    }
  });
  return samples;
}

}  // namespace vernier
