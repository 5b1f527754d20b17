// Replacing fields deep inside an ONNX file: the length prefixes of the messages around them are
// rewritten, everything else is passed on as views, unread.
#pragma once

#include <string_view>
#include <vector>

#include "model/onnx/byte_pieces.h"

namespace vernier {

/// Puts `replacement` in the place of one whole field (tag to end), or, when `place` is empty,
/// before the field that starts there.
struct WirePatch {
  std::string_view place;  ///< a view into the file
  BytePieces replacement;
};

/// The file with the patches applied; they may come in any order but must not overlap. `file` is a
/// ModelProto that OnnxModel accepted and must outlive the result. kInternal for a place that is
/// not a field.
Result<BytePieces> ApplyPatches(std::string_view file, std::vector<WirePatch> patches);

}  // namespace vernier
