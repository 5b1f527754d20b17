#include "kernels/classes/drawn_precision.h"

#include <algorithm>
#include <iterator>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/classes/drawn_precision.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h.
#include "hwy/highway.h"

// No fused multiply-add anywhere: it would make sums depend on the machine.
HWY_BEFORE_NAMESPACE();
namespace vernier {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Special detections have rows of so many resamples, one group of these after the other.
constexpr size_t kGroup = 8;
constexpr size_t kGroups = kDrawLanes / kGroup;

using CountTag = hn::CappedTag<int32_t, kGroup>;
using CountVec = hn::Vec<CountTag>;
constexpr size_t kCountWidth = hn::MaxLanes(CountTag());
constexpr size_t kCountVectors = kDrawLanes / kCountWidth;

using DrawTag = hn::CappedTag<double, kGroup>;
using DrawVec = hn::Vec<DrawTag>;
using DrawCounts = hn::Rebind<int32_t, DrawTag>;
using DrawCountVec = hn::Vec<DrawCounts>;
constexpr size_t kDrawWidth = hn::MaxLanes(DrawTag());
constexpr size_t kDrawVectors = kGroup / kDrawWidth;

HWY_INLINE CountVec DrawnOf(const uint8_t* drawn, uint32_t image, size_t vector) {
  const hn::Rebind<uint8_t, CountTag> d;
  return hn::PromoteTo(CountTag(), hn::LoadU(d, drawn + image * kDrawLanes + vector * kCountWidth));
}

void CountObjects(std::span<const ImageObjects> objects, const uint8_t* drawn, int32_t* counts) {
  const CountTag d;
  CountVec sums[kCountVectors];
  for (CountVec& sum : sums) sum = hn::Zero(d);
  for (const ImageObjects& own : objects) {
    const CountVec count = hn::Set(d, own.count);
    for (size_t v = 0; v < kCountVectors; ++v) {
      sums[v] = hn::Add(sums[v], hn::Mul(count, DrawnOf(drawn, own.image, v)));
    }
  }
  for (size_t v = 0; v < kCountVectors; ++v) hn::StoreU(sums[v], d, counts + v * kCountWidth);
}

// Fills the weights and how many detections there are up to the special ones.
void CountSpecial(const RankedDetections& ranked, const uint8_t* drawn, DrawnScratch& scratch) {
  const CountTag d;
  const size_t rows = ranked.special.size();
  CountVec all[kCountVectors];
  for (CountVec& one : all) one = hn::Zero(d);
  size_t at = 0;
  for (size_t row = 0; row < rows; ++row) {
    for (; at <= ranked.special[row]; ++at) {
      const uint32_t image = ranked.images[at];
      for (size_t v = 0; v < kCountVectors; ++v) all[v] = hn::Add(all[v], DrawnOf(drawn, image, v));
    }
    const uint32_t image = ranked.images[at - 1];
    for (size_t v = 0; v < kCountVectors; ++v) {
      const size_t lane = v * kCountWidth;
      const size_t place = (lane / kGroup * rows + row) * kGroup + lane % kGroup;
      hn::StoreU(DrawnOf(drawn, image, v), d, scratch.weights.data() + place);
      hn::StoreU(all[v], d, scratch.up_to.data() + place);
    }
  }
}

/// What is known of a group of resamples. Sums go from the last detection to the first, so that the
/// highest precision from a detection on is known there.
class GroupPrecision {
 public:
  HWY_INLINE GroupPrecision(const RankedDetections& ranked, const DrawnRecalls& recalls,
                            DrawnScratch& scratch, size_t group)
      : rows_(ranked.special.size()),
        lane_(group * kGroup),
        recalls_(recalls),
        weights_(scratch.weights.data() + lane_ * rows_),
        up_to_(scratch.up_to.data() + lane_ * rows_),
        inverse_(scratch.inverse.data()) {
    double late[kGroup];
    for (size_t i = 0; i < kGroup; ++i) {
      late[i] = recalls.LateUpTo(std::numeric_limits<double>::infinity(), lane_ + i);
    }
    for (size_t v = 0; v < kDrawVectors; ++v) {
      sums_[v] = hn::Zero(DrawTag());
      late_[v] = hn::LoadU(DrawTag(), late + v * kDrawWidth);
      rights_[v] = hn::Zero(DrawCounts());
    }
  }

  // Where nothing was drawn yet, 1 does as well: nothing is right there.
  HWY_INLINE void Invert(const std::vector<uint32_t>& ignored) {
    const DrawTag d;
    const DrawVec one = hn::Set(d, 1);
    DrawCountVec skipped[kDrawVectors];
    for (DrawCountVec& own : skipped) own = hn::Zero(DrawCounts());
    size_t next = 0;
    for (size_t row = 0; row < rows_; ++row) {
      const bool skip = next < ignored.size() && ignored[next] == row;
      if (skip) ++next;
      for (size_t v = 0; v < kDrawVectors; ++v) {
        const size_t at = row * kGroup + v * kDrawWidth;
        if (skip) skipped[v] = hn::Add(skipped[v], hn::LoadU(DrawCounts(), weights_ + at));
        const DrawVec count =
            hn::PromoteTo(d, hn::Sub(hn::LoadU(DrawCounts(), up_to_ + at), skipped[v]));
        hn::StoreU(hn::Div(one, hn::Max(count, one)), d, inverse_ + at);
      }
    }
  }

