// Where log lines go. There is no global logger: whoever starts a run passes one in.
#pragma once

#include <cstdint>
#include <string_view>

namespace vernier {

/// Polygraphy's severities, with its numbers: a line is written when its severity is at least the
/// threshold.
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

/// Receives log lines. Implement Enabled(), Write() and Indent(); all are called from the thread
/// that carries out the run.
class Logger {
 public:
  virtual ~Logger() = default;

  /// Test this before building an expensive line.
  virtual bool Enabled(Severity severity) const = 0;

  /// One message; it may span several lines. `once` drops repetitions of the same text.
  virtual void Write(Severity severity, std::string_view text, LogColor color, bool once) = 0;

  /// Lines written between Indent() and Outdent() are shifted by four spaces a level.
  virtual void Indent(int levels) = 0;

  /// Names the part of the program that logs from now on by the source file of Polygraphy that has
  /// the same part, so that `--verbosity comparator:VERBOSE` means the same. Returns the part that
  /// logged before.
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

}  // namespace vernier
