// A backend in a worker of its own, and what the checks do with it.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backend/worker/worker.h"
#include "torchscript_writer.h"
#include "util/log/no_log.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

/// What a backend declined to do although it works: kUnimplemented, which a check passes on. All
/// other errors of a check are failures of the backend.
inline Status Refused(const Status& why) { return Unimplemented("refused: " + why.message()); }
inline Status Failed(std::string why) { return BackendError(std::move(why)); }

/// A model that is open, by number.
struct OpenModel {
  uint64_t session = 0;
  std::vector<TensorInfo> inputs;  ///< as written
  SessionDescription description;
};

class BackendUnderTest {
 public:
  using ModelWriter = std::string (*)(const std::vector<TensorInfo>&);

  /// `writer` makes the models of the checks in the backend's format.
  BackendUnderTest(std::string plugin, std::string folder, ModelWriter writer)
      : plugin_(std::move(plugin)), folder_(std::move(folder)), writer_(writer) {}

  /// A model with these inputs, each of which comes out unchanged.
  std::string ModelBytes(const std::vector<TensorInfo>& inputs) const { return writer_(inputs); }
  /// Do its models say element types? Then a signature does, too.
  bool typed() const { return writer_ != &WriteTorchScriptModel; }

  /// Starts the worker if there is none, or a new one after the last has died.
  Result<BackendInfo> Load(OptionList options = {});

  /// Opens a model of Identity nodes from a file. kUnimplemented when the backend declines.
  Result<OpenModel> Open(const std::vector<TensorInfo>& inputs);
  /// The same from memory, as an edited model is.
  Result<OpenModel> OpenFromMemory(const std::vector<TensorInfo>& inputs);
  /// Any bytes as a model; what the backend says about it is returned as it is.
  Result<OpenModel> OpenBytes(const std::string& bytes, const std::vector<TensorInfo>& inputs,
                              OptionList options = {});
  /// A path as a model.
  Result<OpenModel> OpenPath(const std::string& path, const std::vector<TensorInfo>& inputs,
                             OptionList options = {});

  /// One inference; what the backend says is returned as it is.
  Result<TensorMap> Run(const OpenModel& model, const TensorMap& feed);
  /// Runs and expects every input back, bit for bit. kUnimplemented when the backend declines.
  Status ExpectEcho(const OpenModel& model, const TensorMap& feed);

  /// One step: all outputs stay in the worker. `feed` may have outputs that stayed there before.
  Result<std::vector<KeptOutput>> RunStep(const OpenModel& model, const TensorBlock& feed);
  Result<Tensor> Fetch(uint64_t handle) { return worker_->Fetch(handle); }

  Status Close(const OpenModel& model) { return worker_->Close(model.session); }

  bool alive() const { return worker_ != nullptr && worker_->death().ok(); }
  /// kBackend when the worker has died.
  Status ExpectAlive() const;
  void Stop() { worker_ = nullptr; }

 private:
  Result<OpenModel> OpenRequested(OpenRequest request, const UniqueFd& memory,
                                  const std::vector<TensorInfo>& inputs);

  std::string plugin_;
  std::string folder_;
  ModelWriter writer_;
  NoLog log_;
  std::atomic<int> interrupted_{0};
  std::unique_ptr<Worker> worker_;
  uint64_t next_session_ = 0;
};

/// Declaration of an input; -1 is a dynamic dimension with a name of its own.
TensorInfo Input(std::string name, DType dtype, std::vector<int64_t> dims);

/// A tensor with values that show mistakes: extremes, signs, NaN with a payload, subnormals. `seed`
/// shifts where they begin.
Result<Tensor> TrickyTensor(DType dtype, Dims dims, uint64_t seed = 0);

/// A feed of tricky tensors for static inputs.
Result<TensorMap> TrickyFeed(const std::vector<TensorInfo>& inputs, uint64_t seed = 0);

}  // namespace vernier
