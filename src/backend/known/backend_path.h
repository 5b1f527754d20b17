// Where plug-ins are found: files named libvernier_backend_<name>.so along a path. Listing reads
// file names only; nothing is loaded.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "vernier/status.h"

namespace vernier {

struct BackendFile {
  std::string name;
  std::string path;
};

/// The search path: `extra` (--backend-dir), then $VERNIER_BACKEND_PATH (colon-separated), then
/// lib/vernier/backends beside the executable's own folder.
std::vector<std::string> BackendSearchPath(const std::vector<std::string>& extra);

/// All plug-ins along the path, sorted by name; the first folder that has a name wins.
std::vector<BackendFile> ListBackends(const std::vector<std::string>& search_path);

/// The plug-in of that name; or, where there is none, the plug-ins NAME_<major version> of a
/// framework whose releases each need their own, newest first. kUnavailable, saying where it was
/// looked for, when there is neither.
Result<std::vector<std::string>> FindBackend(std::string_view name,
                                             const std::vector<std::string>& search_path);

}  // namespace vernier
