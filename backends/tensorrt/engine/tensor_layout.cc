#include "tensorrt/engine/tensor_layout.h"

#include <cstring>
#include <iterator>

namespace vernier::trt {
namespace {

// Indexed by TensorFormat, whose values have never changed. DHWC (12) came with TensorRT 9.
constexpr TensorLayout kLayouts[] = {
    {"LINEAR", 0, false, 0},     {"CHW2", 2, false, 2},     {"HWC8", 8, true, 2},
    {"CHW4", 4, false, 2},       {"CHW16", 16, false, 2},   {"CHW32", 32, false, 2},
    {"DHWC8", 8, true, 3},       {"CDHW32", 32, false, 3},  {"HWC", 1, true, 2},
    {"DLA_LINEAR", 0, false, 0}, {"DLA_HWC4", 0, false, 0}, {"HWC16", 16, true, 2},
    {"DHWC", 1, true, 3},
};

// A tensor as batch x channels x places.
struct Extents {
  size_t batch = 1;
  size_t channels = 1;
  size_t places = 1;
  size_t padded = 1;  ///< channels, filled up
};

std::optional<Extents> ExtentsOf(const TensorLayout& layout, std::span<const int64_t> shape) {
  const size_t behind = static_cast<size_t>(layout.spatial);
  if (shape.size() < behind + 1) return std::nullopt;
  Extents out;
  const size_t axis = shape.size() - behind - 1;
  for (size_t i = 0; i < shape.size(); ++i) {
    const auto extent = static_cast<size_t>(shape[i]);
    (i < axis ? out.batch : i == axis ? out.channels : out.places) *= extent;
  }
  const auto block = static_cast<size_t>(layout.block);
  out.padded = (out.channels + block - 1) / block * block;
  return out;
}

// Calls copy(linear, laid out) for the places of every element.
template <typename Copy>
void ForEachElement(const TensorLayout& layout, const Extents& e, Copy copy) {
  const size_t block = layout.channels_last ? e.padded : static_cast<size_t>(layout.block);
  size_t linear = 0;
  for (size_t n = 0; n < e.batch; ++n) {
    for (size_t c = 0; c < e.channels; ++c) {
      const size_t first = (n * e.padded + c / block * block) * e.places + c % block;
      for (size_t p = 0; p < e.places; ++p) copy(linear++, first + p * block);
    }
  }
}

}  // namespace

std::optional<TensorLayout> LayoutOf(int32_t format) {
  if (format < 0 || static_cast<size_t>(format) >= std::size(kLayouts)) return std::nullopt;
  const TensorLayout& layout = kLayouts[format];
  return layout.block > 0 ? std::optional(layout) : std::nullopt;
}

std::optional<size_t> LaidOutCount(const TensorLayout& layout, std::span<const int64_t> shape) {
  const std::optional<Extents> e = ExtentsOf(layout, shape);
  return e ? std::optional(e->batch * e->padded * e->places) : std::nullopt;
}

void LayOut(const TensorLayout& layout, std::span<const int64_t> shape, size_t size,
            const std::byte* from, std::byte* to) {
  const std::optional<Extents> e = ExtentsOf(layout, shape);
  if (!e) return;
  std::memset(to, 0, e->batch * e->padded * e->places * size);
  ForEachElement(layout, *e, [&](size_t linear, size_t place) {
    std::memcpy(to + place * size, from + linear * size, size);
  });
}

void Linearise(const TensorLayout& layout, std::span<const int64_t> shape, size_t size,
               const std::byte* from, std::byte* to) {
  const std::optional<Extents> e = ExtentsOf(layout, shape);
  if (!e) return;
  ForEachElement(layout, *e, [&](size_t linear, size_t place) {
    std::memcpy(to + linear * size, from + place * size, size);
  });
}

}  // namespace vernier::trt
