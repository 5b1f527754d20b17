// A TensorRT engine as text, in the peer's form.
#pragma once

#include <string>

#include "record/engine_record.h"

namespace vernier {

struct EngineTextOptions {
  bool layers = false;
  bool attributes = false;  ///< origin and tactic of each layer; needs `layers`
};

std::string FormatEngine(const EngineRecord& engine, const EngineTextOptions& options);

}  // namespace vernier
