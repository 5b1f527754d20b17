#include "compare/outputs/same_bits.h"

#include <algorithm>
#include <cstring>

namespace vernier {

bool SameBits(const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype() || a.dims() != b.dims()) return false;
  const size_t size = a.bytes().size();
  return size == b.bytes().size() &&
         (size == 0 || std::memcmp(a.bytes().data(), b.bytes().data(), size) == 0);
}

bool SameBits(const TensorMap& a, const TensorMap& b) {
  return std::ranges::equal(a, b, [](const NamedTensor& x, const NamedTensor& y) {
    return x.name == y.name && SameBits(x.tensor, y.tensor);
  });
}

}  // namespace vernier
