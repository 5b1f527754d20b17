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

inline constexpr std::string_view kEachAfterABlank =
#define VERNIER_OV_PRECISION(word, name) " " #word
#include "options.def"
    ;
inline constexpr std::string_view kEachShapesAfterABlank =
#define VERNIER_OV_SHAPES(word) " " #word
#include "options.def"
    ;
/// The words of --openvino-precision and of --openvino-shapes, separated by spaces.
inline constexpr std::string_view kPrecisionWords = kEachAfterABlank.substr(1);
inline constexpr std::string_view kShapesWords = kEachShapesAfterABlank.substr(1);
constexpr std::string_view FirstWord(std::string_view words) {
  return words.substr(0, words.find(' '));
}
inline constexpr std::string_view kDefaultPrecision = FirstWord(kPrecisionWords);

/// How the records call the precision that OpenVINO's INFERENCE_PRECISION_HINT names.
std::string ShownPrecision(std::string_view property);

class OvModelSession final : public sdk::Session {
 public:
  static Result<std::unique_ptr<sdk::Session>> Open(const Api& api, ov_core_t* core,
                                                    const vn_model& model,
                                                    const sdk::Options& options);

  std::span<const sdk::TensorSpec> inputs() const override { return inputs_; }
  std::span<const sdk::TensorSpec> outputs() const override { return outputs_; }
  sdk::SessionInfo info() const override { return {precision_, device_}; }
  Result<sdk::RunOutcome> Run(std::span<const vn_tensor* const> inputs) override;
  void Close() override;
  Status Reset() override;
  /// Variables are a request's own, so such a model has one request, which writes to its outputs.
  uint32_t FeedsBack() const override { return keeps_state_ ? 0 : VN_FEEDS_BACK_CPU; }

 private:
  explicit OvModelSession(const Api& api)
      : api_(api), compiled_(nullptr, api.ov_compiled_model_free) {}

  Status ReadSignature(const ov_model_t* source, const vn_model& model);
  Result<sdk::TensorSpec> ReadPort(const ov_model_t* source, bool is_output, size_t index) const;
  Status Compile(ov_core_t* core, const ov_model_t* source, const sdk::Options& options);
  Status SetInput(size_t index, const vn_tensor& tensor);
  Result<sdk::OutputTensor> GetOutput(size_t index);
  void CollectLayerTimes();
  Result<Handle<ov_infer_request_t>> MakeRequest() const;
  Status TakeFreeRequest();

  // A request writes to the same outputs in each inference.
  struct Request {
    Handle<ov_infer_request_t> handle;
    std::shared_ptr<const void> outputs;  ///< shared with all who hold one
    bool free() const { return outputs == nullptr || outputs.use_count() == 1; }
  };

  const Api& api_;
  Handle<ov_compiled_model_t> compiled_;
  std::vector<Request> requests_;  ///< the first is that of the last inference
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
