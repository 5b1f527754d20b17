#include "behaviour.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace fake {
namespace {

// Where a worker finds its connection.
constexpr int kConnection = 3;

struct NamedSignal {
  std::string_view name;
  int number;
};
constexpr NamedSignal kSignals[] = {
    {"SIGSEGV", SIGSEGV}, {"SIGFPE", SIGFPE},   {"SIGABRT", SIGABRT}, {"SIGBUS", SIGBUS},
    {"SIGILL", SIGILL},   {"SIGKILL", SIGKILL}, {"SIGTERM", SIGTERM},
};

// Deep enough for any stack; the addition keeps a compiler from making a loop of it.
// NOLINTNEXTLINE(misc-no-recursion)
int Recurse(int depth) {
  volatile char block[4096];
  block[0] = static_cast<char>(depth);
  return depth < 0 ? 0 : Recurse(depth + 1) + block[0];
}

void Crash(std::string_view how) {
  for (const NamedSignal& signal : kSignals) {
    if (signal.name != how) continue;
    ::signal(signal.number, SIG_DFL);
    ::raise(signal.number);
  }
  if (how == "stack_overflow") {
    volatile int result = Recurse(0);
    (void)result;
  }
  if (how == "double_free") {
    void* volatile block = std::malloc(64);
    std::free(block);
    std::free(block);
  }
  if (how.starts_with("exit=")) std::exit(std::atoi(how.data() + 5));
}

[[noreturn]] void Hang() {
  ::signal(SIGTERM, SIG_IGN);
  while (true) ::pause();
}

void Sleep(int64_t milliseconds) {
  timespec rest{milliseconds / 1000, (milliseconds % 1000) * 1'000'000};
  while (::nanosleep(&rest, &rest) != 0) {
  }
}

// A process that outlives this one and keeps its descriptors open.
void LeaveOrphan() {
  if (::fork() != 0) return;
  Sleep(60'000);
  ::_exit(0);
}

struct FrameHeader {
  uint32_t magic;
  uint32_t type;
  uint64_t body_size;
};

void Say(std::string_view word) {
  const std::string line = std::string(word) + "\n";
  (void)!::write(STDERR_FILENO, line.data(), line.size());
}

void Scribble(std::string_view how) {
  constexpr uint32_t kMagic = 0x31524e56;
  constexpr uint32_t kReply = 100;
  FrameHeader header{kMagic, kReply, uint64_t{1} << 20};
  if (how == "garbage") std::memset(&header, 'x', sizeof(header));
  if (how == "huge") header.body_size = uint64_t{1} << 29;
  (void)::send(kConnection, &header, sizeof(header), MSG_NOSIGNAL);
  if (how == "partial" || how == "huge") Hang();
}

}  // namespace

Behaviour::Behaviour(std::string_view words) {
  while (!words.empty()) {
    const size_t space = std::min(words.find(' '), words.size());
    const std::string_view word = words.substr(0, space);
    words.remove_prefix(std::min(space + 1, words.size()));
    const size_t equals = word.find('=');
    if (equals == word.npos) continue;
    words_[std::string(word.substr(0, equals))] = word.substr(equals + 1);
  }
}

std::string_view Behaviour::Get(std::string_view key) const {
  const auto found = words_.find(key);
  return found != words_.end() ? std::string_view(found->second) : std::string_view();
}

int64_t Behaviour::Number(std::string_view key, int64_t fallback) const {
  const auto found = words_.find(key);
  return found != words_.end() ? std::atoll(found->second.c_str()) : fallback;
}

bool Behaviour::IsAt(const Place& place) const {
  const std::string_view stage = Get("stage");
  if (place.stage != (stage.empty() ? "run" : stage)) return false;
  const auto selected = [this](std::string_view key, int64_t value) {
    const int64_t wanted = Number(key, -1);
    return wanted < 0 || value < 0 || wanted == value;
  };
  if (!place.model.empty() && place.model.find(Get("model")) == place.model.npos) return false;
  return selected("session", place.session) && selected("iteration", place.iteration);
}

std::string_view Behaviour::LieAt(const Place& place) const {
  return IsAt(place) ? Get("lie") : std::string_view();
}

std::string_view Behaviour::LogAt(const Place& place) const {
  return IsAt(place) ? Get("log") : std::string_view();
}

int32_t Behaviour::ActAt(const Place& place) const {
  if (!IsAt(place)) return 0;
  Note(place);
  if (!Get("orphan").empty()) LeaveOrphan();
  if (const int64_t rest = Number("sleep", 0); rest > 0) Sleep(rest);
  if (!Get("flood").empty()) Flood();
  if (!Get("say").empty()) Say(Get("say"));
  if (!Get("scribble").empty()) Scribble(Get("scribble"));
  if (!Get("crash").empty()) Crash(Get("crash"));
  if (!Get("hang").empty()) Hang();
  const int64_t fails_at = Number("fails_at", place.iteration);
  return fails_at == place.iteration ? static_cast<int32_t>(Number("fail", 0)) : 0;
}

void Behaviour::Note(const Place& place) const {
  const std::string path(Get("note"));
  if (path.empty()) return;
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  const std::string line = std::string(place.stage) + " " +
                           std::to_string(now.tv_sec * 1'000'000'000 + now.tv_nsec) + "\n";
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  (void)!::write(file, line.data(), line.size());
  ::close(file);
}

void Behaviour::Flood() const {
  const int target = Get("flood") == "stdout" ? STDOUT_FILENO : STDERR_FILENO;
  std::vector<char> block(1 << 20, 'f');
  for (size_t i = 79; i < block.size(); i += 80) block[i] = '\n';
  for (int64_t rest = Number("bytes", 1 << 20); rest > 0;) {
    const ssize_t written =
        ::write(target, block.data(), std::min(block.size(), static_cast<size_t>(rest)));
    if (written <= 0) return;
    rest -= written;
  }
}

}  // namespace fake
