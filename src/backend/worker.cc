#include "backend/worker.h"

#include <poll.h>

#include <algorithm>
#include <array>

#include "backend/measure_messages.h"
#include "backend/worker_server.h"
#include "kernels/pair_measures.h"
#include "util/number_text.h"

namespace vernier {
namespace {

constexpr std::string_view kLoading = "loading the framework";
// A signal that comes just before poll() does not end it: look again that often.
constexpr int kLookMs = 100;
// A quarter of what a connection holds, less what the system adds.
constexpr size_t kMostAhead = size_t{48} << 10;
// How long an answer that is no longer wanted is waited for.
constexpr double kUnwantedSeconds = 10;

Status BadAnswer(std::string_view what) {
  return BackendError("a worker sent a malformed " + std::string(what));
}

}  // namespace

Result<std::unique_ptr<Worker>> Worker::Start(WorkerOptions options, Logger& logger) {
  if (options.served.valid()) {
    Channel channel(std::move(options.served));
    return Load(
        std::unique_ptr<Worker>(new Worker(std::move(options), logger, std::move(channel))));
  }
  VERNIER_ASSIGN_OR_RETURN(auto ends, Channel::CreatePair());
  std::unique_ptr<Worker> worker(new Worker(std::move(options), logger, std::move(ends.first)));
  if (worker->options_.in_process) {
    worker->thread_ =
        std::thread([child = std::move(ends.second)]() mutable { ServeWorker(std::move(child)); });
  } else {
    VERNIER_TRY(worker->Spawn(std::move(ends.second)));
  }
  return Load(std::move(worker));
}

Result<std::unique_ptr<Worker>> Worker::Load(std::unique_ptr<Worker> worker) {
  MessageWriter body;
  worker->options_.load.Encode(body);
  VERNIER_TRY(worker->Post(MessageType::kLoad, body, -1, worker->MakeRequest(kLoading)));
  return worker;
}

Status Worker::Post(MessageType type, const MessageWriter& body, int fd, const Request& request) {
  if (!death_.ok()) return death_;
  // A failed send means that the worker is dead; Await finds out of what.
  (void)channel_.Send(static_cast<uint32_t>(type), body.bytes(), fd,
                      [&](short events) { return WaitForChannel(events, request); });
  return death_;
}

// Without a terminal nothing else shows that it goes on.
void Worker::LogLongWait(const Request& request) {
  if (request.seconds() < options_.patience_s || told_of_ == request.start || holds_log_) return;
  told_of_ = request.start;
  const std::string who = loaded_ && loaded_->ok() ? (*loaded_)->name + " is still " : "Still ";
  logger_.Info(who + std::string(request.stage) + ", after " + FormatG(options_.patience_s, 4) +
               " s");
}

// Where the worker has several runs to do, one look at half of the answers is cheaper, for it as
// well, than to be woken up by each of them.
void Worker::NapWhileAhead() const {
  constexpr double kLongest = 1e-3;
  const double seconds = static_cast<double>(ahead_.unanswered() / 2) * last_run_s_;
  if (seconds > 0 && seconds <= kLongest) {
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  }
}

Status Worker::WaitForChannel(short events, const Request& request) {
  if (events == POLLIN) NapWhileAhead();
  while (true) {
    if (options_.interrupted->load() != 0) {
      return EndBy(Cancelled("interrupted while " + std::string(request.stage)));
    }
    if (while_waiting_) while_waiting_(request.seconds());
    LogLongWait(request);
    const double given = request.limit_s;
    const double limit =
        unwanted_ && (given <= 0 || given > kUnwantedSeconds) ? kUnwantedSeconds : given;
    if (limit > 0 && request.seconds() >= limit) {
      const std::string& option = options_.timeout_option;
      return EndLate("hung while " + std::string(request.stage) + ": no answer within " +
                     FormatG(limit, 4) + " s" + (option.empty() ? "" : " (" + option + ")"));
    }
    // Asked first: what it said before its end still counts, but a process that it left behind
    // may keep the connection open without ever answering.
    const bool ended = HasEnded();
    std::array<pollfd, 2> ready = {
        {{channel_.descriptor(), events, 0}, {process_.get(), POLLIN, 0}}};
    const double rest_ms = limit > 0 ? (limit - request.seconds()) * 1e3 + 1 : kLookMs;
    (void)::poll(ready.data(), ready.size(), static_cast<int>(std::clamp(rest_ms, 0., 1e2)));
    if (ready[0].revents != 0) return {};
    if (ended) return Bury(request.stage);
  }
}

Result<Frame> Worker::Await(const Request& request) {
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
        return EndBy(BadAnswer("answer"));
    }
  }
}

void Worker::ReleaseLog() { LogLines(TakeLog(), logger_); }

Worker::HeldLines Worker::TakeLog() {
  holds_log_ = false;
  return std::exchange(held_log_, {});
}

void Worker::LogLines(const HeldLines& lines, Logger& logger) {
  const LogArea area(logger, log_area::kBackend);
  for (const auto& [severity, text] : lines) logger.Log(severity, text);
}

