// Texts and tensors in the terms of the C boundary.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string_view>
#include <vector>

#include "backend/wire/messages.h"
#include "vernier/backend_abi.h"
#include "vernier/backend_dtype.h"
#include "vernier/tensor.h"

namespace vernier {

inline std::string_view View(vn_str text) {
  return text.size == 0 ? std::string_view() : std::string_view(text.data, text.size);
}
inline vn_str Str(std::string_view text) { return {text.data(), text.size()}; }

/// Keys and values stay the caller's.
inline std::vector<vn_option> ToAbiOptions(const OptionList& options) {
  std::vector<vn_option> out;
  out.reserve(options.size());
  for (const auto& [key, value] : options) out.push_back({Str(key), Str(value)});
  return out;
}

/// Signatures and feeds, with the storage that they borrow; names and data stay the caller's.
class AbiTensors {
 public:
  void Add(const TensorInfo& info) {
    std::vector<int64_t>& shape = shapes_.emplace_back();
    if (info.shape) {
      for (const Dim& dim : *info.shape) shape.push_back(dim.value);
    }
    vn_tensor& t = Make(info.name, info.dtype);
    t.rank = info.shape ? static_cast<uint32_t>(shape.size()) : VN_RANK_UNKNOWN;
    t.shape = shape.data();
  }

  void Add(const NamedTensor& entry) {
    vn_tensor& t = Make(entry.name, entry.tensor.dtype());
    t.rank = static_cast<uint32_t>(entry.tensor.dims().size());
    t.shape = entry.tensor.dims().data();
    t.data = const_cast<std::byte*>(entry.tensor.bytes().data());
    t.byte_size = entry.tensor.bytes().size();
  }

  /// An output of an earlier run, where it lies.
  void Add(std::string_view name, std::span<const int64_t> shape, const vn_tensor& output) {
    vn_tensor& t = tensors_.emplace_back(output);
    pointers_.push_back(&t);
    t.name = Str(name);
    t.rank = static_cast<uint32_t>(shape.size());
    t.shape = shape.data();
    t.release = nullptr;
    t.owner = nullptr;
    t.note = {};
  }

  std::span<const vn_tensor* const> pointers() const { return pointers_; }

 private:
  vn_tensor& Make(std::string_view name, DType dtype) {
    vn_tensor& t = tensors_.emplace_back();
    const AbiDType abi = ToAbi(dtype);
    t.struct_size = sizeof(t);
    t.name = Str(name);
    t.dtype_code = abi.code;
    t.dtype_bits = abi.bits;
    t.dtype_lanes = 1;
    t.device_type = VN_DEVICE_CPU;
    pointers_.push_back(&t);
    return t;
  }

  // Deques: earlier elements stay where they are.
  std::deque<vn_tensor> tensors_;
  std::deque<std::vector<int64_t>> shapes_;
  std::vector<const vn_tensor*> pointers_;
};

}  // namespace vernier
