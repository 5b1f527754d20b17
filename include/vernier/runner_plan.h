// The part of a run's plan that describes runners: their models, their backends, and how they are
// run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "vernier/dim_size.h"
#include "vernier/number_rule.h"

namespace vernier {

/// Which model a runner takes, and how it is changed before the runner sees it.
struct ModelPlan {
  std::string path;
  std::string type;                          ///< "onnx", "engine", ...: resolved by the planner
  std::string external_data_dir;             ///< empty: the model's own folder
  bool strict_external_data = false;         ///< refuse links and hard links to weights
  std::vector<std::string> outputs;          ///< --onnx-outputs: replace the graph's outputs
  std::vector<std::string> exclude_outputs;  ///< --onnx-exclude-outputs: applied last
  std::vector<std::string> outputs_by_type;  ///< --onnx-outputs-by-type
  std::string save_path;                     ///< --save-onnx; empty: do not save
  /// --save-external-data: where the saved model's weights go, relative to it; empty: beside it.
  std::optional<std::string> save_external_data;
  uint64_t save_external_threshold = 1024;  ///< bytes; smaller tensors stay in the model
  bool save_threshold_given = false;
  bool save_one_file = true;          ///< all external tensors in one file
  bool print_summary = false;         ///< --onnx-graphsurgeon: the graph in a few lines
  bool ignore_external_data = false;  ///< structure only: weights are not looked for
  bool shape_inference = false;       ///< --shape-inference, in the Python worker
  bool symbolic_inference = true;     ///< by ONNX Runtime's tool where it is installed
  bool fp_to_fp16 = false;            ///< --fp-to-fp16: float32 becomes float16
  /// Then weights beyond 10000 become 10000, as in Polygraphy, instead of those beyond 65504
  /// keeping their nodes in float32.
  bool fp16_clamps = false;
  bool skips_unknown_types = false;  ///< of outputs_by_type, as Polygraphy does, with a word

  bool edited() const {
    return !outputs.empty() || !exclude_outputs.empty() || !outputs_by_type.empty();
  }

  /// Calls `field(name, value)` for each field that is part of the file of a run, in its order.
  template <typename Plan, typename Fields>
  static void EachField(Plan& model, Fields& field) {
    field("path", model.path);
    field("type", model.type);
    field("external_data_dir", model.external_data_dir);
    field("strict_external_data", model.strict_external_data);
    field("outputs", model.outputs);
    field("exclude_outputs", model.exclude_outputs);
    field("outputs_by_type", model.outputs_by_type);
    field("save_path", model.save_path);
    field("save_external_data", model.save_external_data);
    field("save_external_threshold", model.save_external_threshold);
    field("save_threshold_given", model.save_threshold_given);
    field("save_one_file", model.save_one_file);
    field("print_summary", model.print_summary);
    field("ignore_external_data", model.ignore_external_data);
    field("shape_inference", model.shape_inference);
    field("symbolic_inference", model.symbolic_inference);
    field("fp_to_fp16", model.fp_to_fp16);
    field("fp16_clamps", model.fp16_clamps);
    field("skips_unknown_types", model.skips_unknown_types);
  }
};

/// What runs a framework that has both a plug-in and a module for the user's Python.
enum class RunnerPlace : uint8_t { kAuto, kPlugin, kPython };

/// One runner: a backend with its options and its model.
struct RunnerPlan {
  std::string name;     ///< in log lines and saved results
  std::string backend;  ///< "onnxruntime", "openvino", ...
  /// Options of the backend (loading it) and of the session; keys may repeat.
  std::vector<std::pair<std::string, std::string>> backend_options;
  std::vector<std::pair<std::string, std::string>> session_options;
  /// Keys that --BACKEND.OPTION gave: the plug-in must know them.
  std::vector<std::string> plugin_options;
  RunnerPlace place = RunnerPlace::kAuto;
  ModelPlan model;
  // Requested from backends that support them (roles of options in backend_abi.h); others ignore
  // them. Set by `vernier profile` for its own sessions; no part of a run's file.
  bool alone = false;       ///< no other runner computes meanwhile
  std::string layer_times;  ///< file for the times of single layers; empty: they are not measured
  /// "NAME=value", of its worker beside those of the plan: which device it sees (--devices). Set
  /// where the worker is started; no part of a run's file.
  std::vector<std::string> environment;
  // For profiles of TensorRT, which must accept the shapes of the feeds.
  std::vector<DimSize> dims;  ///< --dim
  bool equal_names = true;    ///< dimensions of one name have one size

  template <typename Plan, typename Fields>
  static void EachField(Plan& runner, Fields& field) {
    field("name", runner.name);
    field("backend", runner.backend);
    field("model", runner.model);
    field("backend_options", runner.backend_options);
    field("session_options", runner.session_options);
    field("plugin_options", runner.plugin_options);
    field("place", runner.place);
    field("dims", runner.dims);
    field("equal_names", runner.equal_names);
  }
};

/// --workers-per-runner.
inline constexpr int64_t kMostWorkersPerRunner = 64;
/// --batch-feeds.
inline constexpr int64_t kMostBatchFeeds = 65536;

/// How runners are run.
struct ExecutionPlan {
  bool sequential = false;      ///< one runner at a time
  bool parallel = false;        ///< --parallel: all runners infer an iteration at the same time
  bool use_subprocess = false;  ///< a worker for each runner, also for runners of one framework
  bool in_process = false;      ///< --in-process: plug-ins run in threads of this process
  /// --workers-per-runner: every runner is opened this many times, and this many iterations are
  /// inferred at the same time.
  int64_t workers_per_runner = 1;
  /// --batch-feeds: this many consecutive feeds are one inference. 1: each is an inference of its
  /// own, and needs no first dimension.
  int64_t batch_feeds = 1;
  /// --devices: "cuda:0", ...: one set of all workers of a runner for each device, which sees only
  /// that device. "all" by itself are those that the driver has. Empty: workers see what this
  /// process does.
  std::vector<std::string> devices;
  int64_t warm_up = 0;                    ///< inferences of the first feed before it counts
  double timeout_s = 0;                   ///< seconds that a single request may take; 0: no limit
  std::vector<std::string> backend_dirs;  ///< searched for plug-ins in this order, before others
  std::string python;                     ///< --python: the interpreter of scripts; empty: found
  bool hash_inputs = false;  ///< workers report hashes of the bytes that their runners receive
  /// "NAME=value", for workers beside the parent's own; of two for one name the last counts.
  std::vector<std::string> environment;

  /// All workers of a runner.
  size_t WorkersOfRunner() const {
    const size_t on_each = workers_per_runner < 1 ? 1 : static_cast<size_t>(workers_per_runner);
    return devices.empty() ? on_each : on_each * devices.size();
  }

  template <typename Plan, typename Fields>
  static constexpr void EachField(Plan& execution, Fields& field) {
    field("sequential", execution.sequential);
    field("parallel", execution.parallel);
    field("use_subprocess", execution.use_subprocess);
    field("in_process", execution.in_process);
    field("workers_per_runner", execution.workers_per_runner);
    field("batch_feeds", execution.batch_feeds);
    field("devices", execution.devices);
    field("warm_up", execution.warm_up, kCount);
    field("timeout_seconds", execution.timeout_s);
    field("backend_dirs", execution.backend_dirs);
    field("python", execution.python);
    field("hash_inputs", execution.hash_inputs);
    field("environment", execution.environment);
  }
};

}  // namespace vernier
