// Tensors on their way into tract and back.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "tract_api.h"
#include "vernier/backend_sdk.hpp"

namespace vernier::tract {

/// tract's number of a type; 0 where its interface has none.
uint32_t ToTract(DType dtype);
/// kUndefined for a number of none of our types.
DType FromTract(uint32_t type);
/// As facts write it: "f32"; empty where its interface lacks the type.
std::string_view FactName(DType dtype);

/// A copy of a tensor of a type that tract's interface has.
Result<Owned<Tensor>> MakeTensor(const Api& api, const vn_tensor& tensor);

/// The tensor in `type`, which may be the one that it has.
Result<Owned<Tensor>> Converted(const Api& api, Owned<Tensor> tensor, uint32_t type);

/// Hands `tensor` out, whose bytes stay where they are. `dtype`: what the model has there, since
/// tract computes with sizes in a type of its own, and in float16 on request. kUndefined: whatever
/// it is; a type that tract's interface lacks is then skipped.
Result<sdk::OutputTensor> HandOut(const Api& api, Owned<Tensor> tensor, std::string_view name,
                                  DType dtype);

}  // namespace vernier::tract
