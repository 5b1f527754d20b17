// Loads a backend to see whether it can be used, in a process of its own: one that crashes while
// loading is one line of a list.
#pragma once

#include <functional>
#include <future>
#include <string>
#include <vector>

#include "backend/known/backend_path.h"
#include "backend/wire/messages.h"
#include "vernier/status.h"

namespace vernier {

struct ProbedBackend {
  Result<BackendInfo> info;  ///< with the framework that was found, or why it cannot be used
  bool ran_out_of_time = false;
};

/// The wait for a framework ends after a minute.
ProbedBackend ProbePlugin(const BackendFile& file);

/// Plug-ins that are all being loaded, each in a process of its own.
class PluginProbes {
 public:
  /// Begins with all of them. `probe` is called by threads of its own.
  explicit PluginProbes(std::vector<BackendFile> files,
                        std::function<ProbedBackend(const BackendFile&)> probe = ProbePlugin);
  PluginProbes(const PluginProbes&) = delete;
  PluginProbes& operator=(const PluginProbes&) = delete;

  const std::vector<BackendFile>& files() const { return files_; }

  /// The result for files()[index], once it is known. One that timed out beside others is tried
  /// again, alone. After a long wait a line on stderr says what is being loaded.
  Result<BackendInfo> Await(size_t index);

 private:
  const std::vector<BackendFile> files_;
  const std::function<ProbedBackend(const BackendFile&)> probe_;
  std::vector<std::future<ProbedBackend>> probes_;
};

/// The interpreter of scripts, with its NumPy; or with a framework's module of this name. `python`
/// is what --python names, or empty.
Result<BackendInfo> ProbePython(const std::string& python, const std::string& module = {});

}  // namespace vernier
