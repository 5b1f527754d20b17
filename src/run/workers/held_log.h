// Log lines that are kept until it is their turn to be written.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "util/log/log.h"

namespace vernier {

class HeldLog final : public Logger {
 public:
  /// Which lines are wanted is for the logger that gets them to say: it must not be asked
  /// meanwhile.
  bool Enabled(Severity) const override { return true; }
  void Write(Severity severity, std::string_view text, LogColor color, bool once) override {
    lines_.push_back({severity, std::string(text), color, once});
  }
  void Indent(int) override {}

  void WriteTo(Logger& logger) const {
    for (const Line& line : lines_) {
      if (!logger.Enabled(line.severity)) continue;
      logger.Write(line.severity, line.text, line.color, line.once);
    }
  }

 private:
  struct Line {
    Severity severity;
    std::string text;
    LogColor color;
    bool once;
  };

  std::vector<Line> lines_;
};

}  // namespace vernier
