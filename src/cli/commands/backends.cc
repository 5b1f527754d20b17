#include <algorithm>
#include <atomic>
#include <cstdio>
#include <memory>
#include <vector>

#include "backend/backend_path.h"
#include "backend/worker.h"
#include "cli/commands/command_start.h"
#include "cli/commands/commands.h"

namespace vernier {
namespace {

// What frameworks log while they load is not for a list.
class NoLog final : public Logger {
 public:
  bool Enabled(Severity) const override { return false; }
  void Write(Severity, std::string_view, LogColor, bool) override {}
  void Indent(int) override {}
};

// A process of its own for each: a framework that crashes while loading is one line of the list.
Result<BackendInfo> Probe(const BackendFile& file) {
  static const std::atomic<int> kNotInterrupted{0};
  NoLog log;
  WorkerOptions options;
  options.load.plugin_paths = {file.path};
  options.interrupted = &kNotInterrupted;
  VERNIER_ASSIGN_OR_RETURN(const std::unique_ptr<Worker> worker,
                           Worker::Start(std::move(options), log));
  return worker->AwaitLoad();
}

}  // namespace

int BackendsCommand(std::span<const std::string> words, const Invocation& invocation) {
  const CommandStart start = StartCommand(*FindCommand("backends"), words, invocation);
  if (start.exit_code) return *start.exit_code;
  std::vector<std::string> dirs;
  for (const std::span<const std::string> more : start.args.Occurrences("backend_dir")) {
    dirs.insert(dirs.end(), more.begin(), more.end());
  }
  std::vector<std::string> usable;
  for (const BackendFile& file : ListBackends(BackendSearchPath(dirs))) {
    const Result<BackendInfo> info = Probe(file);
    if (!info.ok()) {
      std::printf("%-12s not usable: %s\n", file.name.c_str(), info.status().message().c_str());
      continue;
    }
    usable.push_back(file.name);
    std::printf("%-12s %-10s %s\n", file.name.c_str(), info->framework_version.c_str(),
                info->framework_path.c_str());
  }
  bool complete = true;
  for (const std::string& name : start.args.List("require")) {
    if (std::find(usable.begin(), usable.end(), name) != usable.end()) continue;
    std::fprintf(stderr, "backend '%s' is required and cannot be used\n", name.c_str());
    complete = false;
  }
  return complete ? 0 : 5;
}

}  // namespace vernier
