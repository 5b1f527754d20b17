// Log lines as calls of a Python function.
#pragma once

#include <nanobind/nanobind.h>

#include <set>
#include <string>
#include <string_view>

#include "util/log/log.h"

namespace vernier::python {

/// Used from any thread, without the GIL. `write` is called with the severity's number, the text
/// and the part of the program; what it raises is printed, as logging does, and dropped.
class PythonLogger final : public Logger {
 public:
  PythonLogger(nanobind::object write, int threshold);
  ~PythonLogger() override;

  bool Enabled(Severity severity) const override {
    return static_cast<int>(severity) >= threshold_;
  }
  void Write(Severity severity, std::string_view text, LogColor color, bool once) override;
  void Indent(int levels) override { indent_ += levels; }
  std::string_view SetArea(std::string_view area) override { return std::exchange(area_, area); }

 private:
  nanobind::object write_;
  int threshold_;
  int indent_ = 0;
  std::string_view area_;
  std::set<std::string, std::less<>> logged_once_;
};

}  // namespace vernier::python
