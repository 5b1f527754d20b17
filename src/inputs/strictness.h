#pragma once

#include <cstdint>

namespace vernier {

/// What happens to input options and input data that do not fit the model. kStrict: an error that
/// names what was expected and what was found. kPolygraphy (`--lenient`): what Polygraphy does,
/// with its warnings.
enum class Strictness : uint8_t { kStrict, kPolygraphy };

}  // namespace vernier
