// What `inspect model` shows, of which not all options say something.
#pragma once

#include <cstdint>

#include "options/table/parsed_args.h"
#include "util/log/log.h"
#include "vernier/status.h"

namespace vernier {

enum class InspectedSubject : uint8_t {
  kGraph,    ///< of an ONNX model
  kNetwork,  ///< that TensorRT's parser makes of one
  kEngine,
};

/// kInvalidArgument for an option that says nothing of this subject; a warning for one that has no
/// effect.
Status CheckSubject(const ParsedArgs& args, InspectedSubject subject, Logger& log);

}  // namespace vernier
