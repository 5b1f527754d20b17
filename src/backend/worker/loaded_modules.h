// What a Python worker has imported by now.
#pragma once

#include <string>
#include <vector>

#include "backend/worker/worker.h"
#include "vernier/status.h"

namespace vernier {

struct LoadedModule {
  std::string name;     ///< "numpy", "konst"
  std::string version;  ///< of an installed package; else empty
  std::string content;  ///< a hash of the file of any other module; else empty
  std::string path;     ///< of that file; else empty

  bool operator==(const LoadedModule&) const = default;
  auto operator<=>(const LoadedModule&) const = default;
};

/// Modules of Python itself and of vernier are left out, and packages that say no version. For
/// Python workers alone; errors as of Worker::Ask.
Result<std::vector<LoadedModule>> ListLoadedModules(Worker& worker);

}  // namespace vernier
