#include "kernels/classes/class_blocks.h"

#include <algorithm>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/classes/class_blocks.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h.
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace vernier {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using ClassTag = hn::ScalableTag<float>;
using PlaceTag = hn::RebindToSigned<ClassTag>;
using Values = hn::Vec<ClassTag>;
using Numbers = hn::Vec<PlaceTag>;

constexpr float kEndless = std::numeric_limits<float>::infinity();

// Few enough that processors follow all of them.
constexpr size_t kClassesAtOnce = 8;

// A page of each holds 1,024 positions, so processors hardly begin to fetch ahead: this is how far
// ahead they are asked to.
constexpr size_t kPositionsAhead = 512;

// To the second cache: positions of neighbouring classes mostly share a set of the first one.
HWY_INLINE void Fetch(const float* at) {
  constexpr int kToRead = 0, kSecondCache = 2;
  __builtin_prefetch(at, kToRead, kSecondCache);
}

HWY_INLINE Numbers OnesOf(hn::Mask<ClassTag> mask) {
  return hn::BitCast(PlaceTag(), hn::VecFromMask(ClassTag(), mask));
}

/// One vector's positions.
struct ClassLanes {
  Values best, second;
  Numbers place;

  HWY_INLINE void Load(const ClassBlock& block, size_t i) {
    best = hn::LoadU(ClassTag(), block.best + i);
    second = hn::LoadU(ClassTag(), block.second + i);
    place = hn::LoadU(PlaceTag(), block.place + i);
  }
  HWY_INLINE void Store(const ClassBlock& block, size_t i) const {
    hn::StoreU(best, ClassTag(), block.best + i);
    hn::StoreU(second, ClassTag(), block.second + i);
    hn::StoreU(place, PlaceTag(), block.place + i);
  }
  HWY_INLINE void Begin(const float* from) {
    best = hn::LoadU(ClassTag(), from);
    second = hn::Set(ClassTag(), -kEndless);
    place = hn::Zero(PlaceTag());
  }
  HWY_INLINE void Add(Values value, Numbers own) {
    const auto is_larger = hn::Gt(value, best);
    const Values lower = hn::IfThenElse(is_larger, best, value);
    best = hn::IfThenElse(is_larger, value, best);
    place = hn::IfThenElse(hn::RebindMask(PlaceTag(), is_larger), own, place);
    second = hn::IfThenElse(hn::Gt(lower, second), lower, second);
  }
};

void BeginOne(float value, const ClassBlock& block, size_t i) {
  block.best[i] = value;
  block.second[i] = -kEndless;
  block.place[i] = 0;
}

void AddOne(float value, int32_t own, const ClassBlock& block, size_t i) {
  const bool is_larger = value > block.best[i];
  const float lower = is_larger ? block.best[i] : value;
  if (is_larger) block.best[i] = value, block.place[i] = own;
  if (lower > block.second[i]) block.second[i] = lower;
}

bool Classes(const float* from, size_t classes, size_t stride, size_t count,
             const ClassBlock& block) {
  const size_t lanes = hn::Lanes(ClassTag());
  auto nan = hn::IsNaN(hn::Zero(ClassTag()));
  bool rest_has_nan = false;
  for (size_t first = 0; first < classes; first += kClassesAtOnce) {
    const size_t end = std::min(first + kClassesAtOnce, classes);
    size_t i = 0;
    for (; i + 2 * lanes <= count; i += 2 * lanes) {
      ClassLanes x, y;
      size_t c = first;
      if (first == 0) {
        x.Begin(from + i);
        y.Begin(from + i + lanes);
        nan = hn::Or(nan, hn::Or(hn::IsNaN(x.best), hn::IsNaN(y.best)));
        ++c;
      } else {
        x.Load(block, i);
        y.Load(block, i + lanes);
      }
      for (; c < end; ++c) {
        const Numbers own = hn::Set(PlaceTag(), static_cast<int32_t>(c));
        const float* const at = from + c * stride + i;
        Fetch(at + kPositionsAhead);
        Fetch(at + kPositionsAhead + lanes);
        const Values of_x = hn::LoadU(ClassTag(), at);
        const Values of_y = hn::LoadU(ClassTag(), at + lanes);
        nan = hn::Or(nan, hn::Or(hn::IsNaN(of_x), hn::IsNaN(of_y)));
        x.Add(of_x, own);
        y.Add(of_y, own);
      }
      x.Store(block, i);
      y.Store(block, i + lanes);
    }
    for (; i < count; ++i) {
      if (first == 0) BeginOne(from[i], block, i);
      for (size_t c = first; c < end; ++c) {
        const float value = from[c * stride + i];
        rest_has_nan |= value != value;
        if (c > 0) AddOne(value, static_cast<int32_t>(c), block, i);
      }
    }
  }
  return rest_has_nan || !hn::AllFalse(ClassTag(), nan);
}

// Where the first `value` is, which is there.
size_t PlaceOfFirst(const float* row, size_t size, float value) {
  const size_t lanes = hn::Lanes(ClassTag());
  const Values wanted = hn::Set(ClassTag(), value);
  size_t i = 0;
  for (; i + lanes <= size; i += lanes) {
    const auto found = hn::Eq(hn::LoadU(ClassTag(), row + i), wanted);
    const intptr_t lane = hn::FindFirstTrue(ClassTag(), found);
    if (lane >= 0) return i + static_cast<size_t>(lane);
  }
  while (i < size && row[i] != value) ++i;
  return i;
}

/// Of a part of a row.
struct TopLanes {
  Values best, second;
  Numbers has_nan;

  // Initializers would be compiled for another target.
  HWY_INLINE TopLanes() {
    best = second = hn::Set(ClassTag(), -kEndless);
    has_nan = hn::Zero(PlaceTag());
  }
  HWY_INLINE void Add(const float* from) {
    const Values value = hn::LoadU(ClassTag(), from);
    const auto is_larger = hn::Gt(value, best);
    const Values lower = hn::IfThenElse(is_larger, best, value);
    best = hn::IfThenElse(is_larger, value, best);
    second = hn::IfThenElse(hn::Gt(lower, second), lower, second);
    has_nan = hn::Or(has_nan, OnesOf(hn::IsNaN(value)));
  }
};

// As if all that `y` has seen had come to `x`.
HWY_INLINE void Merge(const TopLanes& y, TopLanes& x) {
  const Values lower = hn::IfThenElse(hn::Gt(y.best, x.best), x.best, y.best);
  x.best = hn::IfThenElse(hn::Gt(y.best, x.best), y.best, x.best);
  x.second = hn::IfThenElse(hn::Gt(y.second, x.second), y.second, x.second);
  x.second = hn::IfThenElse(hn::Gt(lower, x.second), lower, x.second);
  x.has_nan = hn::Or(x.has_nan, y.has_nan);
}

HWY_INLINE LargestTwo OfLanes(const TopLanes& x) {
  const Values best = hn::MaxOfLanes(ClassTag(), x.best);
  const auto has_best = hn::Eq(x.best, best);
  LargestTwo top{hn::GetLane(best), 0, 0, false};
  top.second =
      hn::CountTrue(ClassTag(), has_best) > 1
          ? top.best
          : hn::GetLane(hn::MaxOfLanes(ClassTag(), hn::IfThenElse(has_best, x.second, x.best)));
  top.has_nan = !hn::AllTrue(PlaceTag(), hn::Eq(x.has_nan, hn::Zero(PlaceTag())));
  return top;
}

LargestTwo Two(const float* row, size_t size) {
  constexpr size_t kParts = 4;
  const size_t lanes = hn::Lanes(ClassTag());
  LargestTwo top{-kEndless, -kEndless, 0, false};
  size_t i = 0;
  if (size >= lanes) {
    TopLanes parts[kParts];
    for (; i + kParts * lanes <= size; i += kParts * lanes) {
      for (size_t part = 0; part < kParts; ++part) parts[part].Add(row + i + part * lanes);
    }
    if (i > 0) {
      for (size_t part = 1; part < kParts; ++part) Merge(parts[part], parts[0]);
    }
    for (; i + lanes <= size; i += lanes) parts[0].Add(row + i);
    top = OfLanes(parts[0]);
  }
  for (; i < size; ++i) {
    const float value = row[i];
    const float lower = value > top.best ? top.best : value;
    top.best = value > top.best ? value : top.best;
    top.second = lower > top.second ? lower : top.second;
    top.has_nan |= value != value;
  }
  if (!top.has_nan) top.place = PlaceOfFirst(row, size, top.best);
  return top;
}

struct SideLanes {
  Values above, below;
  Numbers not_below;  // negative

  HWY_INLINE SideLanes() {
    above = hn::Set(ClassTag(), kEndless);
    below = hn::Set(ClassTag(), -kEndless);
    not_below = hn::Zero(PlaceTag());
  }
  HWY_INLINE hn::Mask<ClassTag> Add(Values values, Values limit) {
    const auto in = hn::Ge(values, limit);
    const Values high = hn::IfThenElse(in, values, hn::Set(ClassTag(), kEndless));
    const Values low = hn::IfThenElse(in, hn::Set(ClassTag(), -kEndless), values);
    above = hn::IfThenElse(hn::Lt(high, above), high, above);
    below = hn::IfThenElse(hn::Gt(low, below), low, below);
    not_below = hn::Add(not_below, OnesOf(in));
    return in;
  }

  HWY_INLINE BorderSide Total() const {
    BorderSide side;
    side.above = hn::GetLane(hn::MinOfLanes(ClassTag(), above));
    side.below = hn::GetLane(hn::MaxOfLanes(ClassTag(), below));
    side.not_below = static_cast<size_t>(-hn::GetLane(hn::SumOfLanes(PlaceTag(), not_below)));
    return side;
  }
};

bool AddOneSide(float value, float limit, BorderSide& side) {
  if (!(value >= limit)) {
    if (value > side.below) side.below = value;
    return false;
  }
  if (value < side.above) side.above = value;
  ++side.not_below;
  return true;
}

// Of values whose number an int32 holds.
BorderSides SidesOfPart(const float* a, const float* b, size_t count, float limit_a,
                        float limit_b) {
  const size_t lanes = hn::Lanes(ClassTag());
  const Values least_a = hn::Set(ClassTag(), limit_a), least_b = hn::Set(ClassTag(), limit_b);
  SideLanes of_a, of_b;
  const Numbers zero = hn::Zero(PlaceTag());
  Numbers changed = zero, nan = zero;
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const Values x = hn::LoadU(ClassTag(), a + i);
    const Values y = hn::LoadU(ClassTag(), b + i);
    nan = hn::Or(nan, hn::Or(OnesOf(hn::IsNaN(x)), OnesOf(hn::IsNaN(y))));
    const Numbers in_a = OnesOf(of_a.Add(x, least_a));
    changed = hn::Or(changed, hn::Xor(in_a, OnesOf(of_b.Add(y, least_b))));
  }
  BorderSides sides{of_a.Total(), of_b.Total(), false, false};
  sides.differs = !hn::AllTrue(PlaceTag(), hn::Eq(changed, zero));
  sides.has_nan = !hn::AllTrue(PlaceTag(), hn::Eq(nan, zero));
  for (; i < count; ++i) {
    const bool in_a = AddOneSide(a[i], limit_a, sides.a);
    sides.differs |= in_a != AddOneSide(b[i], limit_b, sides.b);
    sides.has_nan |= a[i] != a[i] || b[i] != b[i];
  }
  return sides;
}

