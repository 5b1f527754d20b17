#include "backend/worker/stderr_relay.h"
#include "backend/wire/no_descriptors.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

namespace vernier {
namespace {

// What a pipe that has room surely takes without waiting.
constexpr size_t kChunk = PIPE_BUF;
constexpr size_t kTailBytes = 8192;
constexpr size_t kMostHeld = 65536;  // of a line without an end
constexpr size_t kTailLines = 20;
constexpr size_t kLineBytes = 300;
// What a process that was left behind goes on writing is not waited for.
constexpr int kMaxLastReads = 1024;
// How long our own reader may take for each piece of what a dead worker left.
constexpr int kLastWriteMs = 1000;

// The length of the UTF-8 sequence at the start of a text, 0 if there is none.
size_t SequenceLength(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  if (lead < 0x80) return 1;
  const size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return 0;
  const bool whole = std::all_of(text.begin() + 1, text.begin() + static_cast<ptrdiff_t>(length),
                                 [](char c) { return (c & 0xC0) == 0x80; });
  return whole ? length : 0;
}

std::string Printable(std::string_view line) {
  std::string text;
  while (!line.empty()) {
    const size_t length = SequenceLength(line);
    const auto first = static_cast<unsigned char>(line[0]);
    if (length == 0 || first == 0x7F || (first < 0x20 && first != '\t')) {
      text += '?';
    } else if (first == '\t') {
      text += ' ';
    } else {
      text += line.substr(0, length);
    }
    line.remove_prefix(std::max<size_t>(length, 1));
  }
  return text;
}

// A line as a terminal shows it in the end: progress bounds write theirs again and again.
std::string_view LastState(std::string_view line) {
  while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.remove_suffix(1);
  const size_t again = line.rfind('\r');
  return again == std::string_view::npos ? line : line.substr(again + 1);
}

}  // namespace

std::string LastLines(std::string_view text, size_t max_lines, size_t max_line_bytes) {
  std::vector<std::string> lines;
  while (!text.empty() && lines.size() < max_lines) {
    const size_t end = text.rfind('\n');
    const size_t begin = end == std::string_view::npos ? 0 : end + 1;
    std::string_view line = LastState(text.substr(begin));
    text = begin == 0 ? std::string_view() : text.substr(0, end);
    if (line.empty() && lines.empty()) continue;
    const bool longer = line.size() > max_line_bytes;
    if (longer) line.remove_prefix(line.size() - max_line_bytes);
    lines.push_back((longer ? "..." : "") + Printable(line));
  }
  while (!lines.empty() && lines.back().empty()) lines.pop_back();
  std::string joined;
  for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
    joined += (joined.empty() ? "" : "\n") + *line;
  }
  return joined;
}

Result<std::unique_ptr<StderrRelay>> StderrRelay::Start(RelayRule rule) {
  std::array<int, 2> ends;
  const bool made = ::pipe2(ends.data(), O_CLOEXEC) == 0;
  UniqueFd read_end(made ? ends[0] : -1), write_end(made ? ends[1] : -1);
  UniqueFd stop(made ? ::eventfd(0, EFD_CLOEXEC) : -1);
  if (!stop.valid() || ::fcntl(read_end.get(), F_SETFL, O_NONBLOCK) != 0) {
    return NoDescriptorsLeft();
  }
  return std::unique_ptr<StderrRelay>(
      new StderrRelay(rule, std::move(read_end), std::move(write_end), std::move(stop)));
}

StderrRelay::StderrRelay(RelayRule rule, UniqueFd read_end, UniqueFd write_end, UniqueFd stop)
    : rule_(rule),
      strips_(rule == RelayRule::kPassOnPlainly &&
              (::isatty(STDOUT_FILENO) == 0 || ::isatty(STDERR_FILENO) == 0)),
      read_end_(std::move(read_end)),
      write_end_(std::move(write_end)),
      stop_(std::move(stop)) {
  // Signals are the main thread's. A reader that has gone away is seen by write() here.
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { Serve(); });
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

