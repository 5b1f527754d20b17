// The fields of one message, without what is nested in them: for edits that need to know where each
// one lies.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "model/onnx/wire_reader.h"

namespace vernier {

struct WireField {
  uint32_t number = 0;
  WireType type = WireType::kVarint;
  std::string_view field;    ///< from tag to end: the place of a WirePatch
  std::string_view content;  ///< of kBytes
  uint64_t value = 0;        ///< of kVarint
};

/// In the file's order. `message` is part of a file that OnnxModel accepted.
std::vector<WireField> FieldsOf(std::string_view message, OnnxMessage type);

}  // namespace vernier
