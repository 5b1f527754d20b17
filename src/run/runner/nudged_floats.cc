#include "run/runner/nudged_floats.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>

#include "kernels/elements/float_formats.h"
#include "model/rounding/unit_roundoff.h"

namespace vernier {
namespace {

// Places of different draws are far apart.
constexpr uint64_t kDraw = uint64_t{1} << 48;

// A hash of the place: 64 random bits (SplitMix64's finaliser, Steele et al. 2014).
uint64_t RandomBitsOf(uint64_t place) {
  uint64_t bits = (place + 1) * 0x9E3779B97F4A7C15u;
  bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9u;
  bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EBu;
  return bits ^ (bits >> 31);
}

// Whether a value is on one side of each multiple of 1/2, and on none, before and after.
bool KeepsStep(double before, double after) {
  const auto half = [](double value) { return std::floor(2 * value); };
  return half(before) != 2 * before && half(after) != 2 * after && half(before) == half(after);
}

// How codes of a type are moved. `largest` is the largest finite code, without its sign.
template <typename Code>
struct CodeRules {
  Code largest;
  double (*value)(Code);
};

// Neighbours of IEEE 754 numbers have neighbouring codes, and so have the steps of a shorter type:
// `by` codes are one of them. The same code where the value stays.
template <typename Code>
Code MovedCode(Code code, const CodeRules<Code>& rules, Code by, uint64_t random, bool steps) {
  constexpr Code kSign = static_cast<Code>(Code{1} << (8 * sizeof(Code) - 1));
  const auto magnitude = static_cast<Code>(code & ~kSign);
  if (magnitude == 0 || magnitude > rules.largest) return code;
  const bool up = magnitude <= by || (magnitude <= rules.largest - by && (random & 1) != 0);
  const auto moved = static_cast<Code>(up ? code + by : code - by);
  if (steps && !KeepsStep(rules.value(code), rules.value(moved))) return code;
  return moved;
}

template <typename Code>
void NudgeCodes(std::span<Code> codes, const CodeRules<Code>& rules, const Nudge& nudge,
                double step, bool steps) {
  const auto by = static_cast<Code>(step);
  for (size_t i = 0; i < codes.size(); ++i) {
    codes[i] = MovedCode(codes[i], rules, by, RandomBitsOf(i + nudge.draw * kDraw), steps);
  }
}

constexpr CodeRules<uint16_t> kHalf{0x7BFF,
                                    [](uint16_t code) -> double { return HalfToFloat(code); }};
constexpr CodeRules<uint16_t> kBrain{0x7F7F,
                                     [](uint16_t code) -> double { return BFloat16ToFloat(code); }};
constexpr CodeRules<uint32_t> kSingle{
    0x7F7FFFFF, [](uint32_t code) -> double { return std::bit_cast<float>(code); }};
constexpr CodeRules<uint64_t> kDouble{0x7FEFFFFFFFFFFFFF,
                                      [](uint64_t code) { return std::bit_cast<double>(code); }};

bool IsZero(const Tensor& tensor) {
  return std::ranges::all_of(tensor.bytes(), [](std::byte byte) { return byte == std::byte{0}; });
}

// Whether a nudge moves any element: whichever way it goes, some do.
bool IsMoved(const Tensor& tensor, InputSteps steps) {
  if (!CanNudge(tensor.dtype()) || steps == InputSteps::kAlone || IsZero(tensor)) return false;
  if (steps == InputSteps::kNone) return true;
  const Result<Tensor> nudged = NudgeFloats(tensor, {}, steps);
  return nudged.ok() && !std::ranges::equal(nudged->bytes(), tensor.bytes());
}

}  // namespace

bool CanNudge(DType dtype) {
  return dtype == DType::kFloat16 || dtype == DType::kBFloat16 || dtype == DType::kFloat32 ||
         dtype == DType::kFloat64;
}

Result<Tensor> NudgeFloats(const Tensor& tensor, Nudge nudge, InputSteps steps) {
  if (!CanNudge(tensor.dtype()) || steps == InputSteps::kAlone) return tensor;
  // Unit roundoffs are powers of two.
  const double step = std::max(1.0, nudge.roundoff / UnitRoundoff(tensor.dtype()));
  VERNIER_ASSIGN_OR_RETURN(TensorBuffer buffer,
                           TensorBuffer::Allocate(tensor.dtype(), tensor.dims()));
  if (!tensor.bytes().empty()) {
    std::memcpy(buffer.bytes().data(), tensor.bytes().data(), tensor.bytes().size());
  }
  const bool keeps = steps == InputSteps::kSome;
  switch (tensor.dtype()) {
    case DType::kFloat16:
      NudgeCodes(buffer.As<uint16_t>(), kHalf, nudge, step, keeps);
      break;
    case DType::kBFloat16:
      NudgeCodes(buffer.As<uint16_t>(), kBrain, nudge, step, keeps);
      break;
    case DType::kFloat32:
      NudgeCodes(buffer.As<uint32_t>(), kSingle, nudge, step, keeps);
      break;
    default:
      NudgeCodes(buffer.As<uint64_t>(), kDouble, nudge, step, keeps);
  }
  return std::move(buffer).Freeze();
}

Result<TensorMap> NudgedFeed(TensorMap feed, std::optional<Nudge> nudge,
                             const SteppedInputs& steps) {
  if (!nudge) return feed;
  for (NamedTensor& input : feed) {
    VERNIER_ASSIGN_OR_RETURN(input.tensor,
                             NudgeFloats(input.tensor, *nudge, StepsOf(steps, input.name)));
  }
  return feed;
}

double CoarsestRoundoff(const TensorMap& tensors, const SteppedInputs& steps) {
  double roundoff = 0;
  for (const NamedTensor& tensor : tensors) {
    if (IsMoved(tensor.tensor, StepsOf(steps, tensor.name))) {
      roundoff = std::max(roundoff, UnitRoundoff(tensor.tensor.dtype()));
    }
  }
  return roundoff;
}

}  // namespace vernier
