// What a person may have meant by a flag that does not exist.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "options/table/option_table.h"

namespace vernier {

/// "--onnxrt" for "--ort": a flag as it is called here; any other word stays as it is.
std::string_view UsualFlag(std::string_view word);

/// The nearest known flag ("--onnxrt" for "--onxrt=1"), or what replaces a flag that Polygraphy
/// used to have. nullopt when nothing is near, or when `word` does not look like a flag.
std::optional<std::string> SuggestFlag(const OptionTable& table, std::string_view word);

/// That as the end of a message, "; did you mean --onnxrt?", or nothing.
std::string DidYouMeanFlag(const OptionTable& table, std::string_view word);

/// Why `word`, which is no flag, was left over: the flag before it in `words` takes no value, or
/// no further one. Empty where that is not the reason.
std::string ExplainSurplus(const OptionTable& table, std::span<const std::string> words,
                           const std::string& word);

}  // namespace vernier
