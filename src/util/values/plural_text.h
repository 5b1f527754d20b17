#pragma once

#include <concepts>
#include <string>
#include <string_view>

namespace vernier {

/// "1 output", "3 outputs": for nouns whose plural is an "s".
std::string Counted(std::integral auto count, std::string_view noun) {
  return std::to_string(count) + " " + std::string(noun) + (count == 1 ? "" : "s");
}

/// Of words with another plural: "1 set of shapes", "3 sets of shapes".
std::string Counted(std::integral auto count, std::string_view one, std::string_view more) {
  return std::to_string(count) + " " + std::string(count == 1 ? one : more);
}

/// Of a number that is shown already: "1 point", "0.5 points".
inline std::string Counted(std::string_view shown, std::string_view noun) {
  return std::string(shown) + " " + std::string(noun) + (shown == "1" ? "" : "s");
}

/// The noun that goes with a count that is not printed: "step" with 1, "steps" with any other.
std::string Noun(std::integral auto count, std::string_view one, std::string_view more) {
  return std::string(count == 1 ? one : more);
}

/// The verb that goes with a count: "is" with 1, "are" with any other.
std::string Verb(std::integral auto count, std::string_view one, std::string_view more) {
  return std::string(count == 1 ? one : more);
}

/// "0 of 1 output", "1 of 3 outputs".
std::string CountedOf(std::integral auto some, std::integral auto all, std::string_view noun) {
  return std::to_string(some) + " of " + Counted(all, noun);
}

}  // namespace vernier
