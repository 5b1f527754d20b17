// Numbers and strings to text and back, in Python's spelling where Polygraphy's log lines use it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace vernier {

/// '0' to '9', whatever the locale.
inline bool IsDigit(char c) { return c >= '0' && c <= '9'; }

/// A whole decimal integer with an optional sign; surrounding blanks and single underscores between
/// digits are allowed as in Python's int(). nullopt otherwise, or when it does not fit.
std::optional<int64_t> ParseInt(std::string_view text);

/// Python's float(): decimal or scientific notation, "inf", "infinity" and "nan" in any case, with
/// an optional sign and surrounding blanks. Values beyond double's range become infinite.
std::optional<double> ParseDouble(std::string_view text);

/// Python's repr(float): the shortest text that reads back as the same double: "1e-05", "1.0",
/// "0.5", "inf", "nan".
std::string FormatFloatRepr(double value);

/// C's "%.<digits>g", with NaN always "nan".
std::string FormatG(double value, int digits);

/// A share for people, with two digits or more and without an exponent from 100 % on: 0.0571 is
/// "5.7 %", 7.61 "761 %".
std::string FormatPercent(double share);

/// Python's repr(str): single quotes unless the text holds some and no double quote.
std::string QuotePython(std::string_view text);

/// Python's repr of a list of strings: "['a', 'b']".
std::string FormatPythonList(std::span<const std::string> items);

/// "a, b and c", with " and " as `last`.
std::string JoinWords(std::span<const std::string> words, std::string_view last);

std::string_view Trim(std::string_view text);
std::string ToLower(std::string_view text);

/// A byte count for people: "512 B", "1.5 MiB".
std::string FormatBytes(uint64_t bytes);

/// "5, 7-9" of sorted numbers.
std::string NumberRanges(std::span<const size_t> sorted);

}  // namespace vernier
