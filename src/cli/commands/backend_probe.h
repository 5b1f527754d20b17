// Loads a backend to see whether it can be used, in a process of its own: one that crashes while
// loading is one line of a list.
#pragma once

#include <string>

#include "backend/backend_path.h"
#include "backend/messages.h"
#include "vernier/status.h"

namespace vernier {

/// The plug-in with the framework that it finds, or why it cannot be used. A framework that has not
/// loaded after a minute is given up.
Result<BackendInfo> ProbePlugin(const BackendFile& file);

/// The interpreter of scripts, with its NumPy; or with a framework's module of this name. `python`
/// is what --python names, or empty.
Result<BackendInfo> ProbePython(const std::string& python, const std::string& module = {});

}  // namespace vernier