std::string StderrRelay::TakeKept() {
  if (rule_ != RelayRule::kKeep) return "";
  // What was written before an answer came is in the pipe, if the thread has not got it already.
  for (int i = 0; i < kMaxLastReads && PassOn() == Piece::kPassedOn; ++i) continue;
  const std::scoped_lock lock(mutex_);
  std::string kept = LastOfTail();
  tail_.clear();
  cut_ = false;
  return kept;
}

// Without the rest of a line that would read as a whole one.
std::string StderrRelay::LastOfTail() const {
  std::string_view text = tail_;
  const size_t first = text.find('\n');
  const bool more = first != std::string_view::npos && first + 1 < text.size();
  if (cut_ && more && first < kLineBytes) text.remove_prefix(first + 1);
  return LastLines(text, kTailLines, kLineBytes);
}

std::string StderrRelay::Stop() {
  if (thread_.joinable()) {
    const uint64_t one = 1;
    while (::write(stop_.get(), &one, sizeof(one)) < 0 && errno == EINTR) continue;
    thread_.join();
  }
  const std::scoped_lock lock(mutex_);
  return LastOfTail();
}

void StderrRelay::Serve() {
  std::array<pollfd, 2> ready = {{{read_end_.get(), POLLIN, 0}, {stop_.get(), POLLIN, 0}}};
  while (ready[1].revents == 0) {
    if (::poll(ready.data(), ready.size(), -1) < 0) continue;
    // Where everybody has closed it.
    if (ready[0].revents != 0 && PassOn() == Piece::kNoneEver) ready[0].fd = -1;
  }
  for (int i = 0; i < kMaxLastReads && PassOn() == Piece::kPassedOn; ++i) continue;
  const std::scoped_lock lock(mutex_);
  PassOnLines(0);
}

StderrRelay::Piece StderrRelay::PassOn() {
  const std::scoped_lock lock(mutex_);
  std::array<char, kChunk> buffer;
  const ssize_t count = ::read(read_end_.get(), buffer.data(), buffer.size());
  if (count < 0 && errno == EINTR) return Piece::kPassedOn;
  if (count < 0 && errno == EAGAIN) return Piece::kNoneNow;
  if (count <= 0) return Piece::kNoneEver;
  const std::string_view bytes(buffer.data(), static_cast<size_t>(count));
  const std::string plain = filter_.Strip(bytes);
  tail_ += plain;
  if (tail_.size() > 2 * kTailBytes) {
    tail_.erase(0, tail_.size() - kTailBytes);
    cut_ = true;
  }
  if (rule_ == RelayRule::kKeep) return Piece::kPassedOn;
  const std::string_view shown = strips_ ? std::string_view(plain) : bytes;
  if (!in_workflow_) {
    Write(shown);
    return Piece::kPassedOn;
  }
  held_ += shown;
  PassOnLines(kMostHeld);
  return Piece::kPassedOn;
}

// Of what is held, whole lines; all of it where it is more than `most_held` bytes.
void StderrRelay::PassOnLines(size_t most_held) {
  const size_t last = held_.find_last_of("\n\r");
  const size_t whole = last == std::string::npos ? 0 : last + 1;
  const size_t count = held_.size() - whole > most_held ? held_.size() : whole;
  Write(WithoutWorkflowCommands(std::string_view(held_).substr(0, count)));
  held_.erase(0, count);
}

// A reader that does not read must not hold up the end of the run.
void StderrRelay::Write(std::string_view bytes) {
  while (!bytes.empty() && !is_mute_) {
    std::array<pollfd, 2> ready = {{{STDERR_FILENO, POLLOUT, 0}, {stop_.get(), POLLIN, 0}}};
    (void)::poll(ready.data(), ready.size(), -1);
    if (ready[0].revents == 0 && ready[1].revents != 0) {
      is_mute_ = ::poll(ready.data(), 1, kLastWriteMs) <= 0;
      continue;
    }
    const ssize_t count = ::write(STDERR_FILENO, bytes.data(), bytes.size());
    if (count > 0) bytes.remove_prefix(static_cast<size_t>(count));
    is_mute_ = count < 0 && errno != EINTR && errno != EAGAIN;
  }
}

}  // namespace vernier
