#include "python_logger.h"

#include "gil.h"

namespace nb = nanobind;

namespace vernier::python {

PythonLogger::PythonLogger(nb::object write, int threshold)
    : write_(std::move(write)), threshold_(threshold) {}

PythonLogger::~PythonLogger() {
  const GilAcquire gil;
  write_.reset();
}

void PythonLogger::Write(Severity severity, std::string_view text, LogColor, bool once) {
  if (once && !logged_once_.emplace(text).second) return;
  const std::string indent(static_cast<size_t>(indent_) * 4, ' ');
  std::string line = indent + std::string(text);
  for (size_t at = line.find('\n'); at != std::string::npos; at = line.find('\n', at + 1)) {
    line.insert(at + 1, indent);
  }
  const GilAcquire gil;
  // Frameworks may say anything; Python wants UTF-8.
  const nb::object decoded =
      nb::steal(PyUnicode_DecodeUTF8(line.data(), static_cast<Py_ssize_t>(line.size()), "replace"));
  const nb::int_ number(static_cast<int>(severity));
  const nb::str area(area_.data(), area_.size());
  Py_XDECREF(CallBack(write_.ptr(), {number.ptr(), decoded.ptr(), area.ptr()}, "vernier's log"));
}

}  // namespace vernier::python
