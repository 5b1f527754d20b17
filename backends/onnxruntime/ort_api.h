// ONNX Runtime's C API, found at run time. The API is append-only: a newer library serves the
// version that these headers ask for.
#pragma once

#include <onnxruntime_c_api.h>

#include <memory>
#include <string>

#include "vernier/status.h"

namespace vernier::ort {

struct Api {
  const OrtApi* table = nullptr;
  std::string version;
  std::string path;
  OrtAllocator* allocator = nullptr;
  bool logs_to_host = false;
  OrtEnv* env = nullptr;  // never released: the library outlives every session
};

/// The message of an OrtStatus, which is released. ok when it is null.
Status Take(const Api& api, OrtStatus* status);

/// Deleters of ORT objects need the table.
template <typename T>
using Handle = std::unique_ptr<T, void (*)(T*)>;

}  // namespace vernier::ort
