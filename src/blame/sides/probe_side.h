// One runner that is opened again and again: with other tensors marked, or with other models.
#pragma once

#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "blame/sides/runtime_clock.h"
#include "model/onnx/byte_pieces.h"
#include "model/onnx/onnx_model.h"
#include "run/workers/runner_session.h"
#include "run/workers/worker_pool.h"
#include "util/log/log.h"
#include "vernier/blame_record.h"
#include "vernier/runner_plan.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

/// A session on its way: a thread of its own opens it, and feeds it if that is wanted.
class SessionAhead {
 public:
  struct Ready {
    std::unique_ptr<RunnerSession> session;
    TensorMap outputs;  ///< of the feed
  };

  /// Waits for it. Once.
  Result<Ready> Take();

 private:
  friend class ProbeSide;

  std::unique_ptr<RunnerSession> session_;
  std::future<Result<TensorMap>> outputs_;
};

class ProbeSide {
 public:
  /// `role` is added to the runner's name, so that each side has a worker of its own and a crash of
  /// one leaves the others alone.
  ProbeSide(const RunnerPlan& plan, const std::string& role, WorkerPool& pool, Logger& logger,
            RuntimeClock& clock);

  const RunnerPlan& plan() const { return plan_; }

  /// Starts the worker, which loads its framework in the meantime. It stays for all sessions, until
  /// one fails.
  void Start();

  /// Does each session build an engine, which takes long, and times kernels meanwhile? A plug-in
  /// that is not vernier's has said so once Backend() was asked.
  bool BuildsEngines() const { return builds_engines_; }

  /// What its backend can do. Waits for the framework that Start() loads; empty where it does not
  /// load, which shows when a session is opened.
  BackendInfo Backend();

  /// The graph that blame follows. kInvalidArgument for a model that is not ONNX.
  Result<std::shared_ptr<const OnnxModel>> ReadModel() const;

  /// The model as it is, with `more` options of the session, or with these tensors as its only
  /// outputs; of a model that is not ONNX, beside its outputs (MarksOf).
  Result<std::unique_ptr<RunnerSession>> OpenPlain(const OptionList& more = {});
  Result<std::unique_ptr<RunnerSession>> OpenMarked(const std::vector<std::string>& outputs);

  /// A model that was made of this runner's.
  Result<std::unique_ptr<RunnerSession>> Open(const ModelSource& model,
                                              const OptionList& more = {});

  /// The same, begun: what they do to other runners, and the caller, they do at once. The worker's
  /// own log waits for Take. `feed` has to last until then.
  Result<SessionAhead> OpenPlainAhead();
  Result<SessionAhead> OpenMarkedAhead(const std::vector<std::string>& outputs,
                                       const TensorMap& feed);

  /// A model made of parts of this runner's. `look` is shown it before it is opened.
  Result<std::unique_ptr<RunnerSession>> OpenParts(
      const BytePieces& model, std::vector<TensorInfo> inputs, std::vector<std::string> outputs,
      const std::function<void(const OnnxModel& model)>& look);

  /// One inference; the feed is made to fit the session's inputs, floats of another width too. The
  /// outputs of a runner that failed are its error.
  Result<TensorMap> Infer(RunnerSession& session, const TensorMap& feed);

  /// kMalformed where a run would refuse the feed for this session: names, types and shapes are not
  /// those of its inputs.
  static Status Takes(const RunnerSession& session, const TensorMap& feed);

  /// The same with a feed that has exactly the session's inputs.
  Result<TensorMap> InferAsIs(RunnerSession& session, const TensorMap& feed);

  /// A session for one inference, with these tensors as its only outputs; none: the model's own.
  Result<TensorMap> RunOnce(const std::vector<std::string>& outputs, const TensorMap& feed);

  /// Ends a session, if there is one.
  static void Close(std::unique_ptr<RunnerSession>& session);

  /// What closed sessions left in the worker's process goes back to the system.
  void GiveMemoryBack();

  /// Releases the worker; opening a session starts another.
  void End() { worker_.reset(); }

  /// What the worker's process holds now, in bytes; 0 where that is not known.
  uint64_t ResidentMemory() const;

 private:
  Result<std::shared_ptr<const ModelSource>> Prepare(const ModelPlan& plan);
  ModelPlan Marked(const std::vector<std::string>& outputs) const;
  Result<std::unique_ptr<RunnerSession>> NewSession();
  Result<SessionAhead> Ahead(std::shared_ptr<const ModelSource> model, const OptionList& more,
                             const TensorMap* feed);

  RunnerPlan plan_;
  WorkerPool& pool_;
  Logger& logger_;
  RuntimeClock& clock_;
  std::shared_ptr<Worker> worker_;
  uint64_t next_session_ = 0;
  bool builds_engines_;
};

/// BackendInfo::reference_rank of each side; all are started, and load their frameworks at the same
/// time.
std::vector<uint32_t> ReferenceRanks(std::deque<ProbeSide>& sides);

/// Open sessions are opened once for all feeds; each holds the model's weights.
enum class AfterUse { kKeepOpen, kClose };

/// The tensors of one side that are wanted for a batch. Usually one session has all of them; where
/// it cannot be opened or run with some, sets are halved until these are found.
class ProbeSessions {
 public:
  ProbeSessions(ProbeSide& side, std::vector<UnexposedTensor>& unexposed, AfterUse after_use)
      : side_(side), unexposed_(unexposed), after_use_(after_use) {}
  ~ProbeSessions();
  ProbeSessions(const ProbeSessions&) = delete;
  ProbeSessions& operator=(const ProbeSessions&) = delete;

  /// More tensors; a name that was requested before is not requested again.
  void Want(const std::vector<std::string>& names);

  /// Begins what Run() will have to do for a feed that lasts until then, as far as that is opening
  /// a first session.
  void Begin(const TensorMap& feed);

  /// The tensors for a feed from all sessions that have one of `names`. What cannot be exposed is
  /// missing, and noted once. kCancelled.
  Result<TensorMap> Run(const TensorMap& feed, const std::vector<std::string>& names);

 private:
  struct Group {
    std::vector<std::string> names;
    std::unique_ptr<RunnerSession> session;
    std::optional<SessionAhead> ahead;
  };
  Result<TensorMap> RunGroup(Group& group, const TensorMap& feed);
  void NoteMissing(const Group& group, const TensorMap& outputs);
  void Split(size_t index, const Status& why);
  void CloseAll();

  ProbeSide& side_;
  std::vector<UnexposedTensor>& unexposed_;
  const AfterUse after_use_;
  std::unordered_set<std::string> asked_;
  std::vector<Group> groups_;
  int64_t failures_ = 0;
};

}  // namespace vernier
