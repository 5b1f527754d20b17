// What a person may have meant by a flag that does not exist.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "cli/option_table.h"

namespace vernier {

/// The nearest known flag ("--onnxrt" for "--onxrt=1"), or what replaces a flag that Polygraphy
/// used to have. nullopt when nothing is near, or when `word` does not look like a flag.
std::optional<std::string> SuggestFlag(const OptionTable& table, std::string_view word);

}  // namespace vernier