void Worker::ForwardLog(const Frame& frame) {
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

Result<Frame> Worker::Call(MessageType type, const MessageWriter& body, int fd,
                           std::string_view stage) {
  VERNIER_TRY(AwaitLoad().status());
  VERNIER_TRY(SetAheadAside());
  const Request request = MakeRequest(stage);
  VERNIER_TRY(Post(type, body, fd, request));
  return Await(request);
}

Result<BackendInfo> Worker::AwaitLoad() {
  if (loaded_) return *loaded_;
  const auto load = [this]() -> Result<BackendInfo> {
    VERNIER_ASSIGN_OR_RETURN(const Frame frame, Await(MakeRequest(kLoading)));
    MessageReader in(frame.body);
    VERNIER_TRY(DecodeStatus(in));
    BackendInfo info = BackendInfo::Decode(in);
    if (!in.finished()) return BadAnswer("answer");
    return info;
  };
  loaded_ = load();
  return *loaded_;
}

Result<SessionDescription> Worker::Open(const OpenRequest& request, const UniqueFd& model) {
  MessageWriter body;
  request.Encode(body);
  VERNIER_ASSIGN_OR_RETURN(const Frame frame, Call(MessageType::kOpen, body, model.get(),
                                                   "opening '" + request.model_path + "'"));
  MessageReader in(frame.body);
  VERNIER_TRY(DecodeStatus(in));
  SessionDescription description = SessionDescription::Decode(in);
  if (!in.finished()) return BadAnswer("signature");
  return description;
}

// Memory of outputs whose tensors are gone. There is no answer to wait for.
Status Worker::GiveBack(std::string_view stage) {
  const std::vector<uint64_t> numbers = loans_->Take();
  if (numbers.empty()) return {};
  MessageWriter body;
  body.Number<uint64_t>(numbers.size());
  for (const uint64_t number : numbers) body.Number(number);
  return Post(MessageType::kTakeBack, body, -1, MakeRequest(stage));
}

Status Worker::HashInputs(uint64_t session) {
  MessageWriter body;
  body.Number(session);
  VERNIER_TRY(Ask(MessageType::kHashInputs, body, -1, "opening the model").status());
  hashing_.insert(session);
  return {};
}

Status Worker::Reset(uint64_t session) {
  MessageWriter body;
  body.Number(session);
  return Ask(MessageType::kReset, body, -1, "resetting the state").status();
}

// Answers come in the order of the requests.
Status Worker::SetAheadAside() {
  while (ahead_.unanswered() > 0) {
    VERNIER_ASSIGN_OR_RETURN(Frame answer, Await(MakeRequest("running the next iteration")));
    ahead_.Keep(std::move(answer));
  }
  return {};
}

void Worker::DropAhead() {
  size_t dropped = std::exchange(ahead_, {}).unanswered();
  if (dropped == 0 || !death_.ok()) return;
  Request request = MakeRequest("running an iteration that is no longer needed");
  request.limit_s =
      std::min(request.limit_s > 0 ? request.limit_s : kUnwantedSeconds, kUnwantedSeconds);
  HoldLog();
  for (; dropped > 0 && death_.ok(); --dropped) (void)Await(request);
  held_log_.clear();
  ReleaseLog();
  ended_unwanted_ = !death_.ok() && death_.code() != StatusCode::kCancelled;
  if (ended_unwanted_) logger_.Verbose("A worker " + death_.message());
}

// Whether it can be sent without a wait. The system calls a connection writable while three
// quarters of its room are left.
bool Worker::MaySend(size_t size) const {
  pollfd room{channel_.descriptor(), POLLOUT, 0};
  return size <= kMostAhead && ::poll(&room, 1, 0) == 1 && room.revents == POLLOUT;
}

bool Worker::RunAhead(uint64_t session, const TensorBlock& feed, const OutputsToKeep& kept) {
  if (!death_.ok() || !MaySend(feed.description.size())) return false;
  constexpr std::string_view kStage = "running the next iteration";
  if (!GiveBack(kStage).ok()) return false;
  MessageWriter body;
  const MessageType type = BeginRun(session, kept, body);
  body.Append(feed.description);
  if (!Post(type, body, feed.memory.get(), MakeRequest(kStage)).ok()) return false;
  ahead_.Add(session);
  return true;
}

// With what is done meanwhile.
Result<Frame> Worker::CallRun(uint64_t session, const TensorBlock& feed, std::string_view stage,
                              const OutputsToKeep& kept, const std::function<void()>& meanwhile) {
  std::optional<Frame> answer;
  if (ahead_.IsNextOf(session)) {
    answer = ahead_.TakeNext();
  } else {
    VERNIER_TRY(SetAheadAside());
    VERNIER_TRY(PostRun(session, feed, stage, kept));
  }
  // For one that was sent ahead, too, time counts from here: only now is it waited for.
  const Request request = MakeRequest(stage);
  if (meanwhile) meanwhile();
  if (answer) return *std::move(answer);
  return Await(request);
}

MessageType Worker::BeginRun(uint64_t session, const OutputsToKeep& kept, MessageWriter& body) {
  if (!kept.names.empty()) {
    RunStepRequest{session, std::exchange(released_, {}), kept.names}.Encode(body);
    return MessageType::kRunStep;
  }
  if (kept.place == OutputPlace::kDevice) {
    RunAndKeepRequest{session, std::exchange(released_, {})}.Encode(body);
    return MessageType::kRunAndKeep;
  }
  body.Number(session);
  return MessageType::kRun;
}

Status Worker::PostRun(uint64_t session, const TensorBlock& feed, std::string_view stage,
                       const OutputsToKeep& kept) {
  MessageWriter body;
  const MessageType type = BeginRun(session, kept, body);
  VERNIER_TRY(GiveBack(stage));
  body.Append(feed.description);
  VERNIER_TRY(AwaitLoad().status());
  return Post(type, body, feed.memory.get(), MakeRequest(stage));
}

Result<Worker::Outcome> Worker::Run(uint64_t session, const TensorBlock& feed,
                                    std::string_view stage, const OutputsToKeep& kept,
                                    const std::function<void()>& meanwhile) {
  VERNIER_ASSIGN_OR_RETURN(Frame frame, CallRun(session, feed, stage, kept, meanwhile));
  MessageReader in(frame.body);
  VERNIER_TRY(DecodeStatus(in));
  Outcome outcome;
  outcome.inference_seconds = last_run_s_ = in.Number<double>();
  if (hashing_.contains(session)) outcome.received = DecodeHashes(in);
  if (in.failed()) return BadAnswer("answer");
  VERNIER_ASSIGN_OR_RETURN(outcome.outputs, DecodeTensors(in.rest(), std::move(frame.fd), loans_));
  return outcome;
}

Result<Worker::TrialOutcome> Worker::TryRun(const TrialRequest& request, const TensorBlock& feed,
                                            std::string_view stage) {
  MessageWriter body;
  request.Encode(body);
  VERNIER_TRY(GiveBack(stage));
  body.Append(feed.description);
  VERNIER_ASSIGN_OR_RETURN(Frame frame, Call(MessageType::kTryRun, body, feed.memory.get(), stage));
  MessageReader in(frame.body);
  VERNIER_TRY(DecodeStatus(in));
  TrialOutcome outcome;
  outcome.report = TrialReport::Decode(in);
  if (in.failed()) return BadAnswer("answer");
  VERNIER_ASSIGN_OR_RETURN(DecodedBlock block,
                           DecodeTensors(in.rest(), std::move(frame.fd), loans_));
  outcome.outputs = std::move(block.tensors);
  return outcome;
}

Result<Worker::Answer> Worker::Ask(MessageType type, const MessageWriter& body, int fd,
                                   std::string_view stage) {
  VERNIER_ASSIGN_OR_RETURN(Frame frame, Call(type, body, fd, stage));
  MessageReader in(frame.body);
  VERNIER_TRY(DecodeStatus(in));
  // Status code and empty message.
  constexpr size_t kPrefix = sizeof(int32_t) + sizeof(uint64_t);
  frame.body.erase(frame.body.begin(), frame.body.begin() + kPrefix);
  return Answer{std::move(frame.body), std::move(frame.fd)};
}

Result<PairMeasures> Worker::Measure(uint64_t a, uint64_t b, const MeasureRequest& request) {
  MessageWriter body;
  body.Number(a);
  body.Number(b);
  EncodeRequest(request, body);
  VERNIER_ASSIGN_OR_RETURN(const Frame frame, Call(MessageType::kMeasureKept, body, -1,
                                                   "comparing outputs on the device"));
  MessageReader in(frame.body);
  VERNIER_TRY(DecodeStatus(in));
  PairMeasures measures = DecodeMeasures(in);
  if (!in.finished()) return BadAnswer("answer");
  return measures;
}

Result<Tensor> Worker::Fetch(uint64_t handle) {
  MessageWriter body;
  body.Number(handle);
  VERNIER_ASSIGN_OR_RETURN(Frame frame, Call(MessageType::kFetchKept, body, -1,
                                             "fetching an output that stayed in the worker"));
  MessageReader in(frame.body);
  VERNIER_TRY(DecodeStatus(in));
  VERNIER_ASSIGN_OR_RETURN(DecodedBlock block, DecodeTensors(in.rest(), std::move(frame.fd)));
  if (block.tensors.size() != 1) return BadAnswer("answer");
  return std::move(block.tensors.front().tensor);
}

Status Worker::Close(uint64_t session) {
  hashing_.erase(session);
  DropAhead();
  if (ended_unwanted_) return {};
  MessageWriter body;
  body.Number(session);
  VERNIER_ASSIGN_OR_RETURN(const Frame frame,
                           Call(MessageType::kClose, body, -1, "closing a session"));
  MessageReader in(frame.body);
  return DecodeStatus(in);
}

void Worker::TrimMemory() {
  (void)Ask(MessageType::kTrim, MessageWriter(), -1, "giving memory back");
}

}  // namespace vernier
