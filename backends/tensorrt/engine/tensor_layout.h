// How TensorRT lays out tensors that are not linear, by the documentation of TensorFormat: channels
// last, or in blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace vernier::trt {

struct TensorLayout {
  std::string_view name;  ///< "CHW32": TensorFormat's enumerator without its k
  int32_t block;  ///< channels that lie together, filled up with zeros; 1: as many as there are
  bool channels_last;  ///< all blocks of a place lie together
  int spatial;         ///< dimensions behind the channels
};

/// Elements of a shape.
inline size_t CountOf(std::span<const int64_t> shape) {
  size_t count = 1;
  for (const int64_t extent : shape) count *= static_cast<size_t>(extent);
  return count;
}

/// The layout of a format, by the value of its enumerator; nothing for the linear format and for
/// those of DLA, which only DLA reads.
std::optional<TensorLayout> LayoutOf(int32_t format);

/// Elements that such a tensor has in memory, those that fill blocks up included. Nothing when the
/// shape has too few dimensions.
std::optional<size_t> LaidOutCount(const TensorLayout& layout, std::span<const int64_t> shape);

/// Between the linear order and the layout; `size` is that of an element in bytes, `to` has the
/// elements of LaidOutCount (and is zeroed where there is none), or of the shape.
void LayOut(const TensorLayout& layout, std::span<const int64_t> shape, size_t size,
            const std::byte* from, std::byte* to);
void Linearise(const TensorLayout& layout, std::span<const int64_t> shape, size_t size,
               const std::byte* from, std::byte* to);

}  // namespace vernier::trt
