// What a program that uses these libraries has of its own in a run: runners, loaders and comparison
// functions that it serves itself, workers that outlive the run.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace vernier {

class Worker;
class WorkerSource;

/// Workers by what they were loaded for.
using KeptWorkers = std::map<std::string, std::shared_ptr<Worker>>;

struct Embedder {
  /// A connected socket, the run's from then on, at whose other end the program serves the protocol
  /// of Python workers; -1: it cannot.
  std::function<int()> connect;
  /// The plan's scripts (loader, comparison, post-processing) are the program's objects, too.
  bool serves_scripts = false;
  /// The observer keeps outputs: none may stay in a worker.
  bool keeps_outputs = false;
  /// A runner that is not available (kUnavailable) ends the run before anything is fed; otherwise
  /// the others run without it. Runs with `sequential` open one runner after the other: there it
  /// changes nothing.
  bool needs_every_runner = false;
  /// Workers stay here, with the framework that they loaded, for runs to come. Their log is that of
  /// the run that started them, which has to outlive them. May be null.
  KeptWorkers* kept_workers = nullptr;
  /// Where workers come from instead of being started (worker_source.h). May be null; it must
  /// outlive what runs.
  WorkerSource* workers = nullptr;
};

/// Is that the path of such an object rather than that of a script? The Python package writes them.
inline bool IsCallersObject(std::string_view path) { return path.starts_with("<python "); }

/// The backend option of a runner (backend "python") that is such an object.
inline constexpr std::string_view kServedByCaller = "served_by_caller";

}  // namespace vernier
