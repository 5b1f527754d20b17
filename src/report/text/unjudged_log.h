// A log in which errors may be only warnings: what they report is not judged.
#pragma once

#include <string_view>

#include "util/log.h"

namespace vernier {

class UnjudgedLog final : public Logger {
 public:
  /// `logger` must outlive it.
  explicit UnjudgedLog(Logger& logger) : logger_(logger) {}

  /// Whether errors are errors from here on; they are at first.
  void Judge(bool judged) { judged_ = judged; }

  bool Enabled(Severity severity) const override { return logger_.Enabled(Lowered(severity)); }
  void Write(Severity severity, std::string_view text, LogColor color, bool once) override {
    logger_.Write(Lowered(severity), text, color, once);
  }
  void Indent(int levels) override { logger_.Indent(levels); }
  std::string_view SetArea(std::string_view area) override { return logger_.SetArea(area); }

 private:
  Severity Lowered(Severity severity) const {
    return !judged_ && severity == Severity::kError ? Severity::kWarning : severity;
  }

  Logger& logger_;
  bool judged_ = true;
};

}  // namespace vernier
