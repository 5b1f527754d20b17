// The colours of pictures: a map from small to large that people with any colour vision can read,
// and colours beside the map for cells that have no place on it.
#pragma once

#include <cstdint>

namespace vernier {

struct Rgb {
  uint8_t red = 0;
  uint8_t green = 0;
  uint8_t blue = 0;
  bool operator==(const Rgb&) const = default;
};

inline constexpr Rgb kPaper = {255, 255, 255};
inline constexpr Rgb kInk = {34, 34, 34};
inline constexpr Rgb kFaintInk = {110, 110, 110};
inline constexpr Rgb kGridLine = {222, 222, 222};
/// Lines of tolerances.
inline constexpr Rgb kTolerance = {213, 94, 0};

/// Cells that are not finite: dark and warm, light and cold, where the map is dark and cold at one
/// end, light and warm at the other. Seen without red or green cones they stay apart from it.
inline constexpr Rgb kNanColor = {215, 25, 28};
inline constexpr Rgb kInfinityColor = {86, 197, 255};
/// An error of zero where the scale is logarithmic and has no place for it.
inline constexpr Rgb kEqualColor = kPaper;

/// Steps of the map: few enough that map, greys and special colours fit a palette of 256.
inline constexpr int kColorSteps = 200;

/// Cividis (Nunez, Anderton and Renslow 2018, doi:10.1371/journal.pone.0199239): dark blue for 0
/// over grey to yellow for 1, its lightness growing evenly. Values outside [0, 1] are clamped; NaN
/// counts as 0.
Rgb Cividis(double position);

/// Black or white, whichever can be read on `background`.
Rgb ReadableOn(Rgb background);

}  // namespace vernier
