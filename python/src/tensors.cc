#include <nanobind/ndarray.h>

#include "bindings.h"
#include "gil.h"
#include "named_tensors.h"
#include "status_error.h"

namespace nb = nanobind;

namespace vernier::python {
namespace {

using Bytes = nb::ndarray<const uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// Keeps a Python object from any thread.
template <typename T>
std::shared_ptr<const void> Keep(T object) {
  return std::shared_ptr<const void>(new T(std::move(object)), [](const void* kept) {
    const GilAcquire gil;
    delete static_cast<const T*>(kept);
  });
}

DType TypeNamed(const std::string& name) {
  const std::optional<DType> dtype = DTypeFromName(name);
  if (!dtype) throw StatusError{InvalidArgument("there is no element type '" + name + "'")};
  return *dtype;
}

Tensor FromBytes(const std::string& dtype, Dims dims, Bytes bytes) {
  const std::span<const std::byte> span(reinterpret_cast<const std::byte*>(bytes.data()),
                                        bytes.size());
  return Check(Tensor::Wrap(TypeNamed(dtype), std::move(dims), span, Keep(std::move(bytes))));
}

Tensor FromTexts(Dims dims, const std::vector<nb::bytes>& list) {
  std::vector<std::string> texts;
  for (const nb::bytes& text : list) texts.emplace_back(text.c_str(), text.size());
  return Check(Tensor::FromStrings(std::move(dims), texts));
}

// An array that keeps a tensor's bytes alive.
template <typename Array>
Array ArrayOf(const Tensor& tensor, const std::vector<size_t>& shape, nb::dlpack::dtype dtype) {
  const nb::capsule owner(new Tensor(tensor),
                          [](void* kept) noexcept { delete static_cast<Tensor*>(kept); });
  return Array(const_cast<std::byte*>(tensor.bytes().data()), shape.size(), shape.data(), owner,
               nullptr, dtype);
}

nb::ndarray<nb::numpy, const uint8_t> BytesOf(const Tensor& tensor) {
  return ArrayOf<nb::ndarray<nb::numpy, const uint8_t>>(tensor, {tensor.bytes().size()},
                                                        nb::dtype<uint8_t>());
}

// Frameworks may hand out any bytes; the package decodes them.
std::vector<nb::bytes> TextsOf(const Tensor& tensor) {
  std::vector<nb::bytes> texts;
  for (int64_t i = 0; i < tensor.element_count(); ++i) {
    const std::string_view text = tensor.StringAt(i);
    texts.emplace_back(text.data(), text.size());
  }
  return texts;
}

nb::dlpack::dtype DlpackType(DType dtype) {
  using Code = nb::dlpack::dtype_code;
  const auto bits = static_cast<uint8_t>(BitsOf(dtype));
  const auto of = [&](Code code) { return nb::dlpack::dtype{static_cast<uint8_t>(code), bits, 1}; };
  switch (dtype) {
    case DType::kBFloat16:
      return of(Code::Bfloat);
    case DType::kFloat8E4M3FN:
      return of(Code::Float8_E4M3FN);
    case DType::kFloat8E4M3FNUZ:
      return of(Code::Float8_E4M3FNUZ);
    case DType::kFloat8E5M2:
      return of(Code::Float8_E5M2);
    case DType::kFloat8E5M2FNUZ:
      return of(Code::Float8_E5M2FNUZ);
    default:
      break;
  }
  switch (Kind(dtype)) {
    case DTypeKind::kFloat:
      return of(Code::Float);
    case DTypeKind::kSignedInt:
      return of(Code::Int);
    case DTypeKind::kUnsignedInt:
      return of(Code::UInt);
    case DTypeKind::kBool:
      return of(Code::Bool);
    case DTypeKind::kComplex:
      return of(Code::Complex);
    default:
      return {};
  }
}

nb::ndarray<> ForDlpack(const Tensor& tensor) {
  if (tensor.dtype() == DType::kString || BitsOf(tensor.dtype()) % 8 != 0) {
    throw StatusError{Unimplemented("DLPack has no arrays of " +
                                    std::string(DTypeName(tensor.dtype())) + " as they lie here")};
  }
  const std::vector<size_t> shape(tensor.dims().begin(), tensor.dims().end());
  return ArrayOf<nb::ndarray<>>(tensor, shape, DlpackType(tensor.dtype()));
}

}  // namespace

TensorMap ToMap(NamedTensors tensors) {
  TensorMap map;
  for (auto& [name, tensor] : tensors) map.push_back({std::move(name), std::move(tensor)});
  return map;
}

NamedTensors FromMap(const TensorMap& map) {
  NamedTensors tensors;
  for (const auto& [name, tensor] : map) tensors.emplace_back(name, tensor);
  return tensors;
}

IterationResult ToResult(IterationTuple iteration) {
  auto& [runner, seconds, outputs] = iteration;
  return {std::move(runner), seconds, ToMap(std::move(outputs))};
}

IterationTuple FromResult(const IterationResult& result) {
  return {result.runner_name, result.runtime_s, FromMap(result.outputs)};
}

void BindTensors(nb::module_& module) {
  nb::class_<Tensor>(module, "Tensor", "Bytes of the libraries, with their type and shape.")
      .def_prop_ro("dtype", [](const Tensor& t) { return std::string(DTypeName(t.dtype())); })
      .def_prop_ro("shape", [](const Tensor& t) { return nb::tuple(nb::cast(t.dims())); })
      .def("data", &BytesOf, "The bytes as a NumPy array that shares them.")
      .def("texts", &TextsOf)
      .def("dlpack", &ForDlpack, "A DLPack capsule that shares the bytes.");
  module.def("tensor", &FromBytes, nb::arg("dtype"), nb::arg("shape"), nb::arg("data"));
  module.def("text_tensor", &FromTexts, nb::arg("shape"), nb::arg("texts"));
}

}  // namespace vernier::python
