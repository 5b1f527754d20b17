#include "cli/script/python_call.h"

#include <algorithm>
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

std::string PythonMember(std::string_view object, std::string_view word) {
  const auto letter = [](char c) {
    return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  };
  const auto of_name = [&](char c) { return letter(c) || (c >= '0' && c <= '9'); };
  const std::string text(object);
  if (!word.empty() && letter(word.front()) && std::all_of(word.begin(), word.end(), of_name)) {
    return text + "." + std::string(word);
  }
  return "getattr(" + text + ", " + QuotePython(word) + ")";
}

std::string TensorRtMember(std::string_view enumeration, std::string_view word) {
  std::string upper(word);
  for (char& c : upper) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return PythonMember("trt." + std::string(enumeration), upper);
}

std::string TensorRtMembers(std::string_view enumeration, std::span<const std::string> words) {
  std::string text;
  for (const std::string& word : words) {
    text += (text.empty() ? "" : ", ") + TensorRtMember(enumeration, word);
  }
  return "[" + text + "]";
}

}  // namespace vernier
