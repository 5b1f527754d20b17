// Python expressions put together from parts.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "util/text/number_text.h"
#include "vernier/per_output.h"

namespace vernier {

std::string PythonOf(double value);
inline std::string PythonOf(int64_t value) { return std::to_string(value); }
inline std::string PythonOf(const std::string& text) { return QuotePython(text); }
std::string PythonOf(const TopK& top);
std::string PythonOf(const std::vector<std::string>& texts);

/// "object.word"; a word that is no name of Python cannot become code: "getattr(object, 'word')".
std::string PythonMember(std::string_view object, std::string_view word);

/// "trt.Enumeration.WORD".
std::string TensorRtMember(std::string_view enumeration, std::string_view word);

/// "[trt.Enumeration.WORD, ...]".
std::string TensorRtMembers(std::string_view enumeration, std::span<const std::string> words);

/// A dictionary by output; the fallback has the empty name.
template <typename T>
std::string PythonOf(const PerOutput<T>& values) {
  std::string text;
  for (const auto& [name, value] : values.entries) {
    text += (text.empty() ? "" : ", ") + QuotePython(name) + ": " + PythonOf(value);
  }
  if (values.fallback) text += (text.empty() ? "" : ", ") + ("'': " + PythonOf(*values.fallback));
  return "{" + text + "}";
}

/// "Name(a, key=b)".
class PythonCall {
 public:
  explicit PythonCall(std::string_view function) : text_(function) { text_ += '('; }

  PythonCall& Add(std::string_view argument) {
    if (text_.back() != '(') text_ += ", ";
    text_ += argument;
    return *this;
  }
  PythonCall& Add(std::string_view key, const std::string& value) {
    return Add(std::string(key) + "=" + value);
  }
  PythonCall& AddIf(bool condition, std::string_view key, const std::string& value) {
    return condition ? Add(key, value) : *this;
  }
  template <typename T>
  PythonCall& AddGiven(std::string_view key, const PerOutput<T>& values) {
    return AddIf(values.fallback.has_value() || !values.entries.empty(), key, PythonOf(values));
  }

  std::string Text() const { return text_ + ")"; }

 private:
  std::string text_;
};

}  // namespace vernier
