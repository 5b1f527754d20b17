// threshold and sign of 64-bit integers, which doubles do not hold.
#include <algorithm>
#include <limits>

#include "decide/kinds/class_rows.h"
#include "decide/kinds/kinds.h"

namespace vernier {
namespace {

/// The values of `threshold` that are >= limit, of `sign` those < 0.
struct IntegerBorder {
  WideFloat limit = 0;
  bool is_sign = false;

  template <typename T>
  bool IsIn(T value) const {
    const auto wide = static_cast<WideFloat>(value);
    return is_sign ? wide < 0 : wide >= limit;
  }
  template <typename T>
  double Margin(T value) const {
    const auto wide = static_cast<WideFloat>(value);
    return static_cast<double>(std::max(wide, limit) - std::min(wide, limit));
  }
};

/// One side of a sample.
struct IntegerSide {
  std::vector<size_t> in;
  double least_margin = std::numeric_limits<double>::infinity();
};

template <typename T>
IntegerSide ReadIntegerSide(const T* values, size_t count, const IntegerBorder& border) {
  IntegerSide side;
  for (size_t i = 0; i < count; ++i) {
    if (border.IsIn(values[i])) side.in.push_back(i);
    side.least_margin = std::min(side.least_margin, border.Margin(values[i]));
  }
  return side;
}

// As DecideBorder has it: of a single value its side, else the first 16 of those that are in.
std::string IntegerSideText(const IntegerSide& side, size_t count, const IntegerBorder& border) {
  if (count == 1 && border.is_sign) return side.in.empty() ? "+" : "-";
  if (count == 1) return side.in.empty() ? "no" : "yes";
  const size_t shown = std::min(side.in.size(), kMostListedSides);
  const std::span<const size_t> listed(side.in.data(), shown);
  return NumbersText(listed, side.in.size());
}

template <typename T>
void DecideIntegers(std::span<const T> a, std::span<const T> b, const IntegerBorder& border,
                    const DecideInput& input, OtherSamples& others, int64_t index,
                    DecisionSample& sample) {
  const IntegerSide first = ReadIntegerSide(a.data(), a.size(), border);
  const IntegerSide second = ReadIntegerSide(b.data(), b.size(), border);
  sample.near_tie = input.near_tie.known();
  sample.first = IntegerSideText(first, a.size(), border);
  sample.second = IntegerSideText(second, b.size(), border);
  sample.first_margin = first.least_margin;
  sample.second_margin = second.least_margin;
  const size_t above = border.is_sign ? 0 : 2 * a.size();
  sample.all_above = first.in.size() + second.in.size() == above;
  if (first.in == second.in) return;
  size_t flips = 0;
  double largest = 0;
  DifferenceNoise noise;
  sample.first_margin = sample.second_margin = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    if (border.IsIn(a[i]) == border.IsIn(b[i])) {
      noise.Add(a[i], b[i]);
      continue;
    }
    ++flips;
    sample.first_margin = std::max(sample.first_margin, border.Margin(a[i]));
    sample.second_margin = std::max(sample.second_margin, border.Margin(b[i]));
    Raise(largest, a[i]);
    Raise(largest, b[i]);
  }
  sample.similarity = 1 - static_cast<double>(flips) / static_cast<double>(a.size());
  if (a.size() > 1) {
    sample.detail = std::to_string(flips) + " of " + std::to_string(a.size()) + " values";
  }
  input.near_tie.Judge(sample, largest, [&] {
    const double scale = noise.empty() ? others.Without(index) : noise.scale();
    return NoiseLimit(scale, NoisyValues::kOne, static_cast<int64_t>(flips));
  });
}

}  // namespace

bool HasWideIntegers(const DecideInput& input) {
  const auto is_wide = [](DType dtype) {
    return dtype == DType::kInt64 || dtype == DType::kUint64;
  };
  const DType first = input.reference.dtype();
  return is_wide(first) && first == input.candidate.dtype();
}

std::vector<DecisionSample> DecideIntegerBorder(const DecideInput& input) {
  const SampleShape shape = SamplesOf(input.reference.dims());
  const bool is_sign = input.plan.kind == DecisionKind::kSign;
  const IntegerBorder border{is_sign ? 0 : static_cast<WideFloat>(input.plan.limit), is_sign};
  std::vector<DecisionSample> samples;
  if (shape.size == 0) return samples;
  samples.resize(static_cast<size_t>(shape.samples));
  const auto decide = [&](auto zero) {
    using T = decltype(zero);
    PartReader<T> a(input.reference, shape.size);
    PartReader<T> b(input.candidate, shape.size);
    OtherSamples others(input.reference, input.candidate, shape.size);
    const auto size = static_cast<size_t>(shape.size);
    for (int64_t i = 0; i < shape.samples; ++i) {
      DecideIntegers<T>({a.Part(i), size}, {b.Part(i), size}, border, input, others, i,
                        samples[static_cast<size_t>(i)]);
    }
  };
  input.reference.dtype() == DType::kUint64 ? decide(uint64_t{}) : decide(int64_t{});
  return samples;
}

}  // namespace vernier
