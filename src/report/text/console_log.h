// The log as people see it: Polygraphy's layout, on stdout, critical lines on stderr.
#pragma once

#include <chrono>
#include <cstdio>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "util/log/log.h"
#include "vernier/status.h"

namespace vernier {

/// A level for a part of the program: "comparator", "backend/onnx/loader.py".
struct AreaSeverity {
  std::string area;
  Severity threshold = Severity::kInfo;
};

struct ConsoleLogOptions {
  Severity threshold = Severity::kInfo;
  std::vector<AreaSeverity> areas;  ///< the longest that matches wins over `threshold`
  bool timestamp = false;           ///< "(HH:MM:SS) " after the letter
  bool line_info = false;  ///< "[comparator/compare.py] ", the part of the program, after the time
  bool colors = false;
  bool in_workflow = false;  ///< lines that a GitHub workflow would obey are broken
  std::string log_file;      ///< also write every emitted line there; empty: no
};

/// Colours are for a person at a terminal: on when stdout is one, off with NO_COLOR, TERM=dumb or
/// `--log-format no-colors`; CLICOLOR_FORCE and FORCE_COLOR turn them on.
bool TerminalWantsColors();

class ConsoleLog final : public Logger {
 public:
  /// kIo when the log file cannot be opened; its missing folders are created.
  static Result<std::unique_ptr<ConsoleLog>> Create(ConsoleLogOptions options);
  ~ConsoleLog() override;

  bool Enabled(Severity severity) const override { return severity >= area_threshold_; }
  void Write(Severity severity, std::string_view text, LogColor color, bool once) override;
  void Indent(int levels) override { indent_ += levels; }
  std::string_view SetArea(std::string_view area) override;

  /// Lines that are ours, below Polygraphy's: no letter, stdout, at every verbosity but --silent's.
  void Plain(std::string_view text);

  /// As Plain, for our own commands to a GitHub workflow, whose parts are escaped.
  void WorkflowCommands(std::string_view text);

  /// Ends the log file. False when it could not be written whole.
  bool Close();

 private:
  explicit ConsoleLog(ConsoleLogOptions options) : options_(std::move(options)) {
    SetArea(log_area::kTools);
  }
  std::string Prefix(Severity severity) const;
  void Emit(std::FILE* stream, const std::string& text, std::string_view color);
  void Print(std::FILE* stream, const std::string& text, std::string_view color);
  void Flush();

  ConsoleLogOptions options_;
  int indent_ = 0;
  std::string_view area_;
  Severity area_threshold_ = Severity::kInfo;
  std::set<std::string, std::less<>> logged_once_;
  std::FILE* log_file_ = nullptr;
  std::chrono::steady_clock::time_point flushed_;
};

}  // namespace vernier
