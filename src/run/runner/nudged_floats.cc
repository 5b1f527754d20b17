#include "run/runner/nudged_floats.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>

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

// Neighbours of IEEE 754 numbers have neighbouring codes, and so have the steps of a shorter type:
// `step` codes are one of them. `largest` is the largest finite code, without its sign.
template <typename Code>
void NudgeCodes(std::span<Code> codes, Code largest, uint64_t draw, double step) {
  constexpr Code kSign = static_cast<Code>(Code{1} << (8 * sizeof(Code) - 1));
  const auto by = static_cast<Code>(step);
  for (size_t i = 0; i < codes.size(); ++i) {
    const auto magnitude = static_cast<Code>(codes[i] & ~kSign);
    if (magnitude == 0 || magnitude > largest) continue;
    const bool up =
        magnitude <= by || (magnitude <= largest - by && (RandomBitsOf(i + draw * kDraw) & 1) != 0);
    codes[i] = static_cast<Code>(up ? codes[i] + by : codes[i] - by);
  }
}

bool IsZero(const Tensor& tensor) {
  return std::ranges::all_of(tensor.bytes(), [](std::byte byte) { return byte == std::byte{0}; });
}

}  // namespace

bool CanNudge(DType dtype) {
  return dtype == DType::kFloat16 || dtype == DType::kBFloat16 || dtype == DType::kFloat32 ||
         dtype == DType::kFloat64;
}

Result<Tensor> NudgeFloats(const Tensor& tensor, Nudge nudge) {
  if (!CanNudge(tensor.dtype())) return tensor;
  // Unit roundoffs are powers of two.
  const double step = std::max(1.0, nudge.roundoff / UnitRoundoff(tensor.dtype()));
  VERNIER_ASSIGN_OR_RETURN(TensorBuffer buffer,
                           TensorBuffer::Allocate(tensor.dtype(), tensor.dims()));
  if (!tensor.bytes().empty()) {
    std::memcpy(buffer.bytes().data(), tensor.bytes().data(), tensor.bytes().size());
  }
  switch (tensor.dtype()) {
    case DType::kFloat16:
      NudgeCodes(buffer.As<uint16_t>(), uint16_t{0x7BFF}, nudge.draw, step);
      break;
    case DType::kBFloat16:
      NudgeCodes(buffer.As<uint16_t>(), uint16_t{0x7F7F}, nudge.draw, step);
      break;
    case DType::kFloat32:
      NudgeCodes(buffer.As<uint32_t>(), uint32_t{0x7F7FFFFF}, nudge.draw, step);
      break;
    default:
      NudgeCodes(buffer.As<uint64_t>(), uint64_t{0x7FEFFFFFFFFFFFFF}, nudge.draw, step);
  }
  return std::move(buffer).Freeze();
}

Result<TensorMap> NudgedFeed(TensorMap feed, std::optional<Nudge> nudge) {
  if (!nudge) return feed;
  for (NamedTensor& input : feed) {
    VERNIER_ASSIGN_OR_RETURN(input.tensor, NudgeFloats(input.tensor, *nudge));
  }
  return feed;
}

double CoarsestRoundoff(const TensorMap& tensors) {
  double roundoff = 0;
  for (const NamedTensor& tensor : tensors) {
    if (CanNudge(tensor.tensor.dtype()) && !IsZero(tensor.tensor)) {
      roundoff = std::max(roundoff, UnitRoundoff(tensor.tensor.dtype()));
    }
  }
  return roundoff;
}

}  // namespace vernier
