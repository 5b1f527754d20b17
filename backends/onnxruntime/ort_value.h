// Tensors to and from OrtValue.
#pragma once

#include <memory>

#include "ort_api.h"
#include "vernier/backend_sdk.hpp"

namespace vernier::ort {

/// An OrtValue that releases itself.
class Value {
 public:
  explicit Value(const Api& api) : api_(&api) {}
  Value(Value&& other) noexcept : api_(other.api_), value_(std::exchange(other.value_, nullptr)) {}
  Value& operator=(Value&&) = delete;
  ~Value() {
    if (value_ != nullptr) api_->table->ReleaseValue(value_);
  }
  OrtValue* get() const { return value_; }
  OrtValue** slot() { return &value_; }

 private:
  const Api* api_;
  OrtValue* value_ = nullptr;
};

/// A value over the memory of `t`, which must outlive it; strings are copied.
Result<Value> FromAbi(const Api& api, const vn_tensor& t);

/// A value over `data`, which must outlive it and hold as many bytes as `spec` needs. Not for
/// strings and dynamic shapes.
Result<Value> ValueOver(const Api& api, const sdk::TensorSpec& spec, void* data, size_t byte_size);

/// A tensor, not null, as an output without a copy of its numbers; `value` moves into it.
Result<sdk::OutputTensor> ToTensor(const Api& api, const std::string& name, Value value);

/// The element type, kUndefined for what is no tensor or has an unknown type.
DType FromOrt(ONNXTensorElementDataType type);

}  // namespace vernier::ort
