#include "backend/worker/worker_connection.h"

#include <poll.h>

#include <algorithm>
#include <array>
#include <thread>

#include "util/text/number_text.h"

namespace vernier {
namespace {

// A signal that comes just before poll() does not end it: look again that often.
constexpr int kLookMs = 100;
// A quarter of what a connection holds, less what the system adds.
constexpr size_t kMostAhead = size_t{48} << 10;

}  // namespace

Status WorkerConnection::Post(MessageType type, const MessageWriter& body, int fd,
                              const WorkerRequest& request) {
  if (!death_.ok()) return death_;
  // A failed send means that the worker is dead; Await finds out of what.
  (void)channel_.Send(static_cast<uint32_t>(type), body.bytes(), fd,
                      [&](short events) { return WaitForChannel(events, request); });
  return death_;
}

Result<Frame> WorkerConnection::Await(const WorkerRequest& request) {
  if (!death_.ok()) return death_;
  while (true) {
    Result<std::optional<Frame>> frame =
        channel_.Receive([&](short events) { return WaitForChannel(events, request); });
    if (!death_.ok()) return death_;
    if (!frame.ok()) {
      return EndBy(BackendError(frame.status().message() + " while " + std::string(request.stage)));
    }
    if (!frame->has_value()) return Bury(request.stage);
    switch (static_cast<MessageType>((*frame)->type)) {
      case MessageType::kLog:
        ForwardLog(**frame);
        break;
      case MessageType::kReply:
        return std::move(**frame);
      default:
        return EndBy(BackendError("a worker sent a malformed answer"));
    }
  }
}

// The system calls a connection writable while three quarters of its room are left.
bool WorkerConnection::MaySend(size_t size) const {
  pollfd room{channel_.descriptor(), POLLOUT, 0};
  return size <= kMostAhead && ::poll(&room, 1, 0) == 1 && room.revents == POLLOUT;
}

Status WorkerConnection::WaitForChannel(short events, const WorkerRequest& request) {
  if (events == POLLIN && request.nap_s > 0) {
    std::this_thread::sleep_for(std::chrono::duration<double>(request.nap_s));
  }
  while (true) {
    if (rules_.interrupted->load() != 0) {
      return EndBy(Cancelled("interrupted while " + std::string(request.stage)));
    }
    if (while_waiting_) while_waiting_(request.seconds());
    LogLongWait(request);
    const double limit = LimitOf(request);
    VERNIER_TRY(CheckTime(request, limit));
    // Asked first: what it said before its end still counts, but a process that it left behind
    // may keep the connection open without ever answering.
    const bool ended = process_->HasEnded();
    std::array<pollfd, 2> ready = {
        {{channel_.descriptor(), events, 0}, {process_->descriptor(), POLLIN, 0}}};
    const double rest_ms = limit > 0 ? (limit - request.seconds()) * 1e3 + 1 : kLookMs;
    (void)::poll(ready.data(), ready.size(), static_cast<int>(std::clamp(rest_ms, 0., 1e2)));
    if (ready[0].revents != 0) return {};
    if (ended) return Bury(request.stage);
  }
}

double WorkerConnection::LimitOf(const WorkerRequest& request) const {
  const double given = request.limit_s;
  return unwanted_ && (given <= 0 || given > kUnwantedSeconds) ? kUnwantedSeconds : given;
}

Status WorkerConnection::CheckTime(const WorkerRequest& request, double limit_s) {
  if (limit_s <= 0 || request.seconds() < limit_s) return {};
  const std::string& option = rules_.timeout_option;
  return EndLate("hung while " + std::string(request.stage) + ": no answer within " +
                 FormatG(limit_s, 4) + " s" + (option.empty() ? "" : " (" + option + ")"));
}

// Without a terminal nothing else shows that it goes on.
void WorkerConnection::LogLongWait(const WorkerRequest& request) {
  if (request.seconds() < rules_.patience_s || long_wait_logged_ == request.start || holds_log_)
    return;
  long_wait_logged_ = request.start;
  const std::string who = request.who.empty() ? "Still " : std::string(request.who) + " is still ";
  logger_.Info(who + std::string(request.stage) + ", after " + FormatG(rules_.patience_s, 4) +
               " s");
}

HeldLines WorkerConnection::TakeLog() {
  holds_log_ = false;
  return std::exchange(held_log_, {});
}

void WorkerConnection::ForwardLog(const Frame& frame) {
  MessageReader in(frame.body);
  const auto severity = static_cast<Severity>(in.Number<int32_t>());
  const std::string text = in.Text();
  if (in.failed()) return;
  if (holds_log_) {
    held_log_.emplace_back(severity, text);
    return;
  }
  const LogArea area(logger_, log_area::kBackend);
  logger_.Log(severity, text);
}

Status WorkerConnection::Finish(double limit_s) {
  channel_ = Channel(UniqueFd());
  process_->EndThread(!death_.ok());
  if (!process_->runs()) return {};
  const WorkerRequest request{.stage = "unloading the framework", .who = {}};
  const bool was_alive = death_.ok();
  // It leaves by itself when the channel closes, unless its framework hangs.
  while (death_.ok() && !process_->HasEnded(kLookMs)) {
    if (rules_.interrupted->load() != 0) {
      (void)EndBy(Cancelled("interrupted while unloading the framework"));
    } else if (request.seconds() > limit_s) {
      (void)EndLate("hung while unloading the framework");
    }
  }
  const std::optional<std::string> how = process_->Wait();
  if (death_.ok() && how) {
    death_ = BackendError(*how + " while unloading the framework" + process_->LastWords());
  }
  return was_alive ? death_ : Status();
}

Status WorkerConnection::EndBy(Status why) {
  process_->Kill();
  death_ = std::move(why);
  return death_;
}

Status WorkerConnection::EndLate(std::string what) {
  ran_out_of_time_ = true;
  return EndBy(BackendError(std::move(what) + process_->LastWords()));
}

// The connection has ended: finds out why.
Status WorkerConnection::Bury(std::string_view stage) {
  const std::string how = process_->Bury().value_or("closed its connection");
  death_ = BackendError(how + " while " + std::string(stage) + process_->LastWords());
  return death_;
}

}  // namespace vernier
