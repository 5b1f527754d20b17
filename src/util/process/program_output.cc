#include "util/process/program_output.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>

#include "util/files/unique_fd.h"

extern char** environ;

namespace vernier {
namespace {

using Clock = std::chrono::steady_clock;

struct Pipe {
  UniqueFd read, write;
};

Result<Pipe> MakePipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    return Internal(std::string("a pipe cannot be created: ") + std::strerror(errno));
  }
  Pipe pipe;
  pipe.read.Reset(ends[0]);
  pipe.write.Reset(ends[1]);
  return pipe;
}

Result<pid_t> Spawn(const std::vector<std::string>& words, const Pipe& out, const Pipe& err) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawnattr_init(&attributes);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, out.write.get(), STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, err.write.get(), STDERR_FILENO);
  ::posix_spawnattr_setpgroup(&attributes, 0);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  pid_t pid = -1;
  const int error =
      ::posix_spawn(&pid, words[0].c_str(), &actions, &attributes, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::posix_spawnattr_destroy(&attributes);
  if (error != 0) {
    return Internal("'" + words[0] + "' cannot be started: " + std::strerror(error));
  }
  return pid;
}

// What can be read now; false at the end of the stream.
bool Drain(const UniqueFd& from, std::string& into) {
  std::array<char, 4096> bytes;
  const ssize_t count = ::read(from.get(), bytes.data(), bytes.size());
  if (count > 0) into.append(bytes.data(), static_cast<size_t>(count));
  return count > 0 || (count < 0 && errno == EINTR);
}

// Both streams up to their ends; false when the time is over before.
bool ReadBoth(const UniqueFd& out, const UniqueFd& err, Clock::time_point end,
              ProgramOutput& into) {
  pollfd streams[2] = {{out.get(), POLLIN, 0}, {err.get(), POLLIN, 0}};
  while (streams[0].fd >= 0 || streams[1].fd >= 0) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now());
    if (left.count() <= 0) return false;
    if (::poll(streams, 2, static_cast<int>(left.count())) <= 0) continue;
    if (streams[0].revents != 0 && !Drain(out, into.out)) streams[0].fd = -1;
    if (streams[1].revents != 0 && !Drain(err, into.err)) streams[1].fd = -1;
  }
  return true;
}

int WaitFor(pid_t pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

Result<ProgramOutput> RunProgram(const std::vector<std::string>& words, double seconds) {
  VERNIER_ASSIGN_OR_RETURN(Pipe out, MakePipe());
  VERNIER_ASSIGN_OR_RETURN(Pipe err, MakePipe());
  VERNIER_ASSIGN_OR_RETURN(const pid_t pid, Spawn(words, out, err));
  out.write.Reset();
  err.write.Reset();
  ProgramOutput output;
  const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                      std::chrono::duration<double>(seconds));
  const bool in_time = ReadBoth(out.read, err.read, end, output);
  if (!in_time) ::kill(-pid, SIGKILL);
  output.exit_code = WaitFor(pid);
  if (!in_time) {
    return BackendError("'" + words[0] + "' did not end within " +
                        std::to_string(static_cast<int>(seconds)) + " s");
  }
  return output;
}

}  // namespace vernier
