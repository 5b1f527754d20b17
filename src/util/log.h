// Log lines in the peer's layout. The logger is an object that main owns and passes down; there is
// no global one.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace vernier {

/// The peer's severities and their numbers (spec of `--verbosity`).
enum class Severity : int {
  kUltraVerbose = -20,
  kSuperVerbose = -10,
  kExtraVerbose = 0,
  kVerbose = 10,
  kInfo = 20,
  kStart = 22,
  kFinish = 28,
  kWarning = 30,
  kError = 40,
  kCritical = 50,
};

/// How the line is coloured on a terminal.
enum class LogColor : uint8_t { kDefault, kNone, kGreen, kRed, kYellow, kCyan };

/// Where log lines go. Implemented by report/console and by tests.
class Logger {
 public:
  virtual ~Logger() = default;

  /// Test this before building an expensive line.
  virtual bool Enabled(Severity severity) const = 0;

  /// One message; it may span several lines. `once` drops repetitions of the same text.
  virtual void Write(Severity severity, std::string_view text, LogColor color, bool once) = 0;

  /// Lines written between Indent() and Outdent() are shifted by four spaces a level.
  virtual void Indent(int levels) = 0;

  /// The part of the program that speaks from now on, named as the peer's source files are, so that
  /// `--verbosity comparator:VERBOSE` means the same. Returns the part that spoke before.
  virtual std::string_view SetArea(std::string_view) { return {}; }

  void Log(Severity severity, std::string_view text, LogColor color = LogColor::kDefault) {
    if (Enabled(severity)) Write(severity, text, color, false);
  }
  void Once(Severity severity, std::string_view text, LogColor color = LogColor::kDefault) {
    if (Enabled(severity)) Write(severity, text, color, true);
  }
  void Verbose(std::string_view text) { Log(Severity::kVerbose, text); }
  void Info(std::string_view text) { Log(Severity::kInfo, text); }
  void Start(std::string_view text) { Log(Severity::kStart, text); }
  void Finish(std::string_view text) { Log(Severity::kFinish, text); }
  void Warning(std::string_view text) { Log(Severity::kWarning, text); }
  void Error(std::string_view text) { Log(Severity::kError, text); }
  void Critical(std::string_view text) { Log(Severity::kCritical, text); }
};

/// Indents the log for a scope.
class LogIndent {
 public:
  explicit LogIndent(Logger& logger, int levels = 1) : logger_(logger), levels_(levels) {
    logger_.Indent(levels_);
  }
  ~LogIndent() { logger_.Indent(-levels_); }
  LogIndent(const LogIndent&) = delete;
  LogIndent& operator=(const LogIndent&) = delete;

 private:
  Logger& logger_;
  int levels_;
};

/// Names the part of the program that speaks within a scope.
class LogArea {
 public:
  LogArea(Logger& logger, std::string_view area) : logger_(logger), before_(logger.SetArea(area)) {}
  ~LogArea() { logger_.SetArea(before_); }
  LogArea(const LogArea&) = delete;
  LogArea& operator=(const LogArea&) = delete;

 private:
  Logger& logger_;
  std::string_view before_;
};

namespace log_area {
inline constexpr std::string_view kTools = "tools/_main.py";
inline constexpr std::string_view kComparator = "comparator/comparator.py";
inline constexpr std::string_view kCompare = "comparator/compare.py";
inline constexpr std::string_view kDataLoader = "comparator/data_loader.py";
inline constexpr std::string_view kRunner = "backend/base/runner.py";
inline constexpr std::string_view kOnnx = "backend/onnx/loader.py";
inline constexpr std::string_view kBackend = "backend/onnxrt/loader.py";
}  // namespace log_area

}  // namespace vernier
