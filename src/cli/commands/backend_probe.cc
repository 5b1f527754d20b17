#include "cli/commands/backend_probe.h"

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <memory>
#include <utility>

#include "backend/python_program.h"
#include "backend/worker.h"
#include "util/no_log.h"

namespace vernier {
namespace {

constexpr double kPatienceSeconds = 60;
constexpr std::string_view kOption = " (--timeout)";  // which a list has not
// Libraries that are in memory are loaded sooner; one of a gigabyte that is not can take a minute.
constexpr std::chrono::seconds kSilence{2};

Result<BackendInfo> Probe(WorkerOptions options) {
  static const std::atomic<int> kNotInterrupted{0};
  NoLog log;  // what frameworks say while they load is not for a list
  options.interrupted = &kNotInterrupted;
  options.timeout_s = kPatienceSeconds;
  VERNIER_ASSIGN_OR_RETURN(const std::unique_ptr<Worker> worker,
                           Worker::Start(std::move(options), log));
  Result<BackendInfo> info = worker->AwaitLoad();
  if (info.ok()) return info;
  std::string why = info.status().message();
  if (const size_t at = why.find(kOption); at != std::string::npos) why.erase(at, kOption.size());
  return Status(info.status().code(), std::move(why));
}

bool RanOutOfTime(const Status& status) {
  return status.message().find("no answer within") != std::string::npos;
}

}  // namespace

Result<BackendInfo> ProbePlugin(const BackendFile& file) {
  WorkerOptions options;
  options.load.plugin_paths = {file.path};
  return Probe(std::move(options));
}

PluginProbes::PluginProbes(std::vector<BackendFile> files) : files_(std::move(files)) {
  for (const BackendFile& file : files_) {
    probes_.push_back(std::async(std::launch::async, [&file] { return ProbePlugin(file); }));
  }
}

Result<BackendInfo> PluginProbes::Await(size_t index) {
  std::future<Result<BackendInfo>>& probe = probes_[index];
  // For whoever sits there; logs and scripts want the answer alone.
  if (::isatty(STDERR_FILENO) != 0 && probe.wait_for(kSilence) == std::future_status::timeout) {
    std::fprintf(stderr, "[I] Loading %s. What is not in memory yet is read from disk first\n",
                 files_[index].name.c_str());
  }
  Result<BackendInfo> info = probe.get();
  if (info.ok() || !RanOutOfTime(info.status())) return info;
  // Those beside it may have taken its time: once more, alone.
  for (const std::future<Result<BackendInfo>>& other : probes_) {
    if (other.valid()) other.wait();
  }
  return ProbePlugin(files_[index]);
}

Result<BackendInfo> ProbePython(const std::string& python, const std::string& module) {
  WorkerOptions options;
  VERNIER_ASSIGN_OR_RETURN(options.program, PythonWorkerProgram(python));
  options.load.options.emplace_back(module.empty() ? "probe" : "module",
                                    module.empty() ? "1" : module);
  return Probe(std::move(options));
}

}  // namespace vernier
