// The kernels of the bootstrap of mean average precision against plain loops.
#include "kernels/classes/drawn_precision.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "hwy/targets.h"

namespace vernier {
namespace {

constexpr size_t kImages = 40, kDetections = 300;

uint32_t Below(std::mt19937& random, uint32_t bound) {
  return static_cast<uint32_t>(random() % bound);
}

RankedDetections MadeDetections(std::mt19937& random) {
  RankedDetections ranked;
  ranked.limits.resize(4);
  for (uint32_t i = 0; i < kDetections; ++i) {
    ranked.images.push_back(Below(random, kImages));
    if (random() % 3 != 0) continue;
    const auto own = static_cast<uint32_t>(ranked.special.size());
    ranked.special.push_back(i);
    for (RankedMarks& marks : ranked.limits) {
      // Thresholds of which the second has the ignored ones of the first, and the third has none.
      const bool same = &marks == &ranked.limits[1];
      const uint32_t kind = same ? 0 : Below(random, &marks == &ranked.limits[2] ? 2 : 4);
      if (kind == 3) marks.ignored.push_back(own);
      if (kind == 1) marks.right.push_back(own);
    }
    RankedMarks& second = ranked.limits[1];
    second.ignored = ranked.limits[0].ignored;
    if (second.ignored.empty() || second.ignored.back() != own) second.right.push_back(own);
  }
  ranked.NoteChanges();
  return ranked;
}

double Reached(double right, const DrawnRecalls& recalls, size_t lane) {
  double reached = std::floor(right * recalls.percent[lane]);
  return reached - static_cast<double>(std::ranges::count(recalls.late[lane], right));
}

// Of one threshold, from the front.
double PlainSum(const RankedDetections& ranked, const RankedMarks& marks, const uint8_t* drawn,
                const DrawnRecalls& recalls, size_t lane) {
  std::vector<double> precision(400);
  int right = 0, all = 0;
  size_t row = 0;
  for (size_t i = 0; i < ranked.images.size(); ++i) {
    const int weight = drawn[ranked.images[i] * kDrawLanes + lane];
    const bool special = row < ranked.special.size() && ranked.special[row] == i;
    const auto own = static_cast<uint32_t>(row);
    if (special) ++row;
    if (special && std::ranges::binary_search(marks.ignored, own)) continue;
    all += weight;
    if (!special || weight == 0 || !std::ranges::binary_search(marks.right, own)) continue;
    right += weight;
    const auto reached = static_cast<size_t>(Reached(right, recalls, lane));
    for (size_t r = 0; r <= reached; ++r) {
      precision[r] = std::max(precision[r], static_cast<double>(right) / all);
    }
  }
  double sum = 0;
  for (const double one : precision) sum += one;
  return sum;
}

TEST(SumDrawnPrecisions, IsThatOfAPlainLoopOnEveryInstructionSet) {
  std::mt19937 random(3);
  for (int round = 0; round < 20; ++round) {
    const RankedDetections ranked = MadeDetections(random);
    std::vector<uint8_t> drawn(kImages * kDrawLanes);
    for (uint8_t& one : drawn) one = static_cast<uint8_t>(random() % 4 == 0 ? random() % 6 : 0);
    DrawnRecalls recalls;
    std::vector<double> plain(kDrawLanes);
    for (size_t lane = 0; lane < kDrawLanes; ++lane) {
      recalls.percent[lane] = 100.0 / (80.0 + static_cast<double>(random() % 100));
      for (uint32_t level = lane % 3 == 0 ? 18 : 0; level > 3; level -= 2 + Below(random, 3)) {
        recalls.late[lane].push_back(std::ceil(level / recalls.percent[lane]));
      }
      for (const RankedMarks& marks : ranked.limits) {
        plain[lane] += PlainSum(ranked, marks, drawn.data(), recalls, lane);
      }
    }
    std::vector<double> of_first_target;
    for (int64_t rest = hwy::SupportedTargets() & HWY_TARGETS; rest != 0; rest &= rest - 1) {
      hwy::SetSupportedTargetsForTest(rest & -rest);
      hwy::GetChosenTarget().Update(hwy::SupportedTargets());
      SCOPED_TRACE(hwy::TargetName(rest & -rest));
      std::vector<double> sums(kDrawLanes);
      DrawnScratch scratch;
      SumDrawnPrecisions(ranked, drawn.data(), recalls, scratch,
                         std::span<double, kDrawLanes>(sums));
      for (size_t lane = 0; lane < kDrawLanes; ++lane) {
        EXPECT_NEAR(sums[lane], plain[lane], 1e-10) << lane;
      }
      if (of_first_target.empty()) of_first_target = sums;
      EXPECT_EQ(sums, of_first_target);
      hwy::SetSupportedTargetsForTest(0);
      hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    }
  }
}

TEST(CountDrawnObjects, MultipliesCounts) {
  std::vector<uint8_t> drawn(3 * kDrawLanes);
  for (size_t i = 0; i < drawn.size(); ++i) drawn[i] = static_cast<uint8_t>(i);
  const std::vector<ImageObjects> objects = {{0, 2}, {2, 300}};
  std::vector<int32_t> counts(kDrawLanes);
  CountDrawnObjects(objects, drawn.data(), std::span<int32_t, kDrawLanes>(counts));
  for (size_t lane = 0; lane < kDrawLanes; ++lane) {
    EXPECT_EQ(counts[lane],
              2 * static_cast<int32_t>(lane) + 300 * static_cast<int32_t>(2 * kDrawLanes + lane));
  }
}

}  // namespace
}  // namespace vernier
