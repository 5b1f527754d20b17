// One engine, ready to run.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "context_memory.h"
#include "cuda_device.h"
#include "cuda_graph.h"
#include "debug_tensors.h"
#include "engine_tensors.h"
#include "opened_engine.h"
#include "tensor_layout.h"
#include "trt_library.h"
#include "vernier/backend_sdk.hpp"

namespace vernier::trt {

class TrtSession final : public sdk::Session {
 public:
  /// Opens the engine (see OpenEngine), makes it ready to run, and reports on it. Errors as
  /// OpenEngine and ReadTensors; kInvalidArgument for an optimization profile that it lacks.
  static Result<std::unique_ptr<sdk::Session>> Open(const Shared& shared, const vn_model& model,
                                                    const sdk::Options& options);
  ~TrtSession() override;

  std::span<const sdk::TensorSpec> inputs() const override { return input_specs_; }
  std::span<const sdk::TensorSpec> outputs() const override { return output_specs_; }
  sdk::SessionInfo info() const override { return {precision_, shared_.device->name()}; }
  std::span<const sdk::NotExposed> not_exposed() const override { return opened_.not_exposed; }
  Result<sdk::RunOutcome> Run(std::span<const vn_tensor* const> inputs) override;
  uint32_t FeedsBack() const override;

 private:
  // An input or output whose elements do not lie in their linear order.
  using Layout = std::optional<TensorLayout>;
  // Where an input lies for an inference.
  struct Place {
    std::shared_ptr<cuda::DeviceMemory> buffer;  ///< only ever grows
    std::shared_ptr<std::byte> pinned;           ///< a small input on its way to the device
    size_t pinned_size = 0;
  };
  struct Input {
    std::string name;
    bool host = false;    ///< see EngineTensor
    bool narrow = false;  ///< the same
    Layout layout;
    Place now, next;
    std::vector<std::byte> host_bytes;
    std::optional<std::vector<int64_t>> shape;  ///< that TensorRT was given last
    const void* address = nullptr;              ///< the same, of the device's memory

    bool as_it_is() const { return !host && !narrow && !layout; }
  };
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
  // The inputs of the next inference, which are copied while this one computes.
  struct NextInputs {
    cuda::Stream stream = nullptr;
    cuda::Event copied = nullptr;
    bool usable = true;
    bool sent = false;

    void End(const CudaDevice& device);
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
  Status SetInput(Input& input, const vn_tensor& tensor);
  Status SetShape(Input& input, const vn_tensor& tensor);
  Status SetAddress(Input& input, void* address);
  Status SetFedBack(Input& input, const vn_tensor& tensor);
  Status CopyInput(Place& place, const void* bytes, size_t size, cuda::Stream stream);
  Status TakeInputs(std::span<const vn_tensor* const> inputs);
  bool HasShapesOf(std::span<const vn_tensor* const> inputs) const;
  Status CopyNextInputs(std::span<const vn_tensor* const> inputs);
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
  std::array<Marks, 2> marks_;  ///< the first are those of the last inference
  NextInputs next_;
  std::optional<Flight> ahead_;            ///< the next inference, behind the present one
  std::optional<bool> outputs_are_fixed_;  ///< for the shapes that TensorRT was given last
  std::vector<Input> inputs_;
  std::vector<std::unique_ptr<Output>> outputs_;
  std::vector<sdk::TensorSpec> input_specs_;
  std::vector<sdk::TensorSpec> output_specs_;
  std::string precision_;
};

}  // namespace vernier::trt
