#include "kernels/measures/block_kernels.h"

#include <algorithm>
#include <cstring>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/measures/block_kernels.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h.
#include "hwy/highway.h"
#include "kernels/measures/block_kernels-inl.h"
#include "kernels/measures/storage_kernels-inl.h"

#if HWY_ONCE
namespace vernier {

HWY_EXPORT(FloatTable);
HWY_EXPORT(DoubleTable);
HWY_EXPORT(StorageTable);

template <>
const BlockKernels<float>& VectorKernels() {
  return HWY_DYNAMIC_DISPATCH(FloatTable)();
}
template <>
const BlockKernels<double>& VectorKernels() {
  return HWY_DYNAMIC_DISPATCH(DoubleTable)();
}
const StorageKernels& VectorStorageKernels() { return HWY_DYNAMIC_DISPATCH(StorageTable)(); }

}  // namespace vernier
#endif  // HWY_ONCE
