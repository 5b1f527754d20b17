// One model that is open in TensorFlow.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "loaded_graph.h"
#include "vernier/backend_sdk.hpp"

namespace vernier::tf {

class TfModelSession final : public sdk::Session {
 public:
  /// Opens a frozen graph (also from memory), a checkpoint's or a SavedModel's folder.
  static Result<std::unique_ptr<sdk::Session>> Open(const Api& api, const vn_model& model,
                                                    const sdk::Options& options,
                                                    const sdk::Host& host);

  std::span<const sdk::TensorSpec> inputs() const override { return input_specs_; }
  std::span<const sdk::TensorSpec> outputs() const override { return output_specs_; }
  sdk::SessionInfo info() const override { return info_; }
  std::span<const sdk::NotExposed> not_exposed() const override { return not_exposed_; }
  Result<sdk::RunOutcome> Run(std::span<const vn_tensor* const> inputs) override;

 private:
  TfModelSession(const Api& api, LoadedGraph loaded) : api_(api), loaded_(std::move(loaded)) {}

  Status ChooseTensors(const vn_model& model, const sdk::Options& options);
  Status ChooseOutputs(const vn_model& model, const std::vector<std::string>& names);
  Status Freeze(const SessionConfig& config);
  Status Prepare();
  Status SaveGraph(const sdk::Options& options, const sdk::Host& host) const;
  Status ReadDevice();
  Result<const vn_tensor*> InputFor(const GraphTensor& input,
                                    std::span<const vn_tensor* const> feed) const;
  Status Infer(const std::vector<TensorHandle>& values, std::vector<TensorHandle>& results);
  Status SaveTrace(const TF_Buffer& metadata);
  Status CheckReturned(const FedTensors& fed);
  size_t FedInput(TF_Output output) const;

  const Api& api_;
  LoadedGraph loaded_;
  std::vector<GraphTensor> inputs_, outputs_;
  std::vector<sdk::TensorSpec> input_specs_, output_specs_;
  std::vector<sdk::NotExposed> not_exposed_;
  sdk::SessionInfo info_;
  // In the order of a run: what is fed, and what is fetched because it is no input itself.
  std::vector<TF_Output> feeds_, fetches_;
  std::string timeline_folder_;
  int64_t runs_ = 0;
  // The first run is given copies: it shows whether the graph keeps what it is fed.
  FedTensors::Memory memory_ = FedTensors::Memory::kCopy;
};

}  // namespace vernier::tf
