// What the structs of a plan say about their fields in EachField(), besides name and place: the
// same rules apply to options, run files and plans that programs fill.
#pragma once

#include <limits>
#include <optional>
#include <string_view>

namespace vernier {

/// What a number may be. NaN is never accepted.
struct NumberRule {
  std::string_view expected = "a number";  ///< in messages: "--rtol: expected a number >= 0, ..."
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();
  bool or_lenient = false;  ///< a lenient run takes every other number as well

  bool Accepts(double value) const { return value >= least && value <= most; }
};

inline constexpr NumberRule kAtLeast0 = {.expected = "a number >= 0", .least = 0};
inline constexpr NumberRule kAtLeast1 = {.expected = "a number >= 1", .least = 1};
inline constexpr NumberRule kAtLeast2 = {.expected = "a number >= 2", .least = 2};
inline constexpr NumberRule kShare = {.expected = "a number from 0 to 1", .least = 0, .most = 1};
/// Polygraphy takes a count below 0 for none.
inline constexpr NumberRule kCount = {.expected = "a number >= 0", .least = 0, .or_lenient = true};
inline constexpr NumberRule kPositions = {
    .expected = "a whole number from 0 to 9223372036854775807", .least = 0};
/// Of a cosine; Polygraphy takes every number.
inline constexpr NumberRule kAtMost1 = {.expected = "a number <= 1", .most = 1, .or_lenient = true};
inline constexpr NumberRule kClasses = {
    .expected = "a whole number from 1 to 1000", .least = 1, .most = 1000};
/// Each is kept with its inputs.
inline constexpr NumberRule kFlipsKept = {
    .expected = "a whole number from 1 to 1000", .least = 1, .most = 1000};
/// How many elements are shown: more would fill the screen, not explain more.
inline constexpr NumberRule kElementsShown = {
    .expected = "a whole number from 0 to 10000", .least = 0, .most = 10000};

/// What a field may be, and whose option sets it.
struct FieldRule {
  std::optional<NumberRule> number = {};  ///< none: nothing is checked here
  bool ours = false;                      ///< no option of Polygraphy

  constexpr FieldRule() = default;
  constexpr FieldRule(const NumberRule& rule) : number(rule) {}  // NOLINT: `field(name, x, kShare)`
};

/// For an option that Polygraphy does not have.
constexpr FieldRule Ours() {
  FieldRule rule;
  rule.ours = true;
  return rule;
}
constexpr FieldRule Ours(const NumberRule& number) {
  FieldRule rule = number;
  rule.ours = true;
  return rule;
}

}  // namespace vernier