void AddSide(const BorderSide& part, BorderSide& whole) {
  whole.above = std::min(whole.above, part.above);
  whole.below = std::max(whole.below, part.below);
  whole.not_below += part.not_below;
}

BorderSides Sides(const float* a, const float* b, size_t count, float limit_a, float limit_b) {
  constexpr size_t kPart = size_t{1} << 30U;
  BorderSides sides = SidesOfPart(a, b, std::min(count, kPart), limit_a, limit_b);
  for (size_t done = kPart; done < count; done += kPart) {
    const BorderSides part =
        SidesOfPart(a + done, b + done, std::min(count - done, kPart), limit_a, limit_b);
    AddSide(part.a, sides.a);
    AddSide(part.b, sides.b);
    sides.differs |= part.differs;
    sides.has_nan |= part.has_nan;
  }
  return sides;
}

}  // namespace HWY_NAMESPACE
}  // namespace vernier
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace vernier {

HWY_EXPORT(Classes);
HWY_EXPORT(Two);
HWY_EXPORT(Sides);

bool FindClasses(const float* from, size_t classes, size_t stride, size_t count,
                 const ClassBlock& block) {
  return HWY_DYNAMIC_DISPATCH(Classes)(from, classes, stride, count, block);
}

LargestTwo FindLargestTwo(const float* row, size_t size) {
  return HWY_DYNAMIC_DISPATCH(Two)(row, size);
}

BorderSides FindSides(const float* a, const float* b, size_t count, float limit_a, float limit_b) {
  return HWY_DYNAMIC_DISPATCH(Sides)(a, b, count, limit_a, limit_b);
}

}  // namespace vernier
#endif  // HWY_ONCE
