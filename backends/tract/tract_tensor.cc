#include "tract_tensor.h"

#include <optional>
#include <vector>

namespace vernier::tract {
namespace {

struct TypeRow {
  DType dtype;
  uint32_t type;
  std::string_view fact;
};

constexpr TypeRow kTypes[] = {
    {DType::kBool, 1, "bool"},    {DType::kUint8, 17, "u8"},    {DType::kUint16, 18, "u16"},
    {DType::kUint32, 20, "u32"},  {DType::kUint64, 24, "u64"},  {DType::kInt8, 33, "i8"},
    {DType::kInt16, 34, "i16"},   {DType::kInt32, 36, "i32"},   {DType::kInt64, 40, "i64"},
    {DType::kFloat16, 50, "f16"}, {DType::kFloat32, 52, "f32"}, {DType::kFloat64, 56, "f64"},
};

const TypeRow* RowOf(DType dtype) {
  for (const TypeRow& row : kTypes) {
    if (row.dtype == dtype) return &row;
  }
  return nullptr;
}

}  // namespace

uint32_t ToTract(DType dtype) {
  const TypeRow* row = RowOf(dtype);
  return row != nullptr ? row->type : 0;
}

DType FromTract(uint32_t type) {
  for (const TypeRow& row : kTypes) {
    if (row.type == type) return row.dtype;
  }
  return DType::kUndefined;
}

std::string_view FactName(DType dtype) {
  const TypeRow* row = RowOf(dtype);
  return row != nullptr ? row->fact : std::string_view();
}

Result<Owned<Tensor>> MakeTensor(const Api& api, const vn_tensor& tensor) {
  const DType dtype = FromAbi(tensor.dtype_code, tensor.dtype_bits).value_or(DType::kUndefined);
  // Never null, which Rust's slices may not be even where they are empty.
  std::vector<size_t> shape(tensor.rank + 1);
  for (uint32_t i = 0; i < tensor.rank; ++i) shape[i] = static_cast<size_t>(tensor.shape[i]);
  alignas(8) char nothing[8];
  Owned<Tensor> made(api.tensor_destroy);
  VERNIER_TRY(Check(api,
                    api.tensor_from_bytes(ToTract(dtype), tensor.rank, shape.data(),
                                          tensor.byte_size > 0 ? tensor.data : nothing, made.at()),
                    "making an input"));
  return made;
}

Result<Owned<Tensor>> Converted(const Api& api, Owned<Tensor> tensor, uint32_t type) {
  Owned<Tensor> converted(api.tensor_destroy);
  VERNIER_TRY(
      Check(api, api.tensor_convert_to(tensor.get(), type, converted.at()), "converting a tensor"));
  return converted;
}

Result<sdk::OutputTensor> HandOut(const Api& api, Owned<Tensor> tensor, std::string_view name,
                                  DType dtype) {
  sdk::OutputTensor output;
  output.name = std::string(name);
  uint32_t type = 0;
  size_t rank = 0;
  const size_t* shape = nullptr;
  const void* data = nullptr;
  const bool known = api.tensor_as_bytes(tensor.get(), &type, &rank, &shape, &data) == 0;
  if (dtype == DType::kUndefined && !known) {
    output.skipped = "of a type that tract's C interface does not have";
    return output;
  }
  if (ToTract(dtype) != 0 && (!known || type != ToTract(dtype))) {
    VERNIER_ASSIGN_OR_RETURN(tensor, Converted(api, std::move(tensor), ToTract(dtype)));
    VERNIER_TRY(Check(api, api.tensor_as_bytes(tensor.get(), &type, &rank, &shape, &data),
                      "reading output '" + output.name + "'"));
  }
  output.dtype = FromTract(type);
  if (output.dtype == DType::kUndefined) {
    output.skipped =
        "of a type that is not supported (tract's number " + std::to_string(type) + ")";
    return output;
  }
  size_t count = 1;
  for (size_t i = 0; i < rank; ++i) {
    output.shape.push_back(static_cast<int64_t>(shape[i]));
    count *= shape[i];
  }
  output.data = data;
  output.byte_size = static_cast<size_t>(*ByteSize(output.dtype, count));
  output.keep_alive = std::make_shared<const Owned<Tensor>>(std::move(tensor));
  return output;
}

}  // namespace vernier::tract
