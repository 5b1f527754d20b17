// A logger for tests: it keeps what is written.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "util/log/log.h"

namespace vernier {

class RecordingLogger final : public Logger {
 public:
  struct Line {
    Severity severity;
    std::string text;
    bool once;
    LogColor color;
  };

  bool Enabled(Severity severity) const override { return severity >= least; }
  void Write(Severity severity, std::string_view text, LogColor color, bool once) override {
    lines.push_back({severity, std::string(text), once, color});
  }
  void Indent(int) override {}

  bool Has(std::string_view part) const {
    for (const Line& line : lines) {
      if (line.text.find(part) != std::string::npos) return true;
    }
    return false;
  }

  /// What was written, from `from` on.
  std::vector<std::string> Texts(Severity from = Severity::kUltraVerbose) const {
    std::vector<std::string> texts;
    for (const Line& line : lines) {
      if (line.severity >= from) texts.push_back(line.text);
    }
    return texts;
  }

  Severity least = Severity::kUltraVerbose;  ///< what it says it writes; it keeps all
  std::vector<Line> lines;
};

}  // namespace vernier
