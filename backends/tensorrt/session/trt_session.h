// One engine, ready to run.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "tensorrt/builder/debug_tensors.h"
#include "tensorrt/engine/engine_tensors.h"
#include "tensorrt/engine/opened_engine.h"
#include "tensorrt/engine/tensor_layout.h"
#include "tensorrt/library/cuda_device.h"
#include "tensorrt/library/trt_library.h"
#include "tensorrt/session/context_memory.h"
#include "tensorrt/session/cuda_graph.h"
#include "tensorrt/session/session_inputs.h"
#include "vernier/backend_sdk.hpp"

namespace vernier::trt {

class TrtSession final : public sdk::Session {
 public:
  /// Opens the engine (see OpenEngine), makes it ready to run, and reports on it. Errors as
  /// OpenEngine and ReadTensors; kInvalidArgument for an optimization profile that it lacks.
  static Result<std::unique_ptr<sdk::Session>> Open(const Shared& shared, const vn_model& model,
                                                    const sdk::Options& options);
  ~TrtSession() override;

  std::span<const sdk::TensorSpec> inputs() const override { return inputs_.specs(); }
  std::span<const sdk::TensorSpec> outputs() const override { return output_specs_; }
  sdk::SessionInfo info() const override { return {precision_, shared_.device->name()}; }
  std::span<const sdk::NotExposed> not_exposed() const override { return opened_.not_exposed; }
  Result<sdk::RunOutcome> Run(std::span<const vn_tensor* const> inputs) override;
  uint32_t FeedsBack() const override { return inputs_.FeedsBack(); }

 private:
  // An output whose elements do not lie in their linear order.
  using Layout = std::optional<TensorLayout>;
  // Where an inference begins and ends on the stream. Copies mean the same events.
  struct Marks {
    cuda::Event begun = nullptr;
    cuda::Event ended = nullptr;

    Status Make(const CudaDevice& device);
    void End(const CudaDevice& device);
  };
  // An inference that is on its way. Its outputs may be read when it has ended.
  struct Flight {
    Marks marks;
    std::vector<sdk::OutputTensor> outputs;
  };
  class Output;
  struct StreamEnd {
    const CudaDevice* device = nullptr;
    void operator()(cuda::Stream stream) const { device->DestroyStream(stream); }
  };
  // What the engine runs in. Ends in the device's context.
  struct ActiveContext {
    ContextMemory memory;
    Owned<nvinfer1::IExecutionContext> context;
    std::unique_ptr<std::remove_pointer_t<cuda::Stream>, StreamEnd> stream;
  };

  TrtSession(const Shared& shared, OpenedEngine opened, ActiveContext active,
             std::vector<EngineTensor> tensors);
  static Result<ActiveContext> Activate(nvinfer1::ICudaEngine& engine, const Shared& shared,
                                        const sdk::Options& options);
  Status Connect(const sdk::Options& options);
  void Report(const sdk::Options& options);
  std::string RecordingKey() const;
  Status Enqueue();
  Result<Flight> Launch(std::span<const vn_tensor* const> inputs);
  std::span<const vn_tensor* const> AwaitNextInputs(const Flight& flight) const;
  bool MayLaunchAhead(std::span<const vn_tensor* const> inputs);
  void PrepareNext(const Flight& flight);
  Result<sdk::OutputTensor> Fetch(Output& output);
  Status AddDebugTensors(std::vector<sdk::OutputTensor>& outputs);
  Status CopyOutput(Output& output, sdk::OutputTensor& tensor);

  Shared shared_;
  OpenedEngine opened_;
  Owned<nvinfer1::IExecutionContext> context_;
  ContextMemory context_memory_;
  std::unique_ptr<DebugTensors> debug_;
  bool has_debug_tensors_ = false;    ///< one has come
  std::unique_ptr<CudaGraph> graph_;  ///< with --cuda-graphs, until one cannot be recorded
  std::string last_key_;
  cuda::Stream stream_;
  SessionInputs inputs_;
  std::array<Marks, 2> marks_;             ///< the first are those of the last inference
  std::optional<Flight> ahead_;            ///< the next inference, behind the present one
  std::optional<bool> outputs_are_fixed_;  ///< for the shapes that TensorRT was given last
  std::vector<std::unique_ptr<Output>> outputs_;
  std::vector<sdk::TensorSpec> output_specs_;
  std::string precision_;
};

}  // namespace vernier::trt
