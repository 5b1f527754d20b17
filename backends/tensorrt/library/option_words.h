// How the host hands options over: a key is Polygraphy's name of the option, a value holds the
// words of one occurrence, one a line. A switch has the value "1".
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "vernier/backend_sdk.hpp"

namespace vernier::trt {

/// The words of the last occurrence; nothing when the option was not given. An option that was
/// given without words is an empty list.
std::optional<std::vector<std::string>> WordsOf(const sdk::Options& options, std::string_view key);

bool IsOn(const sdk::Options& options, std::string_view key);

/// The last value, or nothing.
std::optional<std::string> ValueOf(const sdk::Options& options, std::string_view key);

/// kInvalidArgument, naming the option, for what is no whole number.
Result<std::optional<int64_t>> NumberOf(const sdk::Options& options, std::string_view key,
                                        std::string_view option);

/// "name:value", split at the last colon. kInvalidArgument without one.
struct NamedWord {
  std::string name;
  std::string value;
};
Result<NamedWord> SplitNamed(std::string_view word, std::string_view option);

/// Does a name match a pattern with * ? [ ]?
bool IsPattern(std::string_view word);
bool Matches(const std::string& pattern, const std::string& name);

}  // namespace vernier::trt
