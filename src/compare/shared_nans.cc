#include "compare/shared_nans.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <utility>

#include "compare/same_bits.h"
#include "kernels/element_blocks.h"
#include "kernels/tensor_elements.h"

namespace vernier {
namespace {

bool HoldsBytes(const Tensor& tensor) {
  return Kind(tensor.dtype()) == DTypeKind::kFloat && BitsOf(tensor.dtype()) >= 8;
}

// A copy in which places can be cleared.
class Cleared {
 public:
  explicit Cleared(const Tensor& tensor)
      : item_(static_cast<size_t>(BitsOf(tensor.dtype())) / 8),
        copy_(TensorBuffer::Allocate(tensor.dtype(), tensor.dims())) {
    if (copy_.ok()) std::ranges::copy(tensor.bytes(), copy_->bytes().begin());
  }

  bool ok() const { return copy_.ok(); }
  void Clear(size_t place) { std::memset(copy_->bytes().data() + place * item_, 0, item_); }
  Tensor Take() { return std::move(*copy_).Freeze(); }

 private:
  size_t item_;
  Result<TensorBuffer> copy_;
};

}  // namespace

std::optional<TensorPair> WithoutSharedNans(const Tensor& a, const Tensor& b) {
  if (!HoldsBytes(a) || !HoldsBytes(b) || a.dims() != b.dims()) return {};
  std::array<double, kBlockSize> a_scratch, b_scratch;
  std::optional<Cleared> left, right;
  const auto count = static_cast<size_t>(a.element_count());
  for (size_t begin = 0; begin < count; begin += kBlockSize) {
    const size_t n = std::min(kBlockSize, count - begin);
    const double* of_a = LoadBlock(Elements(a), static_cast<int64_t>(begin), n, a_scratch.data());
    const double* of_b = LoadBlock(Elements(b), static_cast<int64_t>(begin), n, b_scratch.data());
    for (size_t i = 0; i < n; ++i) {
      if (!std::isnan(of_a[i]) || !std::isnan(of_b[i])) continue;
      if (!left) {
        left.emplace(a);
        right.emplace(b);
        if (!left->ok() || !right->ok()) return {};
      }
      left->Clear(begin + i);
      right->Clear(begin + i);
    }
  }
  if (!left) return {};
  return TensorPair{left->Take(), right->Take()};
}

bool HaveSameValues(const Tensor& a, const Tensor& b) {
  if (SameBits(a, b)) return true;
  const std::optional<TensorPair> others = WithoutSharedNans(a, b);
  return others && SameBits(others->a, others->b);
}

}  // namespace vernier
