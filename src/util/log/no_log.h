// A log that discards every line: for probing frameworks, and for commands that print a document.
#pragma once

#include <string_view>

#include "util/log/log.h"

namespace vernier {

class NoLog final : public Logger {
 public:
  bool Enabled(Severity) const override { return false; }
  void Write(Severity, std::string_view, LogColor, bool) override {}
  void Indent(int) override {}
};

}  // namespace vernier
