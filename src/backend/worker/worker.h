// A worker seen from the parent: a process of our own executable that holds one framework.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "backend/wire/channel.h"
#include "backend/wire/loans.h"
#include "backend/wire/messages.h"
#include "backend/wire/trial_messages.h"
#include "backend/worker/runs_ahead.h"
#include "backend/worker/worker_connection.h"
#include "util/log/log.h"
#include "vernier/status.h"

namespace vernier {

struct MeasureRequest;
struct PairMeasures;

struct WorkerOptions {
  LoadRequest load;
  /// What serves instead of this executable, which becomes it: a program and its arguments; the
  /// descriptor of the channel is added as the last one. Empty: `vernier worker` itself.
  std::vector<std::string> program;
  std::vector<std::string> environment;  ///< "NAME=value", beside this process's own, the last for
                                         ///< a name; not in_process
  /// What it writes to its standard output and error is a user's own script's, which is always
  /// passed on. Of a framework it is from -v on, without escape codes for terminals elsewhere.
  bool speaks_for_user = false;
  /// A connection that another part of this process serves already: nothing is started.
  UniqueFd served;
  bool in_process = false;  ///< serve in a thread of this process: a crash takes everything along
  double timeout_s = 0;     ///< for one request; 0 waits for ever
  double patience_s = 30;   ///< after which a line says once what a request is still busy with
  /// What sets timeout_s, for the message of one that took longer; empty where users cannot.
  std::string timeout_option = "--timeout";
  /// Set by a signal handler: the number of a signal that should end the run. Not null.
  const std::atomic<int>* interrupted = nullptr;
};

/// What stays in a worker until Worker::Release: outputs that lie on a device, or those that are
/// named, of sessions that take steps.
struct OutputsToKeep {
  OutputPlace place = OutputPlace::kHost;
  std::vector<std::string> names = {};
};

/// Not thread-safe: one thread drives a worker. Destruction ends the process.
class Worker {
 public:
  /// Starts the process and sends the load request without waiting for it, so that several workers
  /// start side by side.
  static Result<std::unique_ptr<Worker>> Start(WorkerOptions options, Logger& logger);

  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// Waits for the plug-in and its framework. Later calls give the same answer.
  Result<BackendInfo> AwaitLoad();

  /// `model` holds an edited model's bytes when request.model_bytes > 0, else it is not valid.
  Result<SessionDescription> Open(const OpenRequest& request, const UniqueFd& model);

  /// Lets the runs of a session report hashes of the inputs that they received. kInternal for a
  /// worker that cannot.
  Status HashInputs(uint64_t session);

  /// Resets the state that a session keeps between runs. Only for sessions that keep state.
  Status Reset(uint64_t session);

  struct Outcome {
    double inference_seconds = 0;
    InputHashes received;  ///< where HashInputs asked for it
    DecodedBlock outputs;
  };
  /// `stage` says what is being done, for the message when the worker dies: "iteration 3".
  /// `meanwhile` (may be empty) is called once, here, after the request was sent and before its
  /// answer is waited for.
  Result<Outcome> Run(uint64_t session, const TensorBlock& feed, std::string_view stage,
                      const OutputsToKeep& kept = {}, const std::function<void()>& meanwhile = {});

  /// Sets a callback for the time in which an answer is awaited: called several times a second with
  /// the seconds waited so far. Null removes it.
  void WhileWaiting(std::function<void(double)> call) { connection_.WhileWaiting(std::move(call)); }

  /// Sends what a later Run of this session would send, after those that were sent before, so that
  /// the worker finds it when it has finished them. Must be called by `meanwhile` of a Run; memory
  /// that `feed` borrows must not change until its Run, which must have this feed and `kept`, has
  /// its answer. False if nothing was sent: it might have to wait for room, while the worker waits
  /// for us to read. Close drops an answer that no Run requests, and a worker that dies or hangs
  /// meanwhile is not reported.
  bool RunAhead(uint64_t session, const TensorBlock& feed, const OutputsToKeep& kept = {});
  /// How many RunAhead has sent and no Run has requested.
  size_t runs_ahead() const { return ahead_.size(); }

  /// Does it serve a plug-in, in its own process or thread of this program? Such a worker keeps
  /// nothing of a feed after its answer.
  bool serves_plugin() const {
    return options_.program.empty() && (connection_.process().runs() || options_.in_process);
  }

