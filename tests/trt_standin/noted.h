// What the classes of the stand-in for TensorRT share: each call that tells something is a line of
// $VERNIER_TRT_STANDIN_LOG, and what was set is what is got. Included by what make_standin.py
// writes.
#pragma once

#include <any>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace trt_standin {

/// A line of the log. It is shared: whoever writes appends a whole line.
void NoteLine(const std::string& line);

template <typename E>
std::string EnumText(E value) {
  if constexpr (requires { NamesOf(value); }) {
    for (const auto& [name, known] : NamesOf(value)) {
      if (known == value) return std::string(name);
    }
  }
  return std::to_string(static_cast<int64_t>(value));
}

template <typename T>
std::string Text(const T& value) {
  using Pointee = std::remove_cv_t<std::remove_pointer_t<T>>;
  if constexpr (std::is_same_v<T, bool>) {
    return value ? "true" : "false";
  } else if constexpr (std::is_enum_v<T>) {
    return EnumText(value);
  } else if constexpr (std::is_arithmetic_v<T>) {
    char text[32];
    std::snprintf(text, sizeof(text), "%.9g", static_cast<double>(value));
    return text;
  } else if constexpr (std::is_base_of_v<nvinfer1::Dims, T>) {
    std::string text = "[";
    for (int32_t i = 0; i < value.nbDims; ++i) {
      text += (i == 0 ? "" : ",") + std::to_string(value.d[i]);
    }
    return text + "]";
  } else if constexpr (std::is_pointer_v<T> && std::is_same_v<Pointee, char>) {
    return value == nullptr ? "null" : value;
  } else if constexpr (std::is_same_v<std::remove_cv_t<T>, nvinfer1::ITensor> ||
                       std::is_same_v<std::remove_cv_t<T>, nvinfer1::ILayer>) {
    return value.getName();
  } else if constexpr (std::is_pointer_v<T>) {
    return value == nullptr ? "null" : "given";
  } else {
    return "?";
  }
}

inline std::string Joined() { return {}; }
template <typename First, typename... Rest>
std::string Joined(const First& first, const Rest&... rest) {
  std::string text = Text(first);
  ((text += ", " + Text(rest)), ...);
  return text;
}

/// What a setter's last argument is kept under, and a getter looks for.
template <typename... Arguments>
std::string KeyOf(const char* what, const Arguments&... arguments) {
  return std::string(what) + "(" + Joined(arguments...) + ")";
}

class Noted {
 public:
  explicit Noted(std::string_view what) : what_(what) {}

 protected:
  /// Which one it is: "ITensor" becomes "ITensor(x)".
  void Call(std::string_view name) { what_ += "(" + std::string(name) + ")"; }

  template <typename... Arguments>
  void Note(const char* function, const Arguments&... arguments) const {
    NoteLine(what_ + "." + function + "(" + Joined(arguments...) + ")");
  }

  template <typename T>
  void Keep(const std::string& key, const T& value) {
    if constexpr (std::is_same_v<T, const char*>) {
      kept_[key] = std::string(value == nullptr ? "" : value);
    } else if constexpr (std::is_copy_constructible_v<T>) {
      kept_[key] = value;
    }
  }

  template <typename R, typename... Arguments>
  R Kept(const char* what, const Arguments&... arguments) const {
    const auto found = kept_.find(KeyOf(what, arguments...));
    if constexpr (std::is_same_v<R, const char*>) {
      return found == kept_.end() ? "" : std::any_cast<const std::string&>(found->second).c_str();
    } else {
      const R* value = found == kept_.end() ? nullptr : std::any_cast<R>(&found->second);
      return value == nullptr ? R{} : *value;
    }
  }

  bool Has(const std::string& key) const { return kept_.count(key) > 0; }
  void Drop(const std::string& key) { kept_.erase(key); }

  [[noreturn]] void Unforeseen(const char* function) const {
    NoteLine("unforeseen: " + what_ + "." + function);
    std::abort();
  }

 private:
  std::string what_;
  std::map<std::string, std::any> kept_;
};

}  // namespace trt_standin
