#include "picture/canvas.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace vernier {
namespace {

constexpr int kInkLevels = 15;
// Pixels of ink and of gap in dashed paths.
constexpr int kDash = 7;
constexpr int kGap = 5;

class Canvas {
 public:
  Canvas(const Figure& figure, const Typeface& typeface)
      : pixels_(figure.width, figure.height, kPaper), typeface_(typeface) {}

  void operator()(const FilledBox& shape) { Fill(shape.box, shape.color); }

  void operator()(const Outline& shape) {
    const Box& b = shape.box;
    Fill({b.x, b.y, b.width, 1}, shape.color);
    Fill({b.x, b.y + b.height - 1, b.width, 1}, shape.color);
    Fill({b.x, b.y, 1, b.height}, shape.color);
    Fill({b.x + b.width - 1, b.y, 1, b.height}, shape.color);
  }

  void operator()(const Raster& shape) {
    PaintRaster(shape,
                [&](int x, int y, Rgb color) { Put(shape.box.x + x, shape.box.y + y, color); });
  }

  void operator()(const Path& shape) {
    int length = 0;
    for (size_t i = 1; i < shape.points.size(); ++i) {
      Line(shape.points[i - 1], shape.points[i], shape, length);
    }
  }

  void operator()(const Text& shape) {
    const GlyphTable& table = typeface_.table(shape.size);
    const int width = table.Width(shape.text);
    int along = shape.anchor == TextAnchor::kStart    ? 0
                : shape.anchor == TextAnchor::kMiddle ? -width / 2
                                                      : -width;
    for (std::string_view rest = shape.text; !rest.empty();) {
      const Glyph& glyph = table.Find(NextCharacter(rest));
      Stamp(glyph, table, shape, along);
      along += glyph.advance;
    }
  }

  Pixels Take() && { return std::move(pixels_); }

 private:
  bool Inside(int x, int y) const {
    return x >= 0 && y >= 0 && x < pixels_.width && y < pixels_.height;
  }
  void Put(int x, int y, Rgb color) {
    if (Inside(x, y)) pixels_.At(x, y) = color;
  }

  void Fill(const Box& box, Rgb color) {
    const int x0 = std::max(box.x, 0);
    const int x1 = std::min(box.x + box.width, pixels_.width);
    for (int y = std::max(box.y, 0); y < std::min(box.y + box.height, pixels_.height); ++y) {
      for (int x = x0; x < x1; ++x) pixels_.At(x, y) = color;
    }
  }

  // Two by two pixels at each step of the longer axis; `length` counts steps over the whole path.
  void Line(Point from, Point to, const Path& path, int& length) {
    const int steps = std::max({std::abs(to.x - from.x), std::abs(to.y - from.y), 1});
    for (int i = 0; i < steps; ++i, ++length) {
      if (path.dashed && length % (kDash + kGap) >= kDash) continue;
      const double t = static_cast<double>(i) / steps;
      const auto x = static_cast<int>(std::lround(from.x + t * (to.x - from.x)));
      const auto y = static_cast<int>(std::lround(from.y + t * (to.y - from.y)));
      Fill({x, y, 2, 2}, path.color);
    }
  }

  void Blend(int x, int y, Rgb color, int ink) {
    if (ink == 0 || !Inside(x, y)) return;
    Rgb& below = pixels_.At(x, y);
    const auto mix = [ink](uint8_t under, uint8_t over) {
      return static_cast<uint8_t>((under * (kInkLevels - ink) + over * ink + kInkLevels / 2) /
                                  kInkLevels);
    };
    below = {mix(below.red, color.red), mix(below.green, color.green), mix(below.blue, color.blue)};
  }

  void Stamp(const Glyph& glyph, const GlyphTable& table, const Text& text, int along) {
    for (int row = 0; row < table.height(); ++row) {
      for (int column = 0; column < glyph.advance; ++column) {
        const int ink = glyph.ink[static_cast<size_t>(row * glyph.advance + column)];
        const int above = row - table.ascent();
        if (text.upward) {
          Blend(text.x + above, text.y - along - column, text.color, ink);
        } else {
          Blend(text.x + along + column, text.y + above, text.color, ink);
        }
      }
    }
  }

  Pixels pixels_;
  const Typeface& typeface_;
};

}  // namespace

Pixels Render(const Figure& figure, const Typeface& typeface) {
  Canvas canvas(figure, typeface);
  for (const Shape& shape : figure.shapes) std::visit(canvas, shape);
  return std::move(canvas).Take();
}

}  // namespace vernier
