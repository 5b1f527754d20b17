#pragma once

#include <string>

namespace vernier {

/// The text up to its first line break: for tables, where the rest of a failure, a traceback say,
/// is in the log.
inline std::string FirstLine(const std::string& text) { return text.substr(0, text.find('\n')); }

}  // namespace vernier
