// Python's idea of an integer, where the question is only whether a word is one.
#pragma once

#include <string_view>

namespace vernier {

/// True where Python's int() succeeds: decimal digits of any number up to 4300, an optional sign,
/// surrounding blanks, single underscores between digits. Digits outside ASCII are not accepted.
bool IsPythonInt(std::string_view text);

}  // namespace vernier
