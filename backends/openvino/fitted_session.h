// A model that leaves sizes of its inputs open, and that OpenVINO may only take once it knows them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "input_shapes.h"
#include "ov_api.h"
#include "vernier/backend_sdk.hpp"

namespace vernier::ov {

/// What a model is opened with, kept so that it can be opened again.
struct OpenedWith {
  const Api& api;
  ov_core_t* core;
  const sdk::Host& host;
};

class FittedSession final : public sdk::Session {
 public:
  /// Opens the model as it stands. Where OpenVINO refuses that, and the model is ONNX and leaves
  /// sizes open, it is opened with the shapes of the option `feed_shapes`, or else by the first
  /// Run(), with those of its feed; with the option `shapes` = static, whatever OpenVINO says. A
  /// session of a model that leaves nothing open is a plain one.
  /// Models with a state, which ONNX has none of, are never compiled for other shapes.
  static Result<std::unique_ptr<sdk::Session>> Open(const OpenedWith& with, const vn_model& model,
                                                    const sdk::Options& options);

  std::span<const sdk::TensorSpec> inputs() const override { return inputs_; }
  std::span<const sdk::TensorSpec> outputs() const override { return outputs_; }
  sdk::SessionInfo info() const override;
  Result<sdk::RunOutcome> Run(std::span<const vn_tensor* const> inputs) override;
  void Close() override {
    if (session_ != nullptr) session_->Close();
  }
  /// Of a model with a state in which an inference has failed: opens it once more.
  Status Reset() override;
  uint32_t FeedsBack() const override { return keeps_state_ ? 0 : VN_FEEDS_BACK_CPU; }

 private:
  FittedSession(const OpenedWith& with, const vn_model& model, const sdk::Options& options);

  static Result<std::unique_ptr<sdk::Session>> OpenStatic(const OpenedWith& with,
                                                          const vn_model& model,
                                                          const sdk::Options& options);
  Status FitToListed(const sdk::Options& options);
  Result<std::unique_ptr<sdk::Session>> OpenWith(const InputShapes& shapes) const;
  Status FitTo(const InputShapes& shapes);
  Status Refit(const InputShapes& feed);
  Status OpenAfresh();
  bool MayFitTo(const InputShapes& feed) const;
  void TakeSignatureOf(const sdk::Session& session);
  void Say(const std::string& text) const;

  OpenedWith with_;
  std::string path_, folder_, bytes_;
  std::vector<std::pair<std::string, std::string>> options_;
  std::vector<sdk::TensorSpec> inputs_, outputs_;
  Status refused_;  ///< why OpenVINO refuses the model as it stands; ok where that is not known
  std::unique_ptr<sdk::Session> session_;  ///< null before the first Run() of a refused model
  std::optional<InputShapes> written_;     ///< the shapes that it was opened with
  const bool may_fit_;                     ///< shapes can be written into it: it is ONNX
  const bool is_static_;                   ///< it is compiled for each feed of other sizes
  bool keeps_state_ = false;
  bool has_run_ = false;
  bool spoiled_ = false;         ///< an inference has failed since session_ was opened
  bool may_open_afresh_ = true;  ///< not where the bytes that it was made of are gone
};

}  // namespace vernier::ov
