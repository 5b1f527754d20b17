#include "backend/worker/worker.h"

#include <algorithm>

#include "backend/wire/measure_messages.h"
#include "kernels/measures/pair_measures.h"

namespace vernier {
namespace {

constexpr std::string_view kLoading = "loading the framework";
// How long a framework may take to unload when no --timeout says.
constexpr double kGoodbyeSeconds = 10;

Status BadAnswer(std::string_view what) {
  return BackendError("a worker sent a malformed " + std::string(what));
}

// What becomes of what the process writes to its standard error.
RelayRule RuleOfWords(bool speaks_for_user, Logger& logger) {
  if (speaks_for_user) return RelayRule::kPassOn;
  const LogArea area(logger, log_area::kBackend);
  return logger.Enabled(Severity::kVerbose) ? RelayRule::kPassOnPlainly : RelayRule::kKeep;
}

Result<std::unique_ptr<WorkerProcess>> StartProcess(WorkerOptions& options, Channel served,
                                                    Logger& logger) {
  if (options.in_process) return WorkerProcess::InThread(std::move(served));
  return WorkerProcess::Start(options.program, std::move(options.environment),
                              RuleOfWords(options.speaks_for_user, logger), std::move(served));
}

}  // namespace

Worker::Worker(WorkerOptions options, Logger& logger, Channel channel,
               std::unique_ptr<WorkerProcess> process)
    : options_(std::move(options)),
      logger_(logger),
      connection_(std::move(channel), std::move(process),
                  {options_.patience_s, options_.timeout_option, options_.interrupted}, logger) {}

Worker::~Worker() { (void)Finish(); }

Result<std::unique_ptr<Worker>> Worker::Start(WorkerOptions options, Logger& logger) {
  if (options.served.valid()) {
    Channel channel(std::move(options.served));
    return Load(std::unique_ptr<Worker>(
        new Worker(std::move(options), logger, std::move(channel), WorkerProcess::None())));
  }
  VERNIER_ASSIGN_OR_RETURN(auto ends, Channel::CreatePair());
  VERNIER_ASSIGN_OR_RETURN(auto process, StartProcess(options, std::move(ends.second), logger));
  return Load(std::unique_ptr<Worker>(
      new Worker(std::move(options), logger, std::move(ends.first), std::move(process))));
}

Result<std::unique_ptr<Worker>> Worker::Load(std::unique_ptr<Worker> worker) {
  MessageWriter body;
  worker->options_.load.Encode(body);
  VERNIER_TRY(
      worker->connection_.Post(MessageType::kLoad, body, -1, worker->MakeRequest(kLoading)));
  return worker;
}

WorkerRequest Worker::MakeRequest(std::string_view stage) const {
  return {.stage = stage,
          .who = loaded_ && loaded_->ok() ? std::string_view((*loaded_)->name) : "",
          .limit_s = options_.timeout_s};
}

// Where the worker has several runs to do, one look at half of the answers is cheaper, for it as
// well, than to be woken up by each of them.
Result<Frame> Worker::Await(WorkerRequest request) {
  constexpr double kLongest = 1e-3;
  const double half_s = static_cast<double>(ahead_.unanswered() / 2) * last_run_s_;
  if (half_s <= kLongest) request.nap_s = half_s;
  return connection_.Await(request);
}

void Worker::ReleaseLog() { LogLines(TakeLog(), logger_); }

void Worker::LogLines(const HeldLines& lines, Logger& logger) {
  const LogArea area(logger, log_area::kBackend);
  for (const auto& [severity, text] : lines) logger.Log(severity, text);
}

Result<Frame> Worker::Call(MessageType type, const MessageWriter& body, int fd,
                           std::string_view stage) {
  VERNIER_TRY(AwaitLoad().status());
  VERNIER_TRY(SetAheadAside());
  const WorkerRequest request = MakeRequest(stage);
  VERNIER_TRY(connection_.Post(type, body, fd, request));
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
  return connection_.Post(MessageType::kTakeBack, body, -1, MakeRequest(stage));
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
  if (dropped == 0 || !death().ok()) return;
  WorkerRequest request = MakeRequest("running an iteration that is no longer needed");
  request.limit_s =
      std::min(request.limit_s > 0 ? request.limit_s : kUnwantedSeconds, kUnwantedSeconds);
  HoldLog();
  for (; dropped > 0 && death().ok(); --dropped) (void)Await(request);
  (void)TakeLog();
  ended_unwanted_ = !death().ok() && death().code() != StatusCode::kCancelled;
  if (ended_unwanted_) logger_.Verbose("A worker " + death().message());
}

bool Worker::RunAhead(uint64_t session, const TensorBlock& feed, const OutputsToKeep& kept) {
  if (!death().ok() || !connection_.MaySend(feed.description.size())) return false;
  constexpr std::string_view kStage = "running the next iteration";
  if (!GiveBack(kStage).ok()) return false;
  MessageWriter body;
  const MessageType type = BeginRun(session, kept, body);
  body.Append(feed.description);
  if (!connection_.Post(type, body, feed.memory.get(), MakeRequest(kStage)).ok()) return false;
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
  const WorkerRequest request = MakeRequest(stage);
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
  return connection_.Post(type, body, feed.memory.get(), MakeRequest(stage));
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

std::string Worker::UnseenWords() {
  return death().ok() ? connection_.process().UnseenWords() : std::string();
}

Status Worker::Finish() {
  return connection_.Finish(options_.timeout_s > 0 ? options_.timeout_s : kGoodbyeSeconds);
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