  HWY_INLINE void AddLimit(const RankedMarks& marks) {
    for (size_t v = 0; v < kDrawVectors; ++v) {
      const size_t lane = v * kDrawWidth;
      for (const uint32_t row : marks.gained) rights_[v] = hn::Add(rights_[v], WeightOf(row, lane));
      for (const uint32_t row : marks.lost) rights_[v] = hn::Sub(rights_[v], WeightOf(row, lane));
      AddRight(marks.right, v, lane);
    }
  }

  HWY_INLINE void Store(double* sums) const {
    for (size_t v = 0; v < kDrawVectors; ++v) {
      hn::StoreU(sums_[v], DrawTag(), sums + lane_ + v * kDrawWidth);
    }
  }

 private:
  HWY_INLINE DrawCountVec WeightOf(uint32_t row, size_t lane) const {
    return hn::LoadU(DrawCounts(), weights_ + row * kGroup + lane);
  }

  HWY_INLINE void AddRight(const std::vector<uint32_t>& right, size_t v, size_t lane) {
    const DrawTag d;
    const DrawVec percent = hn::LoadU(d, recalls_.percent.data() + lane_ + lane);
    DrawCountVec count = rights_[v];
    DrawVec found = hn::PromoteTo(d, count), best = hn::Zero(d), sum = sums_[v];
    Recall reached{hn::Floor(hn::Mul(found, percent)), late_[v]};
    if (!hn::AllFalse(d, hn::Le(found, reached.late))) reached = Settle(lane, found, reached.level);
    for (size_t i = right.size(); i-- > 0;) {
      best = hn::Max(best, hn::Mul(found, hn::LoadU(d, inverse_ + right[i] * kGroup + lane)));
      count = hn::Sub(count, WeightOf(right[i], lane));
      found = hn::PromoteTo(d, count);
      Recall before{hn::Floor(hn::Mul(found, percent)), reached.late};
      if (!hn::AllFalse(d, hn::Le(found, before.late))) before = Settle(lane, found, before.level);
      sum = hn::Add(sum, hn::Mul(best, hn::Sub(reached.level, before.level)));
      reached = before;
    }
    sums_[v] = hn::Add(sum, best);  // the recall of 0
  }

  /// The highest recall that is reached, and the largest late number up to it.
  struct Recall {
    DrawVec level, late;
  };

  // Rarely called. By value, so that what callers have stays in registers.
  HWY_NOINLINE Recall Settle(size_t lane, DrawVec found, DrawVec level) const {
    const DrawTag d;
    double of_found[kDrawWidth], of_level[kDrawWidth], of_late[kDrawWidth];
    hn::StoreU(found, d, of_found);
    hn::StoreU(level, d, of_level);
    for (size_t i = 0; i < kDrawWidth; ++i) {
      of_late[i] = recalls_.LateUpTo(of_found[i], lane_ + lane + i);
      if (of_late[i] == of_found[i]) of_level[i] -= 1;
    }
    return {hn::LoadU(d, of_level), hn::LoadU(d, of_late)};
  }

  size_t rows_, lane_;
  const DrawnRecalls& recalls_;
  const int32_t* weights_;
  const int32_t* up_to_;
  double* inverse_;
  DrawVec sums_[kDrawVectors];
  DrawVec late_[kDrawVectors];         // the largest late numbers
  DrawCountVec rights_[kDrawVectors];  // of the present threshold
};

void SumPrecisions(const RankedDetections& ranked, const uint8_t* drawn,
                   const DrawnRecalls& recalls, DrawnScratch& scratch, double* sums) {
  CountSpecial(ranked, drawn, scratch);
  for (size_t group = 0; group < kGroups; ++group) {
    GroupPrecision precision(ranked, recalls, scratch, group);
    const std::vector<uint32_t>* ignored = nullptr;  // by the inverses that are there
    for (const RankedMarks& marks : ranked.limits) {
      if (ignored == nullptr || *ignored != marks.ignored) precision.Invert(marks.ignored);
      ignored = &marks.ignored;
      precision.AddLimit(marks);
    }
    precision.Store(sums);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace vernier
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace vernier {

HWY_EXPORT(CountObjects);
HWY_EXPORT(SumPrecisions);

void RankedDetections::NoteChanges() {
  const std::vector<uint32_t> none;
  const std::vector<uint32_t>* before = &none;
  for (RankedMarks& marks : limits) {
    marks.gained.clear();
    marks.lost.clear();
    std::ranges::set_difference(marks.right, *before, std::back_inserter(marks.gained));
    std::ranges::set_difference(*before, marks.right, std::back_inserter(marks.lost));
    before = &marks.right;
  }
}

void CountDrawnObjects(std::span<const ImageObjects> objects, const uint8_t* drawn,
                       std::span<int32_t, kDrawLanes> counts) {
  HWY_DYNAMIC_DISPATCH(CountObjects)(objects, drawn, counts.data());
}

void SumDrawnPrecisions(const RankedDetections& ranked, const uint8_t* drawn,
                        const DrawnRecalls& recalls, DrawnScratch& scratch,
                        std::span<double, kDrawLanes> sums) {
  const size_t places = ranked.special.size() * kDrawLanes;
  scratch.weights.resize(places);
  scratch.up_to.resize(places);
  scratch.inverse.resize(places);
  HWY_DYNAMIC_DISPATCH(SumPrecisions)(ranked, drawn, recalls, scratch, sums.data());
}

}  // namespace vernier
#endif  // HWY_ONCE
