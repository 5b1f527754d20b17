#include "backend/worker/worker_process.h"

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

#include "backend/wire/no_descriptors.h"
#include "backend/worker/worker_server.h"
#include "util/process/own_program.h"
#include "util/process/process_memory.h"

extern char** environ;

namespace vernier {
namespace {

// The descriptor that a worker finds its channel on.
constexpr int kWorkerFd = 3;
// How long the end of a process may follow the end of its connection.
constexpr int kEndMs = 500;
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

Result<std::unique_ptr<WorkerProcess>> WorkerProcess::Start(std::vector<std::string> program,
                                                            std::vector<std::string> environment,
                                                            RelayRule words, Channel served) {
  // dup2 onto the same number would leave close-on-exec set: move the descriptor away first.
  const UniqueFd moved(::fcntl(served.descriptor(), F_DUPFD_CLOEXEC, kWorkerFd + 1));
  if (!moved.valid()) return NoDescriptorsLeft();
  std::unique_ptr<WorkerProcess> made = None();
  VERNIER_ASSIGN_OR_RETURN(made->said_, StderrRelay::Start(words));
  const SpawnSettings settings(moved.get(), made->said_->write_end());
  const std::string executable = OwnExecutable();
  std::vector<std::string> command = {"vernier", "worker", std::to_string(kWorkerFd),
                                      std::to_string(::getpid())};
  command.insert(command.end(), program.begin(), program.end());
  const int error =
      ::posix_spawn(&made->pid_, executable.c_str(), settings.actions(), settings.attributes(),
                    Pointers(command).data(), Environment(environment).data());
  made->said_->CloseWriteEnd();
  if (error != 0) {
    return Internal(std::string("a worker cannot be started: ") + std::strerror(error));
  }
  made->process_.Reset(static_cast<int>(::syscall(SYS_pidfd_open, made->pid_, 0)));
  return made;
}

std::unique_ptr<WorkerProcess> WorkerProcess::InThread(Channel served) {
  std::unique_ptr<WorkerProcess> made = None();
  made->thread_ =
      std::thread([served = std::move(served)]() mutable { ServeWorker(std::move(served)); });
  return made;
}

std::unique_ptr<WorkerProcess> WorkerProcess::None() {
  return std::unique_ptr<WorkerProcess>(new WorkerProcess());
}

bool WorkerProcess::HasEnded(int milliseconds) const {
  pollfd end{process_.get(), POLLIN, 0};
  return ::poll(&end, 1, milliseconds) > 0;
}

void WorkerProcess::Kill() {
  if (pid_ > 0) ::kill(-pid_, SIGKILL);
}

std::optional<int> WorkerProcess::Reap() {
  int wait_status = 0;
  pid_t reaped = 0;
  do {
    reaped = ::waitpid(pid_, &wait_status, 0);
  } while (reaped < 0 && errno == EINTR);
  const bool known = reaped == pid_;
  pid_ = -1;
  return known ? std::optional(wait_status) : std::nullopt;
}

std::optional<std::string> WorkerProcess::Wait() {
  const int wait_status = Reap().value_or(0);
  return wait_status == 0 ? std::nullopt : std::optional(DescribeEnd(wait_status));
}

std::optional<std::string> WorkerProcess::Bury() {
  if (pid_ <= 0) return std::nullopt;
  const bool ended = HasEnded(kEndMs);
  Kill();  // also what it left behind
  const std::optional<int> wait_status = Reap();
  return ended && wait_status ? std::optional(DescribeEnd(*wait_status)) : std::nullopt;
}

void WorkerProcess::EndThread(bool hangs) {
  if (!thread_.joinable()) return;
  hangs ? thread_.detach() : thread_.join();
}

std::string WorkerProcess::LastWords() {
  return said_ == nullptr ? std::string() : AfterVerdict(said_->Stop());
}

std::string WorkerProcess::UnseenWords() {
  return said_ == nullptr ? std::string() : AfterVerdict(said_->TakeKept());
}

std::optional<uint64_t> WorkerProcess::TakePeakMemory() {
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

std::optional<uint64_t> WorkerProcess::ResidentMemory() const {
  return pid_ > 0 ? ResidentMemoryOf(std::to_string(pid_)) : std::nullopt;
}

}  // namespace vernier
