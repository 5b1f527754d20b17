// Suggestions for a mistyped name.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "vernier/status.h"

namespace vernier {

/// At most `limit` of the candidates that resemble `word`, best first: Python's
/// difflib.get_close_matches, for texts shorter than 200 bytes. `cutoff` is the least share of
/// characters in common, 0 to 1. Time grows with the cube of the lengths.
std::vector<std::string> CloseMatches(std::string_view word,
                                      std::span<const std::string_view> candidates,
                                      size_t limit = 5, double cutoff = 0.6);

/// What `word` most likely stands for: a candidate that differs in case only, one that begins with
/// at least three letters of it, or the closest by CloseMatches, whatever the case. Empty where
/// none is near.
std::string NearestName(std::string_view word, std::span<const std::string_view> candidates);

/// The end of a message about a mistyped name: "; did you mean 'size'?", of several "; did you mean
/// 'run' or 'report'?". Empty for none.
std::string DidYouMean(std::string_view near);
std::string DidYouMean(std::span<const std::string> near);

/// The same with the nearest name, by the beginning of a word that is long.
std::string DidYouMean(std::string_view word, std::span<const std::string_view> candidates);

/// Where words must be among names, and how messages call one of these, and all.
struct KnownNames {
  std::string_view flag;    ///< "--skip"
  std::string_view one;     ///< "a rule"
  std::string_view plural;  ///< "rules"
  std::span<const std::string_view> names;
};

/// kInvalidArgument for the first word that is none of the names: "--skip: 'sise' is not a rule;
/// did you mean 'size'?", or, where none is near, "--skip: 'x' is not a rule; the rules are: size,
/// type".
Status CheckNames(std::span<const std::string> words, const KnownNames& known);

}  // namespace vernier
