// A drawing as a list of shapes. It is laid out once and then written as PNG or as SVG. Coordinates
// are whole pixels from the upper left corner.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "picture/color_map.h"

namespace vernier {

struct Pixels {
  int width = 0;
  int height = 0;
  std::vector<Rgb> colors;  ///< row by row

  Pixels() = default;
  Pixels(int w, int h, Rgb color)
      : width(w), height(h), colors(static_cast<size_t>(w) * static_cast<size_t>(h), color) {}
  Rgb& At(int x, int y) {
    return colors[static_cast<size_t>(y) * static_cast<size_t>(width) + static_cast<size_t>(x)];
  }
  const Rgb& At(int x, int y) const { return const_cast<Pixels*>(this)->At(x, y); }
};

struct Box {
  int x = 0;
  int y = 0;
  int width = 0;
  int height = 0;
};

struct FilledBox {
  Box box;
  Rgb color;
};

/// A frame of one pixel, drawn just inside the box.
struct Outline {
  Box box;
  Rgb color;
};

struct Point {
  int x = 0;
  int y = 0;
};

/// A path two pixels wide.
struct Path {
  std::vector<Point> points;
  Rgb color;
  bool dashed = false;
};

enum class TextSize : uint8_t { kNormal, kHeading };
/// Which end of the text is at x; for upward text, at y.
enum class TextAnchor : uint8_t { kStart, kMiddle, kEnd };

struct Text {
  int x = 0;
  int y = 0;         ///< of the baseline; upward text: x of the baseline is `x`
  std::string text;  ///< UTF-8; anything else is shown as U+FFFD
  TextAnchor anchor = TextAnchor::kStart;
  Rgb color = kInk;
  TextSize size = TextSize::kNormal;
  bool upward = false;
};

/// Pixels stretched over a box, each one a rectangle with sharp edges.
struct Raster {
  Box box;
  Pixels pixels;
};

/// Calls `put(x, y, color)` for each pixel of the raster's box, from the box's corner.
template <typename Put>
void PaintRaster(const Raster& raster, Put put) {
  const auto cell = [](int at, int cells, int pixels) {
    return static_cast<int>(static_cast<int64_t>(at) * cells / pixels);
  };
  for (int y = 0; y < raster.box.height; ++y) {
    const int row = cell(y, raster.pixels.height, raster.box.height);
    for (int x = 0; x < raster.box.width; ++x) {
      put(x, y, raster.pixels.At(cell(x, raster.pixels.width, raster.box.width), row));
    }
  }
}

using Shape = std::variant<FilledBox, Outline, Path, Text, Raster>;

struct Figure {
  int width = 0;
  int height = 0;
  std::string title;          ///< in the SVG's metadata, never shortened
  std::vector<Shape> shapes;  ///< later ones lie above earlier ones

  template <typename T>
  void Add(T shape) {
    shapes.emplace_back(std::move(shape));
  }
};

}  // namespace vernier
