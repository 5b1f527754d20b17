// A worker seen from the parent: a process of our own executable that holds one framework.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "backend/channel.h"
#include "backend/loans.h"
#include "backend/messages.h"
#include "backend/runs_ahead.h"
#include "backend/stderr_relay.h"
#include "backend/trial_messages.h"
#include "util/log.h"
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
  void WhileWaiting(std::function<void(double)> call) { while_waiting_ = std::move(call); }

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
    return options_.program.empty() && (pid_ > 0 || options_.in_process);
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
  void HoldLog() { holds_log_ = true; }
  void ReleaseLog();

  /// Ends HoldLog, and gives what was kept to another thread, which logs it with LogLines.
  using HeldLines = std::vector<std::pair<Severity, std::string>>;
  HeldLines TakeLog();
  static void LogLines(const HeldLines& lines, Logger& logger);

  /// From any thread: whether the current request is no longer needed. The wait for such a request
  /// lasts ten seconds at most.
  void SetUnwanted(bool unwanted) { unwanted_ = unwanted; }

  /// Lets the framework unload and the process end, and waits for that. kBackend when it died of a
  /// signal on the way or did not end in time; ok when it was known to be dead. No other request
  /// may follow.
  Status Finish();

  /// The most memory that the process has held since it started, or since the previous call, in
  /// bytes. Nothing where it serves in a thread or the system does not say.
  std::optional<uint64_t> TakePeakMemory();

  /// What the process holds now, in bytes. Nothing as above.
  std::optional<uint64_t> ResidentMemory() const;

  /// Lets the process give back to the system what closed sessions left to it. A worker that cannot
  /// keeps it.
  void TrimMemory();

  /// Why the worker is gone, ok while it lives.
  const Status& death() const { return death_; }

  /// Whether it is gone because it gave no answer in time.
  bool ran_out_of_time() const { return ran_out_of_time_; }

 private:
  Worker(WorkerOptions options, Logger& logger, Channel channel)
      : options_(std::move(options)), logger_(logger), channel_(std::move(channel)) {}

  // What is being done, for messages, since when, and for how long at most.
  struct Request {
    std::string_view stage;
    double limit_s = 0;  ///< 0: for ever
    std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
    double seconds() const {
      return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    }
  };

  Request MakeRequest(std::string_view stage) const { return {stage, options_.timeout_s}; }
  Status Spawn(Channel child);
  static Result<std::unique_ptr<Worker>> Load(std::unique_ptr<Worker> worker);
  Status Post(MessageType type, const MessageWriter& body, int fd, const Request& request);
  Result<Frame> Await(const Request& request);
  Result<Frame> Call(MessageType type, const MessageWriter& body, int fd, std::string_view stage);
  void NapWhileAhead() const;
  Status WaitForChannel(short events, const Request& request);
  void LogLongWait(const Request& request);
  bool HasEnded() const;
  void ForwardLog(const Frame& frame);
  Status GiveBack(std::string_view stage);
  bool MaySend(size_t size) const;
  Status SetAheadAside();
  void DropAhead();
  MessageType BeginRun(uint64_t session, const OutputsToKeep& kept, MessageWriter& body);
  Status PostRun(uint64_t session, const TensorBlock& feed, std::string_view stage,
                 const OutputsToKeep& kept);
  Result<Frame> CallRun(uint64_t session, const TensorBlock& feed, std::string_view stage,
                        const OutputsToKeep& kept, const std::function<void()>& meanwhile);
  Status Bury(std::string_view stage);
  Status EndBy(Status why);
  Status EndLate(std::string what);
  RelayRule RuleOfWords() const;
  std::string LastWords();
  std::optional<int> Reap();
  void Kill();

  WorkerOptions options_;
  Logger& logger_;
  bool holds_log_ = false;
  HeldLines held_log_;
  std::atomic<bool> unwanted_ = false;
  Channel channel_;
  std::thread thread_;  // in_process
  pid_t pid_ = -1;
  UniqueFd process_;                   // pidfd
  std::unique_ptr<StderrRelay> said_;  // not in_process
  std::optional<Result<BackendInfo>> loaded_;
  std::set<uint64_t> hashing_;  // sessions
  std::vector<uint64_t> released_;
  std::shared_ptr<Loans> loans_ = std::make_shared<Loans>();
  std::function<void(double)> while_waiting_;
  std::optional<std::chrono::steady_clock::time_point> told_of_;  // the start of a long request
  RunsAhead ahead_;
  double last_run_s_ = 0;        // how long the last inference took
  bool ended_unwanted_ = false;  // by a run that is no longer needed
  Status death_;
  bool ran_out_of_time_ = false;
};

}  // namespace vernier
