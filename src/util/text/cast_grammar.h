// Polygraphy's grammar of option values (`1e-3`, `[0,1]`, `name:[2,3]`, `16M`) as pure functions
// from text to values.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "vernier/status.h"

namespace vernier {

/// Python integers have no limit; 128 bits hold every bound that a tensor type can have.
__extension__ using WideInt = __int128;

/// What a word stands for: an integer, a float, a string or a list of such values.
struct CastValue {
  std::variant<WideInt, double, std::string, std::vector<CastValue>> data;
};

/// Reads a word as Polygraphy's `cast` does. Never fails: what is no number is a string.
/// - Blanks around the word are dropped.
/// - A word with `[` or `]` at either end is a list: all brackets at both ends go, the rest is
/// split
///   at commas and each piece is read again. Brackets need not balance; "[]" is a list of one empty
///   string.
/// - Otherwise an integer, else a float ("1e-3", "inf", "nan"), else a string without the quotes
///   around it. An integer of more than 128 bits becomes a float.
/// Lists nested more than 64 deep end in a string.
CastValue ParseCastValue(std::string_view word);

/// Is the word a list that has a bracket at one end only, or more at one end? ParseCastValue()
/// takes it, as Polygraphy does.
bool HasOpenBracket(std::string_view word);

/// The value as a number. nullopt for strings and lists.
std::optional<double> AsDouble(const CastValue& value);

/// The value as an integer. nullopt for floats, strings, lists and what does not fit.
std::optional<int64_t> AsInt64(const CastValue& value);

/// Python's repr: "1", "0.001", "'word'", "[1, 2.0]".
std::string FormatCastValue(const CastValue& value);

std::string FormatWideInt(WideInt value);

/// A word split at its last colon.
struct KeyedWord {
  std::string key;  ///< neither trimmed nor unquoted; "" stands for "everything not named"
  std::string value;
};

struct KeyedValue {
  std::string key;
  CastValue value;
};

/// How the words of one option are split.
struct KeyRules {
  char separator = ':';
  bool allow_empty_key = true;
  /// A word without separator is a value with an empty key; otherwise a key with an empty value.
  bool bare_word_is_value = true;
};

/// Splits at the last separator: "input:0:[1,3]" has the key "input:0". No cast, no merging.
KeyedWord SplitAtLast(std::string_view word, char separator = ':');

/// Polygraphy's `parse_arglist_to_dict`: keys in the order of their first occurrence, the last
/// value of a repeated key. kInvalidArgument when a key is empty and may not be.
Result<std::vector<KeyedValue>> ParseKeyedValues(std::span<const std::string> words,
                                                 const KeyRules& rules = {});

/// A byte count: a number, scientific notation included, with an optional suffix K, M or G in
/// either case (powers of 1024); fractions are cut off. kInvalidArgument for anything else and for
/// counts beyond int64_t. Negative counts are the caller's to refuse.
Result<int64_t> ParseByteCount(std::string_view word);

}  // namespace vernier
