// From an ONNX model to what tract runs. tract compiles a model for the shapes of its inputs, which
// a model may leave open.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tract_api.h"
#include "vernier/backend_sdk.hpp"

namespace vernier::tract {

/// Type and shape of an input, as a model is compiled for it.
struct InputFact {
  DType dtype = DType::kUndefined;
  std::vector<int64_t> shape;

  bool operator==(const InputFact&) const = default;
};

/// A model that is ready to run, and its outputs: types as the model has them, and -1 for a size
/// that depends on the values of inputs.
struct Compiled {
  Owned<Runnable> runnable;
  std::vector<InputFact> facts;       ///< what it was compiled for
  std::vector<uint32_t> input_types;  ///< tract's numbers of what it takes
  std::vector<sdk::TensorSpec> outputs;
};

enum class Precision : uint8_t { kFloat32, kFloat16 };

/// The file or the bytes of a model. Owns them, so that it can compile for other shapes later.
class ModelSource {
 public:
  /// Reads the model's inputs and outputs.
  static Result<ModelSource> Open(const Api& api, const Onnx* onnx, const vn_model& model);

  std::span<const sdk::TensorSpec> inputs() const { return inputs_; }
  /// Of which only names are known before compiling.
  std::span<const sdk::TensorSpec> outputs() const { return outputs_; }

  /// `facts` has as many as inputs(), all of types that tract's interface has.
  Result<Compiled> Compile(const std::vector<InputFact>& facts, Precision precision);

 private:
  ModelSource(const Api& api, const Onnx* onnx)
      : api_(&api), onnx_(onnx), loaded_(api.inference_model_destroy) {}

  Result<Owned<InferenceModel>> Load() const;
  Status ReadNames(const vn_model& model);
  Result<Owned<Model>> WithInputs(const std::vector<InputFact>& facts);
  Status ReadInputTypes(const Model* typed, Compiled& compiled) const;
  Status ReadOutputs(const Model* typed, Compiled& compiled) const;

  const Api* api_;
  const Onnx* onnx_;
  std::string path_;              ///< empty: bytes_
  std::string bytes_;             ///< with all weights inside
  Owned<InferenceModel> loaded_;  ///< by Open(), for the first Compile(), which consumes it
  std::vector<sdk::TensorSpec> inputs_, outputs_;
};

}  // namespace vernier::tract
