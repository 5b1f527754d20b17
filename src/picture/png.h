// Pixels as a PNG file.
#pragma once

#include <string>

#include "picture/figure.h"
#include "vernier/status.h"

namespace vernier {

/// The bytes of a PNG file: with a palette where 256 colours are enough, else 24 bits a pixel.
/// Width and height must be positive. kInternal when memory runs out.
Result<std::string> EncodePng(const Pixels& pixels);

}  // namespace vernier