  struct TrialOutcome {
    TensorMap outputs;
    TrialReport report;
  };
  /// One inference as `request` asks. Outputs are brought to the host.
  Result<TrialOutcome> TryRun(const TrialRequest& request, const TensorBlock& feed,
                              std::string_view stage);

  /// Compares two kept outputs where they lie. kUnimplemented or kUnavailable: this cannot be
  /// measured there, the outputs have to be fetched.
  Result<PairMeasures> Measure(uint64_t a, uint64_t b, const MeasureRequest& request);

  /// The bytes of a kept output, which stays kept.
  Result<Tensor> Fetch(uint64_t handle);

  /// The output is no longer needed. The worker is notified with the next Run.
  void Release(uint64_t handle) { released_.push_back(handle); }

  Status Close(uint64_t session);

  /// What the worker wrote to its standard error and was not logged yet, to be appended to the
  /// message of a failure. Empty once the worker is dead: death() includes it.
  std::string UnseenWords();

  /// Any other request: the body of a successful answer, and its descriptor if one came along.
  struct Answer {
    std::vector<std::byte> body;
    UniqueFd memory;
  };
  Result<Answer> Ask(MessageType type, const MessageWriter& body, int fd, std::string_view stage);

  /// Keeps what the framework says until ReleaseLog, which logs it: for requests on another
  /// thread.
  void HoldLog() { connection_.HoldLog(); }
  void ReleaseLog();

  /// Ends HoldLog, and gives what was kept to another thread, which logs it with LogLines.
  HeldLines TakeLog() { return connection_.TakeLog(); }
  static void LogLines(const HeldLines& lines, Logger& logger);

  /// From any thread: whether the current request is no longer needed. The wait for such a request
  /// lasts ten seconds at most.
  void SetUnwanted(bool unwanted) { connection_.SetUnwanted(unwanted); }

  /// Lets the framework unload and the process end, and waits for that. kBackend when it died of a
  /// signal on the way or did not end in time; ok when it was known to be dead. No other request
  /// may follow.
  Status Finish();

  /// The most memory that the process has held since it started, or since the previous call, in
  /// bytes. Nothing where it serves in a thread or the system does not say.
  std::optional<uint64_t> TakePeakMemory() { return connection_.process().TakePeakMemory(); }

  /// What the process holds now, in bytes. Nothing as above.
  std::optional<uint64_t> ResidentMemory() const { return connection_.process().ResidentMemory(); }

  /// Lets the process give back to the system what closed sessions left to it. A worker that cannot
  /// keeps it.
  void TrimMemory();

  /// Why the worker is gone, ok while it lives.
  const Status& death() const { return connection_.death(); }

  /// Whether it is gone because it gave no answer in time.
  bool ran_out_of_time() const { return connection_.ran_out_of_time(); }

 private:
  Worker(WorkerOptions options, Logger& logger, Channel channel,
         std::unique_ptr<WorkerProcess> process);

  static Result<std::unique_ptr<Worker>> Load(std::unique_ptr<Worker> worker);
  WorkerRequest MakeRequest(std::string_view stage) const;
  Result<Frame> Await(WorkerRequest request);
  Result<Frame> Call(MessageType type, const MessageWriter& body, int fd, std::string_view stage);
  Status GiveBack(std::string_view stage);
  Status SetAheadAside();
  void DropAhead();
  MessageType BeginRun(uint64_t session, const OutputsToKeep& kept, MessageWriter& body);
  Status PostRun(uint64_t session, const TensorBlock& feed, std::string_view stage,
                 const OutputsToKeep& kept);
  Result<Frame> CallRun(uint64_t session, const TensorBlock& feed, std::string_view stage,
                        const OutputsToKeep& kept, const std::function<void()>& meanwhile);

  const WorkerOptions options_;
  Logger& logger_;
  WorkerConnection connection_;
  std::optional<Result<BackendInfo>> loaded_;
  std::set<uint64_t> hashing_;  // sessions
  std::vector<uint64_t> released_;
  std::shared_ptr<Loans> loans_ = std::make_shared<Loans>();
  RunsAhead ahead_;
  double last_run_s_ = 0;        // how long the last inference took
  bool ended_unwanted_ = false;  // by a run that is no longer needed
};

}  // namespace vernier
