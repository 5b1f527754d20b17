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

std::string TensorRtMember(std::string_view enumeration, std::string_view word) {
  std::string text = "trt." + std::string(enumeration) + ".";
  for (const char c : word) text += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return text;
}

}  // namespace vernier
