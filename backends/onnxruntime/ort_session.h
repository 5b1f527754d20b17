// One ONNX Runtime session.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "nested_value.h"
#include "ort_api.h"
#include "ort_value.h"
#include "placement.h"
#include "vernier/backend_sdk.hpp"

namespace vernier::ort {

class OrtModelSession final : public sdk::Session {
 public:
  static Result<std::unique_ptr<sdk::Session>> Open(const Api& api, const sdk::Host& host,
                                                    const vn_model& model,
                                                    const sdk::Options& options);

  std::span<const sdk::TensorSpec> inputs() const override { return inputs_; }
  std::span<const sdk::TensorSpec> outputs() const override { return outputs_; }
  sdk::SessionInfo info() const override { return {"as in the model", device_}; }
  Result<sdk::RunOutcome> Run(std::span<const vn_tensor* const> inputs) override;
  void Close() override;
  uint32_t FeedsBack() const override { return VN_FEEDS_BACK_CPU; }

 private:
  OrtModelSession(const Api& api, const sdk::Host& host)
      : api_(api), host_(host), session_(nullptr, api.table->ReleaseSession) {}
  Status Listen(OrtSessionOptions* options, const sdk::Options& given);
  Status ReadSignature();
  void FreeUndeclaredShapes(const vn_model& model);
  Result<sdk::TensorSpec> ReadSpec(bool is_output, size_t index, std::vector<std::string>& symbols);

  bool IsInParts(std::string_view input) const;
  using Names = std::vector<const char*>;
  using Pointers = std::vector<const OrtValue*>;
  void PlaceOutputs(std::span<const sdk::TensorSpec> specs, std::vector<Value>& values) const;
  std::vector<sdk::TensorSpec> OutputsFor(std::span<const vn_tensor* const> inputs) const;
  Status Infer(const Names& names, const Pointers& inputs, std::vector<Value>& outputs,
               double& seconds);

  const Api& api_;
  const sdk::Host host_;
  bool places_outputs_ = true;
  std::vector<Value> first_outputs_;    ///< of the first run: memory that there was while opening
  std::vector<std::string> providers_;  ///< that were asked for
  Placement placement_{host_};
  Handle<OrtRunOptions> run_options_{nullptr, api_.table->ReleaseRunOptions};  ///< may be null
  Handle<OrtSession> session_;
  std::string device_;
  std::string layer_times_path_;  ///< empty: layers are not measured
  std::vector<sdk::TensorSpec> inputs_;
  std::vector<sdk::TensorSpec> outputs_;
  std::vector<ONNXType> output_kinds_;
  std::vector<NestedInput> nested_inputs_;  ///< those that are no tensors
  /// Names of dimensions, empty where they have none. Of each input and output.
  std::vector<std::vector<std::string>> input_symbols_;
  std::vector<std::vector<std::string>> output_symbols_;
  bool named_sizes_ = false;  ///< of an output, at least one
  std::vector<const char*> output_names_;
};

}  // namespace vernier::ort
