// The bar beside a picture that says which colour is which number.
#pragma once

#include <string>

#include "picture/figure.h"
#include "picture/scale.h"
#include "picture/typeface.h"

namespace vernier {

/// Room to the left of a bar (its mark), its width, and room to the right (ticks and name).
inline constexpr int kBarLead = 62;
inline constexpr int kBarWidth = 22;
inline constexpr int kBarTrail = 104;
inline constexpr int kLeastBar = 190;
inline constexpr int kMostBar = 420;

struct BarLabels {
  std::string name;       ///< written along the bar
  std::string mark_name;  ///< of a value marked on the bar; empty: none is
  double mark = 0;
};

/// The colour map from bottom to top with round numbers beside it. A mark that the scale does not
/// contain is left out.
void DrawColorBar(Figure& figure, const Typeface& typeface, const Scale& scale, const Box& box,
                  const BarLabels& labels);

}  // namespace vernier
