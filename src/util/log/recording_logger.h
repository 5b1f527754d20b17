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
  };

  bool Enabled(Severity) const override { return true; }
  void Write(Severity severity, std::string_view text, LogColor, bool once) override {
    lines.push_back({severity, std::string(text), once});
  }
  void Indent(int) override {}

  bool Has(std::string_view part) const {
    for (const Line& line : lines) {
      if (line.text.find(part) != std::string::npos) return true;
    }
    return false;
  }

  /// What was written, from `least` on.
  std::vector<std::string> Texts(Severity least) const {
    std::vector<std::string> texts;
    for (const Line& line : lines) {
      if (line.severity >= least) texts.push_back(line.text);
    }
    return texts;
  }

  std::vector<Line> lines;
};

}  // namespace vernier
