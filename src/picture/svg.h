// Figures as SVG files.
#pragma once

#include <string>
#include <string_view>

#include "picture/figure.h"
#include "picture/typeface.h"
#include "vernier/status.h"

namespace vernier {

/// The figure as an SVG document that stands alone: text stays text, rasters become PNG files in
/// data URLs. Errors are those of EncodePng.
Result<std::string> FormatSvg(const Figure& figure, const Typeface& typeface);

/// UTF-8 that may stand in XML text and attributes; what is none becomes U+FFFD.
std::string EscapeXml(std::string_view text);

}  // namespace vernier
