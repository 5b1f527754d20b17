// The content of operators.txt, which the build embeds.
#pragma once

#include <string_view>

namespace vernier::lint_assets {

extern const std::string_view kOperators;

}  // namespace vernier::lint_assets
