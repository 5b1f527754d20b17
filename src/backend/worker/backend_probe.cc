#include "backend/worker/backend_probe.h"

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <memory>
#include <utility>

#include "backend/known/python_program.h"
#include "backend/worker/worker.h"
#include "util/log/no_log.h"

namespace vernier {
namespace {

constexpr double kPatienceSeconds = 60;
// Libraries that are in memory are loaded sooner; one of a gigabyte that is not can take a minute.
constexpr std::chrono::seconds kSilence{2};

ProbedBackend Probe(WorkerOptions options) {
  static const std::atomic<int> kNotInterrupted{0};
  NoLog log;  // what frameworks say while they load is not for a list
  options.interrupted = &kNotInterrupted;
  options.timeout_s = kPatienceSeconds;
  options.timeout_option.clear();
  const Result<std::unique_ptr<Worker>> worker = Worker::Start(std::move(options), log);
  if (!worker.ok()) return {worker.status()};
  Result<BackendInfo> info = (*worker)->AwaitLoad();
  return {std::move(info), (*worker)->ran_out_of_time()};
}

}  // namespace

ProbedBackend ProbePlugin(const BackendFile& file) {
  WorkerOptions options;
  options.load.plugin_paths = {file.path};
  return Probe(std::move(options));
}

PluginProbes::PluginProbes(std::vector<BackendFile> files,
                           std::function<ProbedBackend(const BackendFile&)> probe)
    : files_(std::move(files)), probe_(std::move(probe)) {
  for (const BackendFile& file : files_) {
    probes_.push_back(std::async(std::launch::async, [this, &file] { return probe_(file); }));
  }
}

Result<BackendInfo> PluginProbes::Await(size_t index) {
  std::future<ProbedBackend>& probe = probes_[index];
  // For whoever sits there; logs and scripts want the answer alone.
  if (::isatty(STDERR_FILENO) != 0 && probe.wait_for(kSilence) == std::future_status::timeout) {
    std::fprintf(stderr, "[I] Loading %s. This takes longer if it has to be read from disk\n",
                 files_[index].name.c_str());
  }
  ProbedBackend probed = probe.get();
  if (!probed.ran_out_of_time || files_.size() == 1) return probed.info;
  // Those beside it may have taken its time: once more, alone.
  for (const std::future<ProbedBackend>& other : probes_) {
    if (other.valid()) other.wait();
  }
  return probe_(files_[index]).info;
}

Result<BackendInfo> ProbePython(const std::string& python, const std::string& module) {
  WorkerOptions options;
  VERNIER_ASSIGN_OR_RETURN(options.program, PythonWorkerProgram(python));
  options.load.options.emplace_back(module.empty() ? "probe" : "module",
                                    module.empty() ? "1" : module);
  return Probe(std::move(options)).info;
}

}  // namespace vernier
