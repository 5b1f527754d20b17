// Names of the parts of a sequence, map or optional: tensors of their own, as
// vn_backend_api::part_at lists them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace vernier {

/// The length of a sequence: an int64 scalar.
inline std::string LengthName(std::string_view whole) { return std::string(whole) + "[]"; }

inline std::string ElementName(std::string_view whole, size_t index) {
  return std::string(whole) + "[" + std::to_string(index) + "]";
}

/// The number of keys of a map: an int64 scalar.
inline std::string KeyCountName(std::string_view whole) { return std::string(whole) + "{}"; }

inline std::string ValueName(std::string_view whole, std::string_view key) {
  return std::string(whole) + "{" + std::string(key) + "}";
}

/// Whether an optional is there: a bool scalar. What it holds has the name of the whole.
inline std::string PresenceName(std::string_view whole) { return std::string(whole) + "?"; }

/// Which of the three a name ends with, as '[', '{' or '?'; 0 for elements and all other tensors.
inline char CountedBy(std::string_view name) {
  if (name.ends_with("[]")) return '[';
  if (name.ends_with("{}")) return '{';
  return name.ends_with("?") ? '?' : '\0';
}

/// What a name of one of the three kinds counts; empty for others.
inline std::string WholeOf(std::string_view name) {
  const char kind = CountedBy(name);
  if (kind == '\0') return "";
  return std::string(name.substr(0, name.size() - (kind == '?' ? 1 : 2)));
}

/// Could a tensor of that name be a part of `whole`? The whole's own name is none.
inline bool IsPartOf(std::string_view name, std::string_view whole) {
  if (name.size() < whole.size() + 1 || !name.starts_with(whole)) return false;
  const std::string_view rest = name.substr(whole.size());
  if (rest == "?") return true;
  return rest.size() > 1 && ((rest.front() == '[' && (rest.back() == ']' || rest.back() == '}')) ||
                             (rest.front() == '{' && rest.back() == '}'));
}

/// Is it the whole itself, or could it be a part of it?
inline bool BelongsTo(std::string_view name, std::string_view whole) {
  return name == whole || IsPartOf(name, whole);
}

}  // namespace vernier
