// The log of runs within a search: what is informative in a single run is noise in the tenth.
#pragma once

#include <mutex>

#include "util/log.h"

namespace vernier {

/// Passes warnings on once, and everything else only when the log is verbose. Errors are not passed
/// on: failing probes are part of the search. Several threads may write.
class QuietLogger final : public Logger {
 public:
  explicit QuietLogger(Logger& logger) : logger_(logger) {}

  bool Enabled(Severity severity) const override { return logger_.Enabled(Shown(severity)); }
  void Write(Severity severity, std::string_view text, LogColor color, bool once) override {
    const std::scoped_lock lock(mutex_);
    logger_.Write(Shown(severity), text, color, once || severity == Severity::kWarning);
  }
  void Indent(int levels) override { logger_.Indent(levels); }
  std::string_view SetArea(std::string_view area) override { return logger_.SetArea(area); }

 private:
  static Severity Shown(Severity severity) {
    const bool passes = severity == Severity::kWarning;
    return passes || severity < Severity::kVerbose ? severity : Severity::kVerbose;
  }

  Logger& logger_;
  std::mutex mutex_;
};

}  // namespace vernier
