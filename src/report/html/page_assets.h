// The parts of the page, embedded when the program is built (cmake/EmbedText.cmake).
#pragma once

#include <string_view>

namespace vernier::page_assets {

extern const std::string_view kFrame;  ///< HTML with places for the others: {{style}}, ...
extern const std::string_view kStyle;
extern const std::string_view kScript;  ///< our own scripts, one behind the other
extern const std::string_view kD3;      ///< empty when it was not there

}  // namespace vernier::page_assets
