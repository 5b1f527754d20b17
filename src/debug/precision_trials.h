// A model in which some nodes stay in a higher precision, in the form that the check needs: a model
// with casts, an engine, or a TensorRT runner that is given their names.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "debug/debug_session.h"
#include "debug/live_run.h"
#include "model/edit/onnx_save.h"
#include "surgeon/asked_sets.h"
#include "surgeon/editable_model.h"
#include "surgeon/mixed_precision.h"
#include "util/files/scratch_folder.h"
#include "util/log/log.h"
#include "vernier/run_plan.h"
#include "vernier/status.h"

namespace vernier {

/// What TensorRT is requested to do, if it takes part.
struct EngineSettings {
  /// Its session options and its place are given to TensorRT runners.
  RunnerPlan runner;
  Status fault;  ///< why they cannot be given: reported where there is such a runner
  std::vector<std::string> flags;  ///< of these, as they were given: for nothing without an engine
  std::vector<std::string> lower;  ///< the flags that permit a precision below float32, but fp16's
  bool fp16 = false;               ///< its flag is given
  /// Builds an engine at its option "save_engine"; absent where iterations make no engines.
  std::optional<RunPlan> build;
  /// The command line that builds an engine from such a runner's model and options, with these
  /// precisions of layers and timings from this file, if it has a name. Null: none is shown.
  std::function<std::string(const RunnerPlan& runner, const std::vector<std::string>& layers,
                            const std::string& timings, const std::string& output)>
      build_command;
};

class PrecisionTrials {
 public:
  /// All must outlive it.
  struct Setting {
    const std::string& path;    ///< of the model
    const std::string& higher;  ///< the precision that nodes are kept in
    const SaveOnnxOptions& save;
    const EngineSettings& engine;
    const EditableModel& model;
    const std::vector<LowerableNode>& nodes;
    DebugSession& session;
    Logger& log;
  };

  /// Finds out who takes part, and starts TensorRT if it does. kInvalidArgument, kUnimplemented, as
  /// Await(), where it does not.
  static Result<std::unique_ptr<PrecisionTrials>> Begin(const Setting& setting);

  /// Makes of the plan of a run what the unchanged model is run with.
  Status PrepareReference(RunPlan& plan);

  /// Waits for TensorRT, whose release decides how it is given precisions. kInvalidArgument,
  /// kUnimplemented: options that do not go together, or not with this release. A TensorRT that is
  /// not there is for the check to report.
  Status Await();

  /// Does our own check run the model with casts in ONNX Runtime?
  bool HidesOverflow() const { return hides_overflow_; }

  /// Does the check run what TensorRT builds?
  bool BuildsEngines() const { return engine_runner_.has_value(); }

  /// Is TensorRT given the layers to hold, after Await?
  bool HoldsLayers() const { return by_layers_; }

  /// It must outlive what it returns.
  DebugTrial For(const NodeSet& kept);

  /// Writes the model with casts.
  Status Save(const NodeSet& kept, const std::string& path, Durability durability) const;

  /// Logs, for nodes with which the check passed, whether TensorRT obeyed, and how to build an
  /// engine with them; `model` is where Save wrote them, or empty.
  void LogEngine(const NodeSet& kept, const std::string& model);

 private:
  explicit PrecisionTrials(const Setting& setting)
      : s_(setting), fingerprints_(setting.model.now()) {}

  enum class Target : uint8_t { kModel, kRunners, kEngine };
  // What is known of the engine with which a set was checked.
  struct Built {
    std::vector<std::string> asked, disobeyed;
  };

  Status FindTarget();
  Status StartTensorRt(const RunPlan& plan, const RunnerPlan& builds);
  void LogUnused() const;
  Result<RunPlan> PlanOfCheck();
  Status GiveOptions(RunnerPlan& runner) const;
  Status CheckPrecisions() const;
  Status Change(const NodeSet& kept, RunPlan& plan);
  void SetPrecisions(const NodeSet& kept, RunnerPlan& runner) const;
  Status Build(const NodeSet& kept, const std::string& path);
  void Remember(const std::vector<RunnerRecord>& runners);
  void LogCommand(const RunnerPlan& runner, const std::vector<std::string>& layers,
                  const std::string& model) const;
  void LogDisobeyed(const Built& built) const;
  const std::atomic<int>& interrupted() const { return s_.session.check().interrupted(); }
  std::vector<std::string> OutputsOf(const NodeSet& kept) const;

  const Setting s_;
  const Fingerprints fingerprints_;
  Target target_ = Target::kModel;
  bool by_layers_ = false;  ///< TensorRT is given layers: it does not obey the types of a model
  std::unique_ptr<LiveRun> own_;
  LiveRun* live_ = nullptr;
  bool hides_overflow_ = false;
  std::optional<ScratchFolder> folder_;
  ExecutionPlan execution_;
  std::optional<RunnerPlan> engine_runner_;  ///< the first that builds engines
  std::string version_;
  NodeSet current_;
  std::map<NodeSet, Built> built_;
};

}  // namespace vernier
