#include "torch_tensor.h"

#include <ATen/ATen.h>
#include <torch/version.h>

#include <array>

#define VERNIER_TORCH_AT_LEAST(major, minor) \
  (TORCH_VERSION_MAJOR > (major) ||          \
   (TORCH_VERSION_MAJOR == (major) && TORCH_VERSION_MINOR >= (minor)))

namespace vernier {
namespace {

constexpr std::pair<DType, at::ScalarType> kTypes[] = {
    {DType::kFloat32, at::ScalarType::Float},
    {DType::kUint8, at::ScalarType::Byte},
    {DType::kInt8, at::ScalarType::Char},
    {DType::kInt16, at::ScalarType::Short},
    {DType::kInt32, at::ScalarType::Int},
    {DType::kInt64, at::ScalarType::Long},
    {DType::kBool, at::ScalarType::Bool},
    {DType::kFloat16, at::ScalarType::Half},
    {DType::kFloat64, at::ScalarType::Double},
    {DType::kComplex64, at::ScalarType::ComplexFloat},
    {DType::kComplex128, at::ScalarType::ComplexDouble},
    {DType::kBFloat16, at::ScalarType::BFloat16},
#if VERNIER_TORCH_AT_LEAST(2, 1)
    {DType::kFloat8E4M3FN, at::ScalarType::Float8_e4m3fn},
    {DType::kFloat8E5M2, at::ScalarType::Float8_e5m2},
#endif
#if VERNIER_TORCH_AT_LEAST(2, 2)
    {DType::kFloat8E4M3FNUZ, at::ScalarType::Float8_e4m3fnuz},
    {DType::kFloat8E5M2FNUZ, at::ScalarType::Float8_e5m2fnuz},
#endif
#if VERNIER_TORCH_AT_LEAST(2, 3)
    {DType::kUint16, at::ScalarType::UInt16},
    {DType::kUint32, at::ScalarType::UInt32},
    {DType::kUint64, at::ScalarType::UInt64},
#endif
};

// What stands in the way of handing a tensor over; empty for an ordinary one.
std::string ReasonToSkip(const at::Tensor& tensor) {
  if (!tensor.defined()) return "no tensor";
  if (tensor.is_quantized()) return "a quantized tensor";
  if (tensor.layout() != at::kStrided) return "a tensor that is not dense";
  if (FromTorch(tensor.scalar_type())) return {};
  return std::string("a tensor of ") + at::toString(tensor.scalar_type());
}

}  // namespace

std::optional<at::ScalarType> ToTorch(DType dtype) {
  for (const auto& [ours, theirs] : kTypes) {
    if (ours == dtype) return theirs;
  }
  return std::nullopt;
}

std::optional<DType> FromTorch(at::ScalarType type) {
  for (const auto& [ours, theirs] : kTypes) {
    if (theirs == type) return ours;
  }
  return std::nullopt;
}

Result<at::Tensor> Borrow(const vn_tensor& tensor) {
  const DType dtype = FromAbi(tensor.dtype_code, tensor.dtype_bits).value_or(DType::kUndefined);
  const std::optional<at::ScalarType> type = ToTorch(dtype);
  if (!type) {
    return Malformed("input '" + std::string(sdk::View(tensor.name)) + "' is " +
                     std::string(DTypeName(dtype)) + ", which this PyTorch does not have");
  }
  return at::from_blob(tensor.data, at::IntArrayRef(tensor.shape, tensor.rank),
                       at::TensorOptions().dtype(*type));
}

sdk::OutputTensor ToOutput(std::string name, const at::Tensor& tensor) {
  sdk::OutputTensor output;
  output.name = std::move(name);
  output.skipped = ReasonToSkip(tensor);
  if (!output.skipped.empty()) return output;
  at::Tensor host = tensor.resolve_conj().resolve_neg().to(at::kCPU).contiguous();
  output.dtype = *FromTorch(host.scalar_type());
  output.shape = host.sizes().vec();
  output.byte_size = host.nbytes();
  output.data = host.data_ptr();
  output.keep_alive = std::make_shared<const at::Tensor>(std::move(host));
  return output;
}

}  // namespace vernier
