// How a session comes to its engine: built from an ONNX model, or read from a file.
#pragma once

#include <memory>
#include <vector>

#include "tensorrt/builder/kept_builder.h"
#include "tensorrt/builder/network_edits.h"
#include "tensorrt/engine/engine_report.h"
#include "tensorrt/library/cuda_device.h"
#include "tensorrt/library/trt_library.h"
#include "tensorrt/library/trt_logger.h"
#include "vernier/backend_sdk.hpp"

namespace vernier::trt {

/// What a session shares with its backend.
struct Shared {
  const Library& library;
  KeptBuilder& builder;
  std::shared_ptr<CudaDevice> device;
  Logger& logger;
};

struct OpenedEngine {
  Owned<nvinfer1::IRuntime> full_runtime;  ///< that loaded `runtime`, with --load-runtime
  Owned<nvinfer1::IRuntime> runtime;
  Owned<nvinfer1::ICudaEngine> engine;
  // What only the build knows: nothing of an engine from a file.
  std::vector<sdk::NotExposed> not_exposed = {};
  std::vector<AskedPrecision> asked = {};
  BuildFacts build = {};

  /// To be called in the device's context, when nothing uses the engine any more.
  void End();
};

/// Builds the engine or deserializes its file, as `model` and the option "model_type" say, and
/// saves what the options ask for. Loads the plug-in libraries that they name. In the device's
/// context. Errors as BuildEngine; kMalformed for a file or a library that cannot be used.
Result<OpenedEngine> OpenEngine(const Shared& shared, const vn_model& model,
                                const sdk::Options& options);

}  // namespace vernier::trt
