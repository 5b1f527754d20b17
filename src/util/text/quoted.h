// A value as messages show it.
#pragma once

#include <string>
#include <string_view>

namespace vernier {

/// In single quotes, as it is.
inline std::string Quoted(std::string_view text) { return "'" + std::string(text) + "'"; }

}  // namespace vernier
