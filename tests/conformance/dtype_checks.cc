// Every element type goes through a backend unchanged, or is refused.
#include <array>

#include "checks.h"

namespace vernier {
namespace {

Status SurvivesIdentity(BackendUnderTest& backend, DType dtype) {
  // An odd number of elements: packed types end in half a byte.
  const std::vector<TensorInfo> inputs = {Input("x", dtype, {3, 5})};
  VERNIER_ASSIGN_OR_RETURN(const OpenModel model, backend.Open(inputs));
  const DType declared = backend.typed() ? dtype : DType::kUndefined;
  if (model.description.inputs.size() != 1 || model.description.inputs[0].dtype != declared) {
    return Failed("the signature has another type");
  }
  for (uint64_t seed = 0; seed < 3; ++seed) {
    VERNIER_ASSIGN_OR_RETURN(const TensorMap feed, TrickyFeed(inputs, seed));
    VERNIER_TRY(backend.ExpectEcho(model, feed));
  }
  return backend.Close(model);
}

Status StringsMayHoldNul(BackendUnderTest& backend) {
  const std::vector<TensorInfo> inputs = {Input("x", DType::kString, {2})};
  VERNIER_ASSIGN_OR_RETURN(const OpenModel model, backend.Open(inputs));
  const std::array<std::string, 2> values = {std::string("a\0b", 3), std::string(1, '\0')};
  VERNIER_ASSIGN_OR_RETURN(Tensor tensor, Tensor::FromStrings({2}, values));
  return backend.ExpectEcho(model, {{"x", std::move(tensor)}});
}

Status TypesTogether(BackendUnderTest& backend) {
  const std::vector<TensorInfo> inputs = {
      Input("f", DType::kFloat32, {2, 3}), Input("i", DType::kInt32, {7}),
      Input("b", DType::kBool, {1, 9}), Input("u", DType::kUint8, {300, 300})};
  VERNIER_ASSIGN_OR_RETURN(const OpenModel model, backend.Open(inputs));
  VERNIER_ASSIGN_OR_RETURN(const TensorMap feed, TrickyFeed(inputs));
  return backend.ExpectEcho(model, feed);
}

}  // namespace

void AddDTypeChecks(std::vector<Check>& checks) {
  for (int number = 1; number < kDTypeCount; ++number) {
    const auto dtype = static_cast<DType>(number);
    checks.push_back({"dtype/" + std::string(DTypeName(dtype)), [dtype](BackendUnderTest& backend) {
                        return SurvivesIdentity(backend, dtype);
                      }});
  }
  checks.push_back({"dtype/string_with_nul", &StringsMayHoldNul});
  checks.push_back({"dtype/several_together", &TypesTogether});
}

}  // namespace vernier
