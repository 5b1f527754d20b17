// What a file that is not an ONNX model seems to be instead.
#pragma once

#include <string>
#include <string_view>

namespace vernier {

/// A clause for the end of a sentence, such as "it looks like a zip archive (a PyTorch checkpoint
/// or .npz?)". Empty when the first bytes say nothing. Only the first 512 bytes are read.
std::string DescribeForeignFile(std::string_view bytes);

}  // namespace vernier
