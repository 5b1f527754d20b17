// Loads a backend to see whether it can be used, in a process of its own: one that crashes while
// loading is one line of a list.
#pragma once

#include <future>
#include <string>
#include <vector>

#include "backend/backend_path.h"
#include "backend/messages.h"
#include "vernier/status.h"

namespace vernier {

/// The plug-in with the framework that it finds, or why it cannot be used. A framework that has not
/// loaded after a minute is given up.
Result<BackendInfo> ProbePlugin(const BackendFile& file);

/// Plug-ins that are all being loaded, each in a process of its own.
class PluginProbes {
 public:
  /// Begins with all of them.
  explicit PluginProbes(std::vector<BackendFile> files);
  PluginProbes(const PluginProbes&) = delete;
  PluginProbes& operator=(const PluginProbes&) = delete;

  const std::vector<BackendFile>& files() const { return files_; }

  /// What ProbePlugin says of files()[index], once it is known. Who waits long is told on stderr
  /// what is being loaded.
  Result<BackendInfo> Await(size_t index);

 private:
  const std::vector<BackendFile> files_;
  std::vector<std::future<Result<BackendInfo>>> probes_;
};

/// The interpreter of scripts, with its NumPy; or with a framework's module of this name. `python`
/// is what --python names, or empty.
Result<BackendInfo> ProbePython(const std::string& python, const std::string& module = {});

}  // namespace vernier
