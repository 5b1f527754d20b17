#include "cli/script/python_call.h"

#include <cmath>

namespace vernier {

std::string PythonOf(double value) {
  const std::string text = FormatFloatRepr(value);
  return std::isfinite(value) ? text : "float('" + text + "')";
}

std::string PythonOf(const TopK& top) {
  return "(" + std::to_string(top.k) + ", " + std::to_string(top.axis) + ")";
}

std::string PythonOf(const std::vector<std::string>& texts) { return FormatPythonList(texts); }

}  // namespace vernier
