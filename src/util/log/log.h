// What writes to a Logger: scopes that indent its lines, and the parts of the program.
#pragma once

#include <string_view>

#include "vernier/log.h"

namespace vernier {

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
