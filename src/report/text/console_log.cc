#include "report/text/console_log.h"

#include <fcntl.h>
#include <stdio_ext.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <utility>

#include "util/files/atomic_file.h"
#include "util/log/workflow_commands.h"
#include "util/text/visible_text.h"

namespace vernier {
namespace {

constexpr int kIndentWidth = 4;
// How old a line may get before whoever follows a log file sees it.
constexpr auto kFlushInterval = std::chrono::milliseconds(50);

struct SeverityLook {
  Severity severity;
  std::string_view letter;
  std::string_view color;
};

constexpr std::array<SeverityLook, 10> kLooks = {{
    {Severity::kUltraVerbose, "[U] ", "\033[90m"},
    {Severity::kSuperVerbose, "[S] ", "\033[35m"},
    {Severity::kExtraVerbose, "[X] ", "\033[35m"},
    {Severity::kVerbose, "[V] ", "\033[95m"},
    {Severity::kInfo, "[I] ", ""},
    {Severity::kStart, "[I] ", "\033[96m"},
    {Severity::kFinish, "[I] ", "\033[92m"},
    {Severity::kWarning, "[W] ", "\033[93m"},
    {Severity::kError, "[E] ", "\033[91m"},
    {Severity::kCritical, "[!] ", "\033[91m"},
}};

// A plug-in may send any number: the look of the next known severity below it.
const SeverityLook& LookOf(Severity severity) {
  const auto above = std::find_if(kLooks.begin(), kLooks.end(), [&](const SeverityLook& look) {
    return look.severity > severity;
  });
  return above == kLooks.begin() ? kLooks.front() : *(above - 1);
}

// In one call of the system: what a framework writes to the same place comes between lines, and not
// where a buffer happens to end.
void WriteWhole(std::FILE* stream, const std::string& line) {
  constexpr size_t kLeastRoom = 1024;  // a buffer that nothing was written to yet has no size
  const size_t room = std::max(__fbufsize(stream), kLeastRoom);
  if (__fpending(stream) + line.size() > room) std::fflush(stream);
  size_t done = 0;
  while (line.size() > room && done < line.size()) {
    const ssize_t written = ::write(::fileno(stream), line.data() + done, line.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) break;  // the stream notes why
    done += static_cast<size_t>(written);
  }
  std::fwrite(line.data() + done, 1, line.size() - done, stream);
}

std::string_view ColorCode(LogColor color, std::string_view fallback) {
  switch (color) {
    case LogColor::kNone:
      return "";
    case LogColor::kGreen:
      return "\033[92m";
    case LogColor::kRed:
      return "\033[91m";
    case LogColor::kYellow:
      return "\033[93m";
    case LogColor::kCyan:
      return "\033[96m";
    case LogColor::kDefault:
      break;
  }
  return fallback;
}

// Python's splitlines for "\n": a final line break starts no further line.
std::vector<std::string_view> SplitLines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::string VisibleLines(std::string_view text) {
  std::string visible;
  bool first = true;
  for (const std::string_view line : SplitLines(text)) {
    if (!first) visible += '\n';
    AppendVisible(line, visible);
    first = false;
  }
  return visible;
}

bool IsSet(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

}  // namespace

bool TerminalWantsColors() {
  if (IsSet("NO_COLOR")) return false;
  if (IsSet("FORCE_COLOR") || IsSet("CLICOLOR_FORCE")) return true;
  const char* term = std::getenv("TERM");
  return ::isatty(STDOUT_FILENO) == 1 && (term == nullptr || std::strcmp(term, "dumb") != 0);
}

namespace {

// A FIFO without a reader is an error (ENXIO), and nothing to wait for. Null: see errno.
std::FILE* OpenToWrite(const std::string& path) {
  constexpr int kFlags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NONBLOCK;
  const int file = ::open(path.c_str(), kFlags, 0666);
  if (file < 0) return nullptr;
  ::fcntl(file, F_SETFL, ::fcntl(file, F_GETFL) & ~O_NONBLOCK);
  return ::fdopen(file, "w");
}

}  // namespace

Result<std::unique_ptr<ConsoleLog>> ConsoleLog::Create(ConsoleLogOptions options) {
  std::unique_ptr<ConsoleLog> log(new ConsoleLog(std::move(options)));
  const std::string& path = log->options_.log_file;
  if (path.empty()) return log;
  const std::string folder = std::filesystem::path(path).parent_path().string();
  if (!folder.empty()) VERNIER_TRY(CreateDirectories(folder));
  log->log_file_ = OpenToWrite(path);
  if (log->log_file_ == nullptr) {
    return IoError("--log-file: '" + path + "' cannot be written: " + std::strerror(errno));
  }
  return log;
}

ConsoleLog::~ConsoleLog() { Close(); }

bool ConsoleLog::Close() {
  if (log_file_ == nullptr) return true;
  const bool written = std::ferror(log_file_) == 0;
  return std::fclose(std::exchange(log_file_, nullptr)) == 0 && written;
}

std::string_view ConsoleLog::SetArea(std::string_view area) {
  const std::string_view before = area_;
  area_ = area;
  area_threshold_ = options_.threshold;
  size_t matched = 0;
  for (const AreaSeverity& entry : options_.areas) {
    const std::string_view path = entry.area;
    // Whole components: "backend" covers "backend/onnx", not "backend2".
    const bool covers =
        area.starts_with(path) && (area.size() == path.size() || area[path.size()] == '/');
    if (!covers || path.size() < matched) continue;
    matched = path.size();
    area_threshold_ = entry.threshold;
  }
  return before;
}

std::string ConsoleLog::Prefix(Severity severity) const {
  std::string prefix(LookOf(severity).letter);
  if (options_.timestamp) {
    char text[32];
    const std::time_t now = std::time(nullptr);
    std::tm local{};
    ::localtime_r(&now, &local);
    prefix.append(text, std::strftime(text, sizeof(text), "(%X) ", &local));
  }
  if (options_.line_info) prefix += "[" + std::string(area_) + "] ";
  return prefix;
}

void ConsoleLog::Write(Severity severity, std::string_view text, LogColor color, bool once) {
  if (!Enabled(severity)) return;
  if (once && !logged_once_.emplace(text).second) return;
  const std::string prefix = Prefix(severity);
  const std::string indent(static_cast<size_t>(std::max(indent_, 0) * kIndentWidth), ' ');
  std::string message = prefix + indent;
  bool first = true;
  for (const std::string_view line : SplitLines(text)) {
    if (!first) message += "\n" + indent + std::string(prefix.size(), ' ');
    AppendVisible(line, message);
    first = false;
  }
  Emit(severity >= Severity::kCritical ? stderr : stdout, message,
       ColorCode(color, LookOf(severity).color));
  // What comes before a long silence, or before the end, is seen at once.
  const bool milestone = severity >= Severity::kStart;
  if (milestone || std::chrono::steady_clock::now() - flushed_ > kFlushInterval) Flush();
}

void ConsoleLog::Plain(std::string_view text) {
  if (options_.threshold >= Severity::kCritical) return;
  Emit(stdout, VisibleLines(text), "");
}

void ConsoleLog::WorkflowCommands(std::string_view text) {
  if (options_.threshold >= Severity::kCritical) return;
  Print(stdout, VisibleLines(text), "");
}

void ConsoleLog::Emit(std::FILE* stream, const std::string& text, std::string_view color) {
  if (options_.in_workflow) {
    Print(stream, WithoutWorkflowCommands(text), color);
  } else {
    Print(stream, text, color);
  }
}

void ConsoleLog::Print(std::FILE* stream, const std::string& text, std::string_view color) {
  if (options_.colors && !color.empty()) {
    WriteWhole(stream, std::string(color) + text + "\033[0m\n");
  } else {
    WriteWhole(stream, text + '\n');
  }
  // Order between the two streams, and with what a framework prints, is worth a flush on terminals
  // and before anything critical.
  if (stream == stderr || options_.colors) std::fflush(stdout);
  if (log_file_ != nullptr) {
    std::fwrite(text.data(), 1, text.size(), log_file_);
    std::fputc('\n', log_file_);
  }
}

void ConsoleLog::Flush() {
  std::fflush(stdout);
  if (log_file_ != nullptr) std::fflush(log_file_);
  flushed_ = std::chrono::steady_clock::now();
}

}  // namespace vernier
