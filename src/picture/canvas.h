// Draws figures into pixels.
#pragma once

#include "picture/figure.h"
#include "picture/typeface.h"

namespace vernier {

/// The figure on white paper. Shapes that reach over the edge are cut.
Pixels Render(const Figure& figure, const Typeface& typeface);

}  // namespace vernier
