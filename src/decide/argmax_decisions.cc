// argmax: the class of every position, as of a segmentation.
#include <algorithm>
#include <cstring>
#include <limits>

#include "decide/class_rows.h"
#include "decide/kinds.h"
#include "decide/row_top.h"
#include "util/number_text.h"

namespace vernier {
namespace {

constexpr size_t kTile = 512;

/// The classes of neighbouring positions.
template <typename T>
struct ClassTile {
  T best[kTile];
  T second[kTile];
  int32_t place[kTile];
  int32_t has_nan[kTile];

  double margin(size_t i) const { return Gap(best[i], second[i]); }
};

// Class c of position i is from[c * stride + i].
template <typename T>
void FillScattered(const T* from, int64_t classes, size_t stride, size_t count,
                   ClassTile<T>& tile) {
  for (size_t i = 0; i < count; ++i) {
    tile.best[i] = from[i];
    tile.second[i] = LeastValue<T>();
    tile.place[i] = 0;
    tile.has_nan[i] = IsNan(from[i]) ? 1 : 0;
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
      tile.has_nan[i] |= IsNan(value) ? 1 : 0;
    }
  }
}

template <typename T>
void FillTogether(const T* from, int64_t classes, size_t count, ClassTile<T>& tile) {
  for (size_t i = 0; i < count; ++i) {
    const size_t width = static_cast<size_t>(classes);
    const TopTwo<T> top = FindTopTwo(std::span<const T>(from + i * width, width));
    tile.best[i] = top.best;
    tile.second[i] = top.second;
    tile.place[i] = static_cast<int32_t>(top.place);
    tile.has_nan[i] = top.has_nan ? 1 : 0;
  }
}

/// How the positions of one sample stand to each other.
struct PositionCounts {
  explicit PositionCounts(int64_t classes)
      : both(static_cast<size_t>(classes)), first(both), second(both) {}

  std::vector<int64_t> both;  // of each class
  std::vector<int64_t> first;
  std::vector<int64_t> second;
  int64_t positions = 0;
  int64_t equal = 0;
  bool first_has_nan = false;
  bool second_has_nan = false;
  double first_least = std::numeric_limits<double>::infinity();
  double second_least = std::numeric_limits<double>::infinity();
  // Of the positions that differ.
  double first_most = 0;
  double second_most = 0;
  double largest = 0;  // magnitude of a value that decided
};

template <typename T>
void CountTile(const ClassTile<T>& a, const ClassTile<T>& b, size_t count, PositionCounts& counts) {
  for (size_t i = 0; i < count; ++i) {
    counts.first_has_nan |= a.has_nan[i] != 0;
    counts.second_has_nan |= b.has_nan[i] != 0;
    const auto x = static_cast<size_t>(a.place[i]);
    const auto y = static_cast<size_t>(b.place[i]);
    counts.first_least = std::min(counts.first_least, a.margin(i));
    counts.second_least = std::min(counts.second_least, b.margin(i));
    ++counts.first[x];
    ++counts.second[y];
    if (x == y) {
      ++counts.both[x];
      ++counts.equal;
    }
  }
  counts.positions += static_cast<int64_t>(count);
}

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

// Of a sample whose positions differ somewhere: by how much, at those; and what the values of the
// others differ by.
template <typename T>
DifferenceNoise MeasureFlips(const SamplePair<T>& sample, ClassTile<T>& a, ClassTile<T>& b,
                             PositionCounts& counts) {
  const auto classes = static_cast<size_t>(sample.rows.classes);
  const auto inner = static_cast<size_t>(sample.rows.inner);
  const size_t step = inner == 1 ? classes : 1;
  DifferenceNoise noise;
  EachTile(sample, a, b, [&](size_t first, size_t count) {
    for (size_t i = 0; i < count; ++i) {
      const T* from_a = sample.a + first + i * step;
      const T* from_b = sample.b + first + i * step;
      const auto x = static_cast<size_t>(a.place[i]) * inner;
      const auto y = static_cast<size_t>(b.place[i]) * inner;
      if (x != y) {
        counts.first_most = std::max(counts.first_most, Gap(from_a[x], from_a[y]));
        counts.second_most = std::max(counts.second_most, Gap(from_b[y], from_b[x]));
        for (const T value : {from_a[x], from_a[y], from_b[x], from_b[y]}) {
          Raise(counts.largest, value);
        }
        continue;
      }
      for (size_t c = 0; c < classes; ++c) {
        noise.Add(from_a[c * inner], from_b[c * inner]);
      }
    }
  });
  return noise;
}

// "0:812 3:40" of the classes that are there; of one position its class alone.
std::string ClassText(const std::vector<int64_t>& counts, int64_t positions) {
  constexpr size_t kMost = 32;
  std::string text;
  size_t shown = 0;
  for (size_t c = 0; c < counts.size(); ++c) {
    if (counts[c] == 0) continue;
    if (positions == 1) return std::to_string(c);
    if (++shown > kMost) return text + " and more";
    if (!text.empty()) text += ' ';
    text += std::to_string(c) + ":" + std::to_string(counts[c]);
  }
  return text.empty() ? "none" : text;
}

std::string IouText(const PositionCounts& counts) {
  double sum = 0;
  double least = 2;
  int64_t classes = 0;
  size_t worst = 0;
  for (size_t c = 0; c < counts.both.size(); ++c) {
    const int64_t either = counts.first[c] + counts.second[c] - counts.both[c];
    if (either == 0) continue;
    const double iou = static_cast<double>(counts.both[c]) / static_cast<double>(either);
    sum += iou;
    ++classes;
    if (iou < least) least = iou, worst = c;
  }
  return std::to_string(counts.positions - counts.equal) + " of " +
         std::to_string(counts.positions) + " positions, mean IoU " +
         FormatG(sum / static_cast<double>(classes), 4) + ", least " + FormatG(least, 4) +
         " of class " + std::to_string(worst);
}

template <typename T>
void DecideImage(const SamplePair<T>& pair, const NearTieRule& near_tie, OtherSamples& others,
                 int64_t index, DecisionSample& sample) {
  ClassTile<T> a;
  ClassTile<T> b;
  PositionCounts counts(pair.rows.classes);
  EachTile(pair, a, b, [&](size_t, size_t count) { CountTile(a, b, count, counts); });
  sample.near_tie = near_tie.known();
  sample.first = ClassText(counts.first, counts.positions);
  sample.second = ClassText(counts.second, counts.positions);
  sample.first_margin = counts.first_least;
  sample.second_margin = counts.second_least;
  if (counts.first_has_nan || counts.second_has_nan) {
    return MakeInvalid(sample, counts.first_has_nan, counts.second_has_nan);
  }
  if (counts.equal == counts.positions) return;
  sample.similarity = static_cast<double>(counts.equal) / static_cast<double>(counts.positions);
  if (counts.positions > 1) sample.detail = IouText(counts);
  const DifferenceNoise noise = MeasureFlips(pair, a, b, counts);
  sample.first_margin = counts.first_most;
  sample.second_margin = counts.second_most;
  near_tie.Judge(sample, counts.largest,
                 [&] { return noise.empty() ? others.Without(index) : noise.scale(); });
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
