// A log that discards every line: frameworks are only probed, or only a document is printed.
#pragma once

#include <string_view>

#include "util/log.h"

namespace vernier {

class NoLog final : public Logger {
 public:
  bool Enabled(Severity) const override { return false; }
  void Write(Severity, std::string_view, LogColor, bool) override {}
  void Indent(int) override {}
};

}  // namespace vernier
