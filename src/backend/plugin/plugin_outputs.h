// The outputs of a plug-in: checked, and sent or kept in the worker.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backend/plugin/device_tensors.h"
#include "backend/plugin/plugin_host.h"
#include "backend/wire/messages.h"
#include "backend/wire/tensor_block.h"
#include "vernier/backend_abi.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

/// An input that is an output of an earlier run, which the worker has kept.
struct FedBack {
  std::string name;
  Dims dims;
  const OwnedTensor* tensor = nullptr;
};

/// For a step of `session` that was requested before the previous one had its answer: which outputs
/// its inputs stand for (kOfLastStep). `kept` are those of the request. kInternal where there is
/// none.
Status ResolveLastStep(std::span<const std::string> kept, uint64_t session,
                       const DeviceTensors& tensors, DecodedBlock& feed);

/// The inputs of a step that stand for kept outputs. kInternal for one that is not kept, or is
/// another tensor than the step says.
Result<std::vector<FedBack>> FindFedBack(const DecodedBlock& feed, const DeviceTensors& kept);

/// Of all inputs in their order, wherever they lie, once FindFedBack() has found them.
Result<InputHashes> HashesOf(const DecodedBlock& feed, DeviceTensors& kept);

/// What a run gets in addition to tensors of the host, and which of its outputs stay here, under
/// handles of `session`: those on a device with kDevice, and those that are named.
struct RunPlaces {
  DeviceTensors& tensors;
  OutputPlace place = OutputPlace::kHost;
  uint64_t session = 0;
  NextFeed next_feed = {};  ///< may be empty
  std::vector<FedBack> fed_back = {};
  std::vector<std::string> kept = {};
};

struct OutputDestination {
  const RunPlaces& places;
  TensorBlockBuilder& builder;
  LentMemory* lent = nullptr;                ///< what the block may lie in
  std::span<const vn_tensor* const> inputs;  ///< of the run
  uint32_t feeds_back = 0;                   ///< VN_FEEDS_BACK_*
  std::shared_ptr<const void> memory;        ///< of the host, which outputs may lie in; may be null
};

Status BadTensor(const vn_tensor& t, std::string_view what);

/// kBackend for a shape that cannot be read.
Status CheckShape(const vn_tensor& t);

/// Checks what the plug-in says about an output, and sends or keeps it; `output` becomes null when
/// it is kept. What is added must stay valid until the builder has finished.
Status AddOutput(vn_tensor*& output, DType declared, const OutputDestination& to);

}  // namespace vernier
