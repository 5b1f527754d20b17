// The process of a worker: how it is started, how it ends, what it holds.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <span>
#include <string_view>

#include "backend/no_descriptors.h"
#include "backend/worker.h"
#include "util/own_program.h"
#include "util/process_memory.h"

extern char** environ;

namespace vernier {
namespace {

// The descriptor that a worker finds its channel on.
constexpr int kWorkerFd = 3;
// How long a framework may take to unload when no --timeout says.
constexpr double kGoodbyeSeconds = 10;
// How long the end of a process may follow the end of its connection.
constexpr int kEndMs = 500;
// A signal that comes just before poll() does not end it: look again that often.
constexpr int kAliveCheckMs = 100;

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

std::string AfterVerdict(const std::string& lines) {
  return lines.empty() ? lines : "\nThe last it wrote to standard error:\n" + lines;
}

std::string OwnExecutable() {
  const std::string path = OwnProgram().string();
  return path.empty() ? "/proc/self/exe" : path;
}

std::vector<char*> Pointers(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

// This process's environment with `more` in place of variables of the same names. Of two settings
// of one variable in `more`, the last one counts.
std::vector<char*> Environment(std::vector<std::string>& more) {
  std::vector<char*> all;
  const auto is_set = [](const std::string& variable, const auto& later) {
    const std::string name = variable.substr(0, variable.find('=') + 1);
    return std::ranges::any_of(later,
                               [&](std::string_view other) { return other.starts_with(name); });
  };
  for (size_t i = 0; i < more.size(); ++i) {
    if (!is_set(more[i], std::span(more).subspan(i + 1))) all.push_back(more[i].data());
  }
  for (char** variable = environ; *variable != nullptr; ++variable) {
    if (!is_set(*variable, more)) all.push_back(*variable);
  }
  all.push_back(nullptr);
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

Status Worker::Spawn(Channel child) {
  // dup2 onto the same number would leave close-on-exec set: move the descriptor away first.
  const UniqueFd moved(::fcntl(child.descriptor(), F_DUPFD_CLOEXEC, kWorkerFd + 1));
  if (!moved.valid()) return NoDescriptorsLeft();
  VERNIER_ASSIGN_OR_RETURN(said_, StderrRelay::Start(RuleOfWords()));
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
  const Request request = MakeRequest("unloading the framework");
  const double limit = options_.timeout_s > 0 ? options_.timeout_s : kGoodbyeSeconds;
  const bool was_alive = death_.ok();
  pollfd end{process_.get(), POLLIN, 0};
  // It leaves by itself when the channel closes, unless its framework hangs.
  while (death_.ok() && ::poll(&end, 1, kAliveCheckMs) <= 0) {
    if (options_.interrupted->load() != 0) {
      (void)EndBy(Cancelled("interrupted while unloading the framework"));
    } else if (request.seconds() > limit) {
      (void)EndLate("hung while unloading the framework");
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

Status Worker::EndLate(std::string what) {
  ran_out_of_time_ = true;
  return EndBy(BackendError(std::move(what) + LastWords()));
}

bool Worker::HasEnded() const {
  // In process there is no pidfd: a negative descriptor is ignored.
  pollfd end{process_.get(), POLLIN, 0};
  return ::poll(&end, 1, 0) > 0;
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

RelayRule Worker::RuleOfWords() const {
  if (options_.speaks_for_user) return RelayRule::kPassOn;
  const LogArea area(logger_, log_area::kBackend);
  return logger_.Enabled(Severity::kVerbose) ? RelayRule::kPassOnPlainly : RelayRule::kKeep;
}

// For the end of a verdict, after its first line: what the process wrote before it ended.
std::string Worker::LastWords() {
  return said_ == nullptr ? std::string() : AfterVerdict(said_->Stop());
}

std::string Worker::UnseenWords() {
  return said_ == nullptr || !death_.ok() ? std::string() : AfterVerdict(said_->TakeKept());
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

}  // namespace vernier
