#include "util/process/child_run.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <utility>

extern char** environ;

namespace vernier {
namespace {

// Owns what posix_spawn is given.
struct Spawning {
  Spawning() {
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawnattr_init(&attributes);
  }
  ~Spawning() {
    ::posix_spawn_file_actions_destroy(&actions);
    ::posix_spawnattr_destroy(&attributes);
  }
  Spawning(const Spawning&) = delete;
  Spawning& operator=(const Spawning&) = delete;

  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
};

// The batch's process and the number of its own words, for EndWithBatch: "4711 1".
constexpr const char* kParentVariable = "VERNIER_BATCH_PROCESS";

}  // namespace

size_t EndWithBatch() {
  const char* const parent = std::getenv(kParentVariable);
  if (parent == nullptr) return 0;
  char* end = nullptr;
  const long of_batch = std::strtol(parent, &end, 10);
  const size_t own_words = std::strtoul(end, nullptr, 10);
  ::unsetenv(kParentVariable);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  // It may have died before the line above.
  if (::getppid() != of_batch) ::raise(SIGTERM);
  return own_words;
}

Result<ChildRun> ChildRun::Spawn(const std::string& program, const std::vector<std::string>& words,
                                 std::string note, const std::string& out, const std::string& err) {
  constexpr int kWrite = O_WRONLY | O_CREAT | O_TRUNC | O_APPEND;
  Spawning spawn;
  ::posix_spawn_file_actions_addopen(&spawn.actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_addopen(&spawn.actions, STDOUT_FILENO, out.c_str(), kWrite, 0666);
  if (err == out) {
    ::posix_spawn_file_actions_adddup2(&spawn.actions, STDOUT_FILENO, STDERR_FILENO);
  } else {
    ::posix_spawn_file_actions_addopen(&spawn.actions, STDERR_FILENO, err.c_str(), kWrite, 0666);
  }
  ::posix_spawnattr_setpgroup(&spawn.attributes, 0);
  ::posix_spawnattr_setflags(&spawn.attributes, POSIX_SPAWN_SETPGROUP);
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  std::vector<char*> variables;
  if (!note.empty()) variables.push_back(note.data());
  for (char** variable = environ; *variable != nullptr; ++variable) variables.push_back(*variable);
  variables.push_back(nullptr);
  ChildRun run;
  const int error = ::posix_spawnp(&run.pid_, program.c_str(), &spawn.actions, &spawn.attributes,
                                   arguments.data(), variables.data());
  if (error != 0) {
    run.pid_ = -1;
    return Internal(std::strerror(error));
  }
  run.process_.Reset(static_cast<int>(::syscall(SYS_pidfd_open, run.pid_, 0)));
  return run;
}

Result<ChildRun> ChildRun::Start(const std::vector<std::string>& words, size_t own_words,
                                 const std::string& log) {
  const std::string batch = std::to_string(::getpid()) + " " + std::to_string(own_words);
  Result<ChildRun> run =
      Spawn("/proc/self/exe", words, std::string(kParentVariable) + "=" + batch, log, log);
  if (run.ok()) return run;
  return Internal("a run cannot be started, with its output in '" + log +
                  "': " + run.status().message());
}

Result<ChildRun> ChildRun::StartProgram(const std::vector<std::string>& words,
                                        const std::string& out, const std::string& err) {
  Result<ChildRun> run = Spawn(words.at(0), words, "", out, err);
  if (run.ok()) return run;
  return InvalidArgument("'" + words[0] + "' cannot be started: " + run.status().message());
}

ChildRun::ChildRun(ChildRun&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), process_(std::move(other.process_)) {}

ChildRun& ChildRun::operator=(ChildRun&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(process_, other.process_);
  return *this;
}

ChildRun::~ChildRun() {
  if (pid_ <= 0) return;
  Stop(SIGKILL);
  Wait();
}

int ChildRun::Wait() {
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

void ChildRun::Stop(int signal) {
  if (pid_ > 0) ::kill(pid_, signal);
}

}  // namespace vernier
