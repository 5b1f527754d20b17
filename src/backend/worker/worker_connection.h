// The connection to a worker: requests, answers, what is logged between them, and its end.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backend/wire/channel.h"
#include "backend/wire/messages.h"
#include "backend/worker/worker_process.h"
#include "util/log/log.h"
#include "vernier/status.h"

namespace vernier {

/// How long an answer that is no longer wanted is waited for.
inline constexpr double kUnwantedSeconds = 10;

/// A request while it is sent or its answer is awaited.
struct WorkerRequest {
  std::string_view stage;  ///< what is being done, for messages
  std::string_view who;    ///< the framework that does it; empty where that is not known yet
  double limit_s = 0;      ///< 0: for ever
  double nap_s = 0;        ///< so long nothing looks for the answer
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();

  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
};

/// How a connection is waited for.
struct WaitRules {
  double patience_s = 30;  ///< after which a line says once what a request is still busy with
  /// What limits requests, for the message of one that took longer; empty where users cannot.
  std::string timeout_option;
  const std::atomic<int>* interrupted = nullptr;  ///< not null; not 0 ends the wait
};

/// What a framework said and was not logged yet.
using HeldLines = std::vector<std::pair<Severity, std::string>>;

/// Not thread-safe but for SetUnwanted. Must be ended with Finish.
class WorkerConnection {
 public:
  WorkerConnection(Channel channel, std::unique_ptr<WorkerProcess> process, WaitRules rules,
                   Logger& logger)
      : channel_(std::move(channel)),
        process_(std::move(process)),
        rules_(std::move(rules)),
        logger_(logger) {}

  /// Sends a request; `fd` (or -1) stays the caller's. Errors: death().
  Status Post(MessageType type, const MessageWriter& body, int fd, const WorkerRequest& request);
  /// The next answer, whatever request it is for. Errors: death().
  Result<Frame> Await(const WorkerRequest& request);
  /// Whether a message of so many bytes can be sent without a wait.
  bool MaySend(size_t size) const;

  /// See Worker.
  void WhileWaiting(std::function<void(double)> call) { while_waiting_ = std::move(call); }
  void SetUnwanted(bool unwanted) { unwanted_ = unwanted; }
  void HoldLog() { holds_log_ = true; }
  HeldLines TakeLog();

  /// Waits so long for a framework that unloads and for its process to end. See Worker::Finish.
  Status Finish(double limit_s);

  const Status& death() const { return death_; }
  bool ran_out_of_time() const { return ran_out_of_time_; }

  WorkerProcess& process() { return *process_; }
  const WorkerProcess& process() const { return *process_; }

 private:
  Status WaitForChannel(short events, const WorkerRequest& request);
  Status CheckTime(const WorkerRequest& request, double limit_s);
  double LimitOf(const WorkerRequest& request) const;
  void LogLongWait(const WorkerRequest& request);
  void ForwardLog(const Frame& frame);
  Status EndBy(Status why);
  Status EndLate(std::string what);
  Status Bury(std::string_view stage);

  Channel channel_;
  std::unique_ptr<WorkerProcess> process_;
  const WaitRules rules_;
  Logger& logger_;
  bool holds_log_ = false;
  HeldLines held_log_;
  std::atomic<bool> unwanted_ = false;
  std::function<void(double)> while_waiting_;
  std::optional<std::chrono::steady_clock::time_point>
      long_wait_logged_;  // the start of a long request
  Status death_;
  bool ran_out_of_time_ = false;
};

}  // namespace vernier
