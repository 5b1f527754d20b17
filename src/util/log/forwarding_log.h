// A log that forwards its lines to another one, as a rule says.
#pragma once

#include <algorithm>
#include <functional>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>

#include "util/log/log.h"

namespace vernier {

class ForwardingLog final : public Logger {
 public:
  /// How a line arrives at the other log.
  struct Line {
    Severity severity;
    bool once = false;   ///< repetitions are dropped, whatever the writer says
    bool plain = false;  ///< without its colour
  };
  /// nullopt: a line of this severity is not forwarded.
  using Rule = std::function<std::optional<Line>(Severity severity)>;

  /// Receives lines from a severity on, whether they are forwarded or not.
  struct Listener {
    Severity least = Severity::kCritical;
    std::function<void(Severity severity, std::string_view text)> receive = {};
  };

  /// `logger` must outlive it. Threads may write at the same time.
  ForwardingLog(Logger& logger, Rule rule) : ForwardingLog(logger, std::move(rule), {}) {}
  ForwardingLog(Logger& logger, Rule rule, Listener listener)
      : logger_(logger), rule_(std::move(rule)), listener_(std::move(listener)) {}

  bool Enabled(Severity severity) const override {
    const std::optional<Line> line = rule_(severity);
    return IsReceived(severity) || (line && logger_.Enabled(line->severity));
  }
  void Write(Severity severity, std::string_view text, LogColor color, bool once) override {
    const std::scoped_lock lock(mutex_);
    if (IsReceived(severity)) listener_.receive(severity, text);
    const std::optional<Line> line = rule_(severity);
    if (!line || !logger_.Enabled(line->severity)) return;
    logger_.Write(line->severity, text, line->plain ? LogColor::kDefault : color,
                  once || line->once);
  }
  void Indent(int levels) override { logger_.Indent(levels); }
  std::string_view SetArea(std::string_view area) override { return logger_.SetArea(area); }

 private:
  bool IsReceived(Severity severity) const {
    return listener_.receive && severity >= listener_.least;
  }

  Logger& logger_;
  const Rule rule_;
  const Listener listener_;
  std::mutex mutex_;
};

/// For a search of many runs: passes warnings on once, and everything else as verbose lines. Errors
/// are no news there: that a probe fails is part of the search.
inline ForwardingLog QuietLog(Logger& logger) {
  return ForwardingLog(logger, [](Severity severity) {
    if (severity == Severity::kWarning) return ForwardingLog::Line{severity, true};
    return ForwardingLog::Line{std::min(severity, Severity::kVerbose)};
  });
}

}  // namespace vernier
