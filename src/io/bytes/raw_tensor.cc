#include "io/bytes/raw_tensor.h"

#include <memory>
#include <string>

namespace vernier {

Result<Tensor> ReadRawTensor(ByteSource& source, TensorPool* pool, DType dtype, const Dims& dims) {
  const uint64_t present = source.remaining();
  const auto read = [&source](std::span<std::byte> out) { return source.Read(out); };
  // Strings have no size that would follow from their shape.
  const bool fixed = dtype != DType::kString;
  const auto count = ElementCount(dims);
  const auto size = fixed && count ? ByteSize(dtype, static_cast<uint64_t>(*count)) : present;
  if (size != present) {
    return Malformed("a tensor of type " + std::string(DTypeName(dtype)) + " and shape " +
                     FormatDims(dims) + " has " + std::to_string(present) +
                     " bytes, which do not fit");
  }
  if (fixed) return MakeTensor(pool, dtype, dims, read);
  const Dims flat = {static_cast<int64_t>(present)};
  VERNIER_ASSIGN_OR_RETURN(const Tensor bytes, MakeTensor(pool, DType::kUint8, flat, read));
  return Tensor::Wrap(dtype, dims, bytes.bytes(), std::make_shared<Tensor>(bytes));
}

}  // namespace vernier
