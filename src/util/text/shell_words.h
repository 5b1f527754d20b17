// Words as text that a shell reads back.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace vernier {

/// The word, quoted where a POSIX shell would see more in it than letters. NUL cannot occur.
std::string QuoteForShell(std::string_view word);

/// The same for a line that people copy: a word that a terminal would not show as it is, for bytes
/// that are not UTF-8 or control characters, becomes bash's $'a\xff'.
std::string QuoteForBash(std::string_view word);

/// The words with blanks between them, each quoted where it needs to be.
std::string JoinForShell(std::span<const std::string> words);

}  // namespace vernier
