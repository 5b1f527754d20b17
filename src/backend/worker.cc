#include "backend/worker.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>

#include "backend/measure_messages.h"
#include "backend/no_descriptors.h"
#include "backend/worker_server.h"
#include "util/number_text.h"
#include "util/own_program.h"
#include "util/process_memory.h"

extern char** environ;

namespace vernier {
namespace {

using Clock = std::chrono::steady_clock;

// The descriptor that a worker finds its channel on.
constexpr int kWorkerFd = 3;
constexpr std::string_view kLoading = "loading the framework";
// How long a framework may take to unload when no --timeout says.
constexpr double kGoodbyeSeconds = 10;
// How long the end of a process may follow the end of its connection.
constexpr int kEndMs = 500;
// A signal that comes just before poll() does not end it: look again that often.
constexpr int kLookMs = 100;

std::string_view SignalMeaning(int signal) {
  switch (signal) {
    case SIGSEGV:
      return "SIGSEGV, a memory access violation";
    case SIGFPE:
      return "SIGFPE, an arithmetic error";
    case SIGABRT:
      return "SIGABRT, an abort";
    case SIGBUS:
      return "SIGBUS, a bad memory access";
    case SIGILL:
      return "SIGILL, an instruction that this CPU does not have";
    case SIGKILL:
      return "SIGKILL, likely for want of memory";
    case SIGTERM:
      return "SIGTERM";
    default:
      return {};
  }
}

std::string DescribeEnd(int wait_status) {
  if (WIFSIGNALED(wait_status)) {
    const int signal = WTERMSIG(wait_status);
    const std::string_view meaning = SignalMeaning(signal);
    return "died of " +
           (meaning.empty() ? "signal " + std::to_string(signal) : std::string(meaning));
  }
  return "ended with exit status " + std::to_string(WEXITSTATUS(wait_status));
}

std::string OwnExecutable() {
  const std::string path = OwnProgram().string();
  return path.empty() ? "/proc/self/exe" : path;
}

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

Status BadAnswer(std::string_view what) {
  return BackendError("a worker sent a malformed " + std::string(what));
}

std::vector<char*> Pointers(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

// This process's environment with `more` in place of variables of the same names.
std::vector<char*> Environment(std::vector<std::string>& more) {
  std::vector<char*> all = Pointers(more);
  const auto replaced = [&](std::string_view variable) {
    const std::string_view name = variable.substr(0, variable.find('=') + 1);
    return std::any_of(more.begin(), more.end(),
                       [&](const std::string& given) { return given.starts_with(name); });
  };
  for (char** variable = environ; *variable != nullptr; ++variable) {
    if (!replaced(*variable)) all.insert(all.end() - 1, *variable);
  }
  return all;
}

// Owns the attributes of one posix_spawn call.
class SpawnSettings {
 public:
  SpawnSettings(int channel, int log) {
    ::posix_spawn_file_actions_init(&actions_);
    ::posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    // What a framework prints must not mix with our results on stdout.
    ::posix_spawn_file_actions_adddup2(&actions_, log, STDOUT_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions_, log, STDERR_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions_, channel, kWorkerFd);
    ::posix_spawnattr_init(&attributes_);
    // A group of its own: Ctrl-C goes to the parent, which ends its workers in order.
    ::posix_spawnattr_setpgroup(&attributes_, 0);
    sigset_t none;
    ::sigemptyset(&none);
    ::posix_spawnattr_setsigmask(&attributes_, &none);
    ::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
  }
  ~SpawnSettings() {
    ::posix_spawn_file_actions_destroy(&actions_);
    ::posix_spawnattr_destroy(&attributes_);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;

  const posix_spawn_file_actions_t* actions() const { return &actions_; }
  const posix_spawnattr_t* attributes() const { return &attributes_; }

 private:
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

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
  VERNIER_TRY(worker->Post(MessageType::kLoad, body, -1, {kLoading}));
  return worker;
}

Status Worker::Spawn(Channel child) {
  // dup2 onto the same number would leave close-on-exec set: move the descriptor away first.
  const UniqueFd moved(::fcntl(child.descriptor(), F_DUPFD_CLOEXEC, kWorkerFd + 1));
  if (!moved.valid()) return NoDescriptorsLeft();
  VERNIER_ASSIGN_OR_RETURN(said_, StderrRelay::Start());
  const SpawnSettings settings(moved.get(), said_->write_end());
  const std::string executable = OwnExecutable();
  std::vector<std::string> words = {"vernier", "worker", std::to_string(kWorkerFd),
                                    std::to_string(::getpid())};
  words.insert(words.end(), options_.program.begin(), options_.program.end());
  const int error =
      ::posix_spawn(&pid_, executable.c_str(), settings.actions(), settings.attributes(),
                    Pointers(words).data(), Environment(options_.environment).data());
  said_->CloseWriteEnd();
  if (error != 0) {
    pid_ = -1;
    return Internal(std::string("a worker cannot be started: ") + std::strerror(error));
  }
  process_.Reset(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)));
  return {};
}

Worker::~Worker() { (void)Finish(); }

Status Worker::Finish() {
  channel_ = Channel(UniqueFd());
  // A thread that hangs in a framework cannot be ended; it goes with the process.
  if (thread_.joinable() && !death_.ok()) thread_.detach();
  if (thread_.joinable()) thread_.join();
  if (pid_ < 0) return {};
  const Request request{"unloading the framework"};
  const double limit = options_.timeout_s > 0 ? options_.timeout_s : kGoodbyeSeconds;
  const bool was_alive = death_.ok();
  pollfd end{process_.get(), POLLIN, 0};
  // It leaves by itself when the channel closes, unless its framework hangs.
  while (death_.ok() && ::poll(&end, 1, kLookMs) <= 0) {
    if (options_.interrupted->load() != 0) {
      (void)EndBy(Cancelled("interrupted while unloading the framework"));
    } else if (SecondsSince(request.start) > limit) {
      (void)EndBy(BackendError("hung while unloading the framework" + LastWords()));
    }
  }
  const std::optional<int> wait_status = Reap();
  if (death_.ok() && wait_status.value_or(0) != 0) {
    death_ =
        BackendError(DescribeEnd(*wait_status) + " while unloading the framework" + LastWords());
  }
  return was_alive ? death_ : Status();
}

void Worker::Kill() {
  if (pid_ > 0) ::kill(-pid_, SIGKILL);
}

std::optional<int> Worker::Reap() {
  int wait_status = 0;
  pid_t reaped = 0;
  do {
    reaped = ::waitpid(pid_, &wait_status, 0);
  } while (reaped < 0 && errno == EINTR);
  const bool known = reaped == pid_;
  pid_ = -1;
  return known ? std::optional(wait_status) : std::nullopt;
}

Status Worker::EndBy(Status why) {
  Kill();
  death_ = std::move(why);
  return death_;
}

Status Worker::Post(MessageType type, const MessageWriter& body, int fd, const Request& request) {
  if (!death_.ok()) return death_;
  // A failed send means that the worker is dead; Await finds out of what.
  (void)channel_.Send(static_cast<uint32_t>(type), body.bytes(), fd,
                      [&](short events) { return WaitForChannel(events, request); });
  return death_;
}

bool Worker::HasEnded() const {
  // In process there is no pidfd: a negative descriptor is ignored.
  pollfd end{process_.get(), POLLIN, 0};
  return ::poll(&end, 1, 0) > 0;
}

Status Worker::WaitForChannel(short events, const Request& request) {
  while (true) {
    if (options_.interrupted->load() != 0) {
      return EndBy(Cancelled("interrupted while " + std::string(request.stage)));
    }
    const double limit = options_.timeout_s;
    if (limit > 0 && SecondsSince(request.start) >= limit) {
      return EndBy(BackendError("hung while " + std::string(request.stage) + ": no answer within " +
                                FormatG(limit, 4) + " s (--timeout)" + LastWords()));
    }
    // Asked first: what it said before its end still counts, but a process that it left behind
    // may keep the connection open without ever answering.
    const bool ended = HasEnded();
    std::array<pollfd, 2> ready = {
        {{channel_.descriptor(), events, 0}, {process_.get(), POLLIN, 0}}};
    const double rest_ms = limit > 0 ? (limit - SecondsSince(request.start)) * 1e3 + 1 : kLookMs;
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

// The connection has ended: finds out why.
Status Worker::Bury(std::string_view stage) {
  std::string how = "closed its connection";
  if (pid_ > 0) {
    pollfd end{process_.get(), POLLIN, 0};
    const bool ended = ::poll(&end, 1, kEndMs) > 0;
    Kill();  // also what it left behind
    const std::optional<int> wait_status = Reap();
    if (ended && wait_status) how = DescribeEnd(*wait_status);
  }
  death_ = BackendError(how + " while " + std::string(stage) + LastWords());
  return death_;
}

// For the end of a verdict, after its first line: what the process wrote before it ended.
std::string Worker::LastWords() {
  const std::string lines = said_ == nullptr ? std::string() : said_->Stop();
  return lines.empty() ? lines : "\nThe last it wrote to standard error:\n" + lines;
}

void Worker::ReleaseLog() {
  holds_log_ = false;
  const LogArea area(logger_, log_area::kBackend);
  for (const auto& [severity, text] : std::exchange(held_log_, {})) logger_.Log(severity, text);
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
  const Request request{stage};
  VERNIER_TRY(Post(type, body, fd, request));
  return Await(request);
}

Result<BackendInfo> Worker::AwaitLoad() {
  if (loaded_) return *loaded_;
  const auto load = [this]() -> Result<BackendInfo> {
    VERNIER_ASSIGN_OR_RETURN(const Frame frame, Await({kLoading}));
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

// Memory of outputs that nobody reads any more. There is no answer to wait for.
Status Worker::GiveBack(std::string_view stage) {
  const std::vector<uint64_t> numbers = loans_->Take();
  if (numbers.empty()) return {};
  MessageWriter body;
  body.Number<uint64_t>(numbers.size());
  for (const uint64_t number : numbers) body.Number(number);
  return Post(MessageType::kTakeBack, body, -1, {stage});
}

Status Worker::HashInputs(uint64_t session) {
  MessageWriter body;
  body.Number(session);
  VERNIER_TRY(Ask(MessageType::kHashInputs, body, -1, "opening the model").status());
  hashing_.insert(session);
  return {};
}

Result<Worker::Outcome> Worker::Run(uint64_t session, const TensorBlock& feed,
                                    std::string_view stage, OutputPlace place) {
  MessageWriter body;
  if (place == OutputPlace::kDevice) {
    RunAndKeepRequest{session, std::exchange(released_, {})}.Encode(body);
  } else {
    body.Number(session);
  }
  VERNIER_TRY(GiveBack(stage));
  const MessageType type =
      place == OutputPlace::kDevice ? MessageType::kRunAndKeep : MessageType::kRun;
  body.Append(feed.description);
  VERNIER_TRY(AwaitLoad().status());
  const Request request{stage};
  VERNIER_TRY(Post(type, body, feed.memory.get(), request));
  if (const auto work = std::exchange(meanwhile_, nullptr)) work();
  VERNIER_ASSIGN_OR_RETURN(Frame frame, Await(request));
  MessageReader in(frame.body);
  VERNIER_TRY(DecodeStatus(in));
  Outcome outcome;
  outcome.inference_seconds = in.Number<double>();
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
  VERNIER_ASSIGN_OR_RETURN(
      Frame frame, Call(MessageType::kFetchKept, body, -1, "fetching an output from the device"));
  MessageReader in(frame.body);
  VERNIER_TRY(DecodeStatus(in));
  VERNIER_ASSIGN_OR_RETURN(DecodedBlock block, DecodeTensors(in.rest(), std::move(frame.fd)));
  if (block.tensors.size() != 1) return BadAnswer("answer");
  return std::move(block.tensors.front().tensor);
}

Status Worker::Close(uint64_t session) {
  hashing_.erase(session);
  MessageWriter body;
  body.Number(session);
  VERNIER_ASSIGN_OR_RETURN(const Frame frame,
                           Call(MessageType::kClose, body, -1, "closing a session"));
  MessageReader in(frame.body);
  return DecodeStatus(in);
}

std::optional<uint64_t> Worker::TakePeakMemory() {
  if (pid_ <= 0) return std::nullopt;
  const std::string folder = "/proc/" + std::to_string(pid_);
  std::optional<uint64_t> peak;
  std::ifstream status(folder + "/status");
  for (std::string line; std::getline(status, line);) {
    unsigned long long kibibytes = 0;
    if (std::sscanf(line.c_str(), "VmHWM: %llu kB", &kibibytes) != 1) continue;
    peak = kibibytes * 1024;
  }
  std::ofstream(folder + "/clear_refs") << "5\n";  // the mark starts anew from what it holds now
  return peak;
}

std::optional<uint64_t> Worker::ResidentMemory() const {
  return pid_ > 0 ? ResidentMemoryOf(std::to_string(pid_)) : std::nullopt;
}

void Worker::TrimMemory() {
  (void)Ask(MessageType::kTrim, MessageWriter(), -1, "giving memory back");
}

}  // namespace vernier
