// One compiled OpenVINO model and its inference request.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ov_api.h"
#include "vernier/backend_sdk.hpp"

namespace vernier::ov {

/// How the records call the precision that OpenVINO's INFERENCE_PRECISION_HINT names.
std::string ShownPrecision(std::string_view property);

class OvModelSession final : public sdk::Session {
 public:
  static Result<std::unique_ptr<sdk::Session>> Open(const Api& api, ov_core_t* core,
                                                    const vn_model& model,
                                                    const sdk::Options& options);

  ~OvModelSession() override;

  std::span<const sdk::TensorSpec> inputs() const override { return inputs_; }
  std::span<const sdk::TensorSpec> outputs() const override { return outputs_; }
  sdk::SessionInfo info() const override { return {precision_, device_}; }
  Result<sdk::RunOutcome> Run(std::span<const vn_tensor* const> inputs) override;
  Status Reset() override;

 private:
  explicit OvModelSession(const Api& api)
      : api_(api),
        compiled_(nullptr, api.ov_compiled_model_free),
        request_(nullptr, api.ov_infer_request_free) {}

  Status ReadSignature(const ov_model_t* source, const vn_model& model);
  Result<sdk::TensorSpec> ReadPort(const ov_model_t* source, bool is_output, size_t index) const;
  Status Compile(ov_core_t* core, const ov_model_t* source, const sdk::Options& options);
  Status SetInput(size_t index, const vn_tensor& tensor);
  Result<sdk::OutputTensor> GetOutput(size_t index);
  void CollectLayerTimes();
  Status MakeRequest();

  const Api& api_;
  Handle<ov_compiled_model_t> compiled_;
  Handle<ov_infer_request_t> request_;
  std::string device_;
  std::string precision_;
  bool keeps_state_ = false;
  std::string layer_times_path_;  ///< empty: layers are not measured
  int64_t runs_ = 0;
  /// Name and type of a layer: seconds in all runs but the first, which warms up.
  std::map<std::pair<std::string, std::string>, double> layer_seconds_;
  std::vector<sdk::TensorSpec> inputs_;
  std::vector<sdk::TensorSpec> outputs_;
};

}  // namespace vernier::ov
