// Finding the user's libtorch, and its version, without loading it.
#pragma once

#include <string>
#include <string_view>

#include "vernier/status.h"

namespace vernier {

struct TorchLibrary {
  std::string path;     ///< of libtorch.so
  std::string version;  ///< "1.13.0", "2.11.0+cu130"
};

/// Where PyTorch is: `option` (--torch-lib), $TORCH_ROOT, Python environments, the system's library
/// folders. The first one counts, whatever its version: it is the one that the user's Python has
/// too. kUnavailable when there is none, or its version cannot be determined.
Result<TorchLibrary> FindTorch(std::string_view option);

}  // namespace vernier
