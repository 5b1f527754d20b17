#include "backend/worker.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "backend/worker_server.h"

extern char** environ;

namespace vernier {
namespace {

using Clock = std::chrono::steady_clock;

// The descriptor that a worker finds its channel on.
constexpr int kWorkerFd = 3;
constexpr auto kGoodbye = std::chrono::seconds(2);

std::string_view SignalMeaning(int signal) {
  switch (signal) {
    case SIGSEGV: return "SIGSEGV, a memory access violation";
    case SIGFPE: return "SIGFPE, an arithmetic error";
    case SIGABRT: return "SIGABRT, an abort";
    case SIGBUS: return "SIGBUS, a bad memory access";
    case SIGILL: return "SIGILL, an instruction that this CPU does not have";
    case SIGKILL: return "SIGKILL, likely for want of memory";
    case SIGTERM: return "SIGTERM";
    default: return {};
  }
}

std::string DescribeEnd(int wait_status) {
  if (WIFSIGNALED(wait_status)) {
    const int signal = WTERMSIG(wait_status);
    const std::string_view meaning = SignalMeaning(signal);
    return "died of " + (meaning.empty() ? "signal " + std::to_string(signal) : std::string(meaning));
  }
  return "ended with exit status " + std::to_string(WEXITSTATUS(wait_status));
}

std::string OwnExecutable() {
  std::array<char, 4096> path;
  const ssize_t size = ::readlink("/proc/self/exe", path.data(), path.size());
  return size > 0 ? std::string(path.data(), static_cast<size_t>(size)) : "/proc/self/exe";
}

Status BadAnswer(std::string_view what) {
  return BackendError("a worker sent a malformed " + std::string(what));
}

// Owns the attributes of one posix_spawn call.
class SpawnSettings {
 public:
  SpawnSettings(int channel) {
    ::posix_spawn_file_actions_init(&actions_);
    ::posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    // What a framework prints must not mix with our results on stdout.
    ::posix_spawn_file_actions_adddup2(&actions_, STDERR_FILENO, STDOUT_FILENO);
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
  VERNIER_ASSIGN_OR_RETURN(auto ends, Channel::CreatePair());
  std::unique_ptr<Worker> worker(new Worker(std::move(options), logger, std::move(ends.first)));
  if (worker->options_.in_process) {
    worker->thread_ = std::thread(
        [child = std::move(ends.second)]() mutable { ServeWorker(std::move(child)); });
  } else {
    VERNIER_TRY(worker->Spawn(std::move(ends.second)));
  }
  MessageWriter body;
  worker->options_.load.Encode(body);
  VERNIER_TRY(worker->Post(MessageType::kLoad, body, -1));
  return worker;
}

Status Worker::Spawn(Channel child) {
  // dup2 onto the same number would leave close-on-exec set: move the descriptor away first.
  const UniqueFd moved(::fcntl(child.descriptor(), F_DUPFD_CLOEXEC, kWorkerFd + 1));
  if (!moved.valid()) return Internal(std::string("no descriptors left: ") + std::strerror(errno));
  const SpawnSettings settings(moved.get());
  const std::string executable = OwnExecutable();
  std::string name = "vernier", command = "worker", fd = std::to_string(kWorkerFd),
              parent = std::to_string(::getpid());
  const std::array<char*, 5> arguments = {name.data(), command.data(), fd.data(), parent.data(),
                                          nullptr};
  const int error = ::posix_spawn(&pid_, executable.c_str(), settings.actions(),
                                  settings.attributes(), arguments.data(), environ);
  if (error != 0) {
    pid_ = -1;
    return Internal(std::string("a worker cannot be started: ") + std::strerror(error));
  }
  process_.Reset(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)));
  return {};
}

Worker::~Worker() {
  channel_ = Channel(UniqueFd());
  if (thread_.joinable()) thread_.join();
  if (pid_ < 0) return;
  // The worker leaves by itself when the channel closes, unless its framework hangs.
  pollfd end{process_.get(), POLLIN, 0};
  const auto deadline = Clock::now() + kGoodbye;
  while (true) {
    const auto rest = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
    const int ready = rest.count() > 0 ? ::poll(&end, 1, static_cast<int>(rest.count())) : 0;
    if (ready > 0) break;
    if (ready < 0 && errno == EINTR && options_.interrupted->load() == 0) continue;
    Kill();
    break;
  }
  ::waitpid(pid_, nullptr, 0);
}

void Worker::Kill() {
  if (pid_ > 0) ::kill(-pid_, SIGKILL);
}

Status Worker::Post(MessageType type, const MessageWriter& body, int fd) {
  if (!death_.ok()) return death_;
  // A failed send means that the worker is dead; Await finds out of what.
  (void)channel_.Send(static_cast<uint32_t>(type), body.bytes(), fd);
  return {};
}

Status Worker::WaitReadable(std::string_view stage) {
  const auto start = Clock::now();
  while (true) {
    if (options_.interrupted->load() != 0) {
      Kill();
      return Cancelled("interrupted while " + std::string(stage));
    }
    int wait_ms = -1;
    if (options_.timeout_s > 0) {
      const double rest =
          options_.timeout_s - std::chrono::duration<double>(Clock::now() - start).count();
      if (rest <= 0) {
        Kill();
        return BackendError("hung while " + std::string(stage) + ": no answer within " +
                            std::to_string(static_cast<int64_t>(options_.timeout_s)) +
                            " s (--timeout)");
      }
      wait_ms = static_cast<int>(rest * 1000) + 1;
    }
    std::array<pollfd, 2> events = {
        {{channel_.descriptor(), POLLIN, 0}, {process_.get(), POLLIN, 0}}};
    // In process there is no pidfd: a negative descriptor is ignored.
    if (::poll(events.data(), events.size(), wait_ms) > 0) return {};
  }
}

Result<Frame> Worker::Await(std::string_view stage) {
  if (!death_.ok()) return death_;
  while (true) {
    if (Status status = WaitReadable(stage); !status.ok()) {
      death_ = status;
      return status;
    }
    // Also when it was the process that ended: what it said before still counts.
    Result<std::optional<Frame>> frame = channel_.Receive();
    if (!frame.ok() || !frame->has_value()) return Bury(stage);
    if ((*frame)->type != static_cast<uint32_t>(MessageType::kLog)) return std::move(**frame);
    ForwardLog(**frame);
  }
}

Status Worker::Bury(std::string_view stage) {
  std::string how = "closed its connection";
  if (pid_ > 0) {
    // It may have closed the channel and live on.
    Kill();
    int wait_status = 0;
    if (::waitpid(pid_, &wait_status, 0) == pid_) how = DescribeEnd(wait_status);
    pid_ = -1;
  }
  death_ = BackendError(how + " while " + std::string(stage));
  return death_;
}

void Worker::ForwardLog(const Frame& frame) {
  MessageReader in(frame.body);
  const auto severity = static_cast<Severity>(in.Number<int32_t>());
  const std::string text = in.Text();
  if (!in.failed()) logger_.Log(severity, text);
}

Result<Frame> Worker::Call(MessageType type, const MessageWriter& body, int fd,
                           std::string_view stage) {
  VERNIER_TRY(AwaitLoad().status());
  VERNIER_TRY(Post(type, body, fd));
  return Await(stage);
}

Result<BackendInfo> Worker::AwaitLoad() {
  if (loaded_) return *loaded_;
  const auto load = [this]() -> Result<BackendInfo> {
    VERNIER_ASSIGN_OR_RETURN(const Frame frame, Await("loading the framework"));
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

Result<Worker::Outcome> Worker::Run(uint64_t session, const TensorBlock& feed,
                                    std::string_view stage) {
  MessageWriter body;
  body.Number(session);
  body.Append(feed.description);
  VERNIER_ASSIGN_OR_RETURN(Frame frame,
                           Call(MessageType::kRun, body, feed.memory.get(), stage));
  MessageReader in(frame.body);
  VERNIER_TRY(DecodeStatus(in));
  Outcome outcome;
  outcome.inference_seconds = in.Number<double>();
  if (in.failed()) return BadAnswer("answer");
  // Status code, empty message and the seconds lie before the block.
  constexpr size_t kPrefix = sizeof(int32_t) + sizeof(uint64_t) + sizeof(double);
  VERNIER_ASSIGN_OR_RETURN(outcome.outputs, DecodeTensors(std::span(frame.body).subspan(kPrefix),
                                                          std::move(frame.fd)));
  return outcome;
}

Status Worker::Close(uint64_t session) {
  MessageWriter body;
  body.Number(session);
  VERNIER_ASSIGN_OR_RETURN(const Frame frame,
                           Call(MessageType::kClose, body, -1, "closing a session"));
  MessageReader in(frame.body);
  return DecodeStatus(in);
}

}  // namespace vernier
