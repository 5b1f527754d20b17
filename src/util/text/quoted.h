// A value as messages show it.
#pragma once

#include <string>
#include <string_view>

#include "util/values/joined.h"

namespace vernier {

/// In single quotes, as it is.
inline std::string Quoted(std::string_view text) { return "'" + std::string(text) + "'"; }

/// The first eight names, each quoted, and how many are left.
inline std::string FirstQuoted(const auto& names) {
  constexpr size_t kMost = 8;
  return JoinedUpTo(names, kMost, Quoted);
}

}  // namespace vernier
