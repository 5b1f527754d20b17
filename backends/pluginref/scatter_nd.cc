#include <algorithm>
#include <cmath>
#include <cstring>

#include "operators.h"

namespace vernier::pluginref {
namespace {

enum class Reduction { kReplace, kAdd, kMul, kMax, kMin };

Result<Reduction> ReductionOf(const Call& call) {
  const std::string word = call.Word("reduction", "none");
  constexpr std::pair<std::string_view, Reduction> kWords[] = {{"none", Reduction::kReplace},
                                                               {"add", Reduction::kAdd},
                                                               {"mul", Reduction::kMul},
                                                               {"max", Reduction::kMax},
                                                               {"min", Reduction::kMin}};
  for (const auto& [name, reduction] : kWords) {
    if (name == word) return reduction;
  }
  return call.Wrong("reduction is '" + word + "'; expected none, add, mul, max or min");
}

template <typename T>
T Combine(Reduction reduction, T old, T update) {
  switch (reduction) {
    case Reduction::kAdd:
      return static_cast<T>(old + update);
    case Reduction::kMul:
      return static_cast<T>(old * update);
    case Reduction::kMax:
      return old != old || old > update ? old : update;  // a NaN stays, as NumPy's maximum
    case Reduction::kMin:
      return old != old || old < update ? old : update;
    case Reduction::kReplace:
      break;
  }
  return update;
}

/// Where each update of `slice` elements goes.
Result<std::vector<size_t>> Places(const Call& call, size_t slice) {
  VERNIER_ASSIGN_OR_RETURN(const std::vector<int64_t> indices, call.Integers(1));
  const Dims& dims = call.Input(0).dims;
  const auto depth = static_cast<size_t>(call.Input(1).dims.back());
  std::vector<size_t> places;
  for (size_t i = 0; depth > 0 && i < indices.size(); i += depth) {
    size_t place = 0;
    for (size_t axis = 0; axis < depth; ++axis) {
      const int64_t given = indices[i + axis];
      const int64_t index = given < 0 ? given + dims[axis] : given;
      if (index < 0 || index >= dims[axis]) {
        return call.Wrong("index " + std::to_string(given) + " is outside of dimension " +
                          std::to_string(axis) + " of the data, which has shape " +
                          ShapeText(dims));
      }
      place = place * static_cast<size_t>(dims[axis]) + static_cast<size_t>(index);
    }
    places.push_back(place * slice);
  }
  return places;
}

template <typename T>
Array ScatterNumbers(const Array& data, const Array& updates, std::span<const size_t> places,
                     size_t slice, Reduction reduction) {
  std::vector<T> out(data.bytes->size() / sizeof(T));
  if (!out.empty()) std::memcpy(out.data(), data.bytes->data(), data.bytes->size());
  for (size_t u = 0; u < places.size(); ++u) {
    for (size_t i = 0; i < slice; ++i) {
      T update;
      std::memcpy(&update, updates.bytes->data() + (u * slice + i) * sizeof(T), sizeof(T));
      out[places[u] + i] = Combine(reduction, out[places[u] + i], update);
    }
  }
  return MakeArray<T>(data.dtype, data.dims, out);
}

// Small float types: in float64, rounded after every step as their arithmetic would.
Array ScatterSmallFloats(const Array& data, const Array& updates, std::span<const size_t> places,
                         size_t slice, Reduction reduction) {
  Array out = data;
  const std::vector<double> all = ReadFloats(updates);
  for (size_t u = 0; u < places.size(); ++u) {
    std::vector<double> values = ReadFloats(out);
    for (size_t i = 0; i < slice; ++i) {
      double& value = values[places[u] + i];
      value = Combine(reduction, value, all[u * slice + i]);
    }
    out = MakeFloats(data.dtype, data.dims, values);
  }
  return out;
}

Array ScatterBytes(const Array& data, const Array& updates, std::span<const size_t> places,
                   size_t slice, size_t element) {
  Bytes out = *data.bytes;
  for (size_t u = 0; slice > 0 && u < places.size(); ++u) {
    std::memcpy(out.data() + places[u] * element, updates.bytes->data() + u * slice * element,
                slice * element);
  }
  return {data.dtype, data.dims, std::make_shared<const Bytes>(std::move(out))};
}

using Scatter = Array (*)(const Array&, const Array&, std::span<const size_t>, size_t, Reduction);

// By element type, for the reductions that compute.
Scatter ScatterFor(DType dtype) {
  constexpr std::pair<DType, Scatter> kTypes[] = {
      {DType::kFloat32, &ScatterNumbers<float>},   {DType::kFloat64, &ScatterNumbers<double>},
      {DType::kInt8, &ScatterNumbers<int8_t>},     {DType::kInt16, &ScatterNumbers<int16_t>},
      {DType::kInt32, &ScatterNumbers<int32_t>},   {DType::kInt64, &ScatterNumbers<int64_t>},
      {DType::kUint8, &ScatterNumbers<uint8_t>},   {DType::kUint16, &ScatterNumbers<uint16_t>},
      {DType::kUint32, &ScatterNumbers<uint32_t>}, {DType::kUint64, &ScatterNumbers<uint64_t>},
      {DType::kFloat16, &ScatterSmallFloats},      {DType::kBFloat16, &ScatterSmallFloats}};
  for (const auto& [type, scatter] : kTypes) {
    if (type == dtype) return scatter;
  }
  return nullptr;
}

// updates has the shape of the indices without their last dimension, then what they leave of
// data's.
Status CheckScatterShapes(const Call& call) {
  const Array& data = call.Input(0);
  const Array& indices = call.Input(1);
  const Array& updates = call.Input(2);
  if (data.dims.empty() || indices.dims.empty()) return call.Wrong("data or indices are scalars");
  const int64_t depth = indices.dims.back();
  if (depth > static_cast<int64_t>(data.dims.size())) {
    return call.Wrong("indices of shape " + ShapeText(indices.dims) +
                      " are deeper than data of shape " + ShapeText(data.dims));
  }
  Dims expected(indices.dims.begin(), indices.dims.end() - 1);
  expected.insert(expected.end(), data.dims.begin() + depth, data.dims.end());
  if (updates.dims != expected) {
    return call.Wrong("updates have shape " + ShapeText(updates.dims) + "; expected " +
                      ShapeText(expected));
  }
  if (updates.dtype == data.dtype) return {};
  return call.Wrong("updates are " + std::string(DTypeName(updates.dtype)) + ", the data " +
                    std::string(DTypeName(data.dtype)));
}

}  // namespace

/// ONNX ScatterND-11 to -18. Updates of one place are applied in their order.
Result<Outputs> ScatterNd(const Call& call) {
  VERNIER_TRY(call.ExpectInputs(3, 3));
  VERNIER_TRY(CheckScatterShapes(call));
  const Array& data = call.Input(0);
  VERNIER_ASSIGN_OR_RETURN(const Reduction reduction, ReductionOf(call));
  const auto depth = static_cast<size_t>(call.Input(1).dims.back());
  const size_t slice = Product(std::span(data.dims).subspan(depth));
  VERNIER_ASSIGN_OR_RETURN(const std::vector<size_t> places, Places(call, slice));
  const int bits = BitsOf(data.dtype);
  if (reduction == Reduction::kReplace && bits >= 8) {
    return Outputs{ScatterBytes(data, call.Input(2), places, slice, static_cast<size_t>(bits / 8))};
  }
  const Scatter scatter = ScatterFor(data.dtype);
  if (scatter == nullptr) {
    return call.Wrong("data of type " + std::string(DTypeName(data.dtype)) + " is not supported");
  }
  return Outputs{scatter(data, call.Input(2), places, slice, reduction)};
}

}  // namespace vernier::pluginref
