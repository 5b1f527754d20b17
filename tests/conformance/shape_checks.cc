// Shapes: none, empty, many dimensions, dynamic, unknown, large.
#include "checks.h"

namespace vernier {
namespace {

Status StaticShape(BackendUnderTest& backend, const Dims& dims) {
  const std::vector<TensorInfo> inputs = {Input("x", DType::kFloat32, dims)};
  VERNIER_ASSIGN_OR_RETURN(const OpenModel model, backend.Open(inputs));
  VERNIER_ASSIGN_OR_RETURN(const TensorMap feed, TrickyFeed(inputs));
  return backend.ExpectEcho(model, feed);
}

// The same session takes one shape after the other.
Status ShapesInTurn(BackendUnderTest& backend, const TensorInfo& input,
                    const std::vector<Dims>& shapes) {
  VERNIER_ASSIGN_OR_RETURN(const OpenModel model, backend.Open({input}));
  for (const Dims& dims : shapes) {
    VERNIER_ASSIGN_OR_RETURN(Tensor tensor, TrickyTensor(input.dtype, dims));
    VERNIER_TRY(backend.ExpectEcho(model, {{input.name, std::move(tensor)}}));
  }
  return {};
}

Status Dynamic(BackendUnderTest& backend) {
  return ShapesInTurn(backend, Input("x", DType::kFloat32, {-1, 3}), {{1, 3}, {5, 3}, {2, 3}});
}

Status DynamicAndEmpty(BackendUnderTest& backend) {
  return ShapesInTurn(backend, Input("x", DType::kInt32, {-1, 3}), {{2, 3}, {0, 3}, {2, 3}});
}

Status DynamicAndLarge(BackendUnderTest& backend) {
  // Small ones travel in messages, large ones in shared memory: one session sees both.
  return ShapesInTurn(backend, Input("x", DType::kFloat32, {-1}), {{3}, {2'000'000}, {4}});
}

Status UnknownRank(BackendUnderTest& backend) {
  return ShapesInTurn(backend, {"x", DType::kFloat32, std::nullopt}, {{2, 3}, {4}});
}

Status DynamicInSignature(BackendUnderTest& backend) {
  VERNIER_ASSIGN_OR_RETURN(const OpenModel model,
                           backend.Open({Input("x", DType::kFloat32, {-1, 3})}));
  for (const auto* list : {&model.description.inputs, &model.description.outputs}) {
    const bool right = list->size() == 1 && list->front().shape &&
                       list->front().shape->size() == 2 && (*list->front().shape)[0].value == -1 &&
                       (*list->front().shape)[1].value == 3;
    if (!right) return Failed("a dynamic dimension is not -1 in the signature");
  }
  return {};
}

}  // namespace

void AddShapeChecks(std::vector<Check>& checks) {
  struct Static {
    const char* name;
    Dims dims;
  };
  const Static statics[] = {{"shape/scalar", {}},
                            {"shape/one_element", {1}},
                            {"shape/eight_dimensions", {1, 2, 1, 2, 1, 2, 1, 2}},
                            {"shape/zero_size", {0, 3}},
                            {"shape/zero_size_inside", {2, 0, 3}},
                            {"shape/large", {1024, 1031}}};
  for (const Static& row : statics) {
    checks.push_back({row.name, [dims = row.dims](BackendUnderTest& backend) {
                        return StaticShape(backend, dims);
                      }});
  }
  checks.push_back({"shape/dynamic", &Dynamic});
  checks.push_back({"shape/dynamic_and_empty", &DynamicAndEmpty});
  checks.push_back({"shape/dynamic_and_large", &DynamicAndLarge});
  checks.push_back({"shape/dynamic_in_signature", &DynamicInSignature});
  checks.push_back({"shape/unknown_rank", &UnknownRank});
}

}  // namespace vernier
