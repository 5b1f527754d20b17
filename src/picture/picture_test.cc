// Pictures pinned by their pixels: drawn, written as PNG, read back by libpng.
#include <gtest/gtest.h>
#include <png.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/test_values.h"
#include "picture/canvas.h"
#include "picture/error_plot.h"
#include "picture/heatmap.h"
#include "picture/png.h"

namespace vernier {
namespace {

Pixels Decode(const std::string& file) {
  png_image image = {};
  image.version = PNG_IMAGE_VERSION;
  EXPECT_NE(png_image_begin_read_from_memory(&image, file.data(), file.size()), 0);
  image.format = PNG_FORMAT_RGB;
  Pixels pixels(static_cast<int>(image.width), static_cast<int>(image.height), kPaper);
  EXPECT_NE(png_image_finish_read(&image, nullptr, pixels.colors.data(), 0, nullptr), 0);
  return pixels;
}

/// Two tensors that agree but for a little noise.
struct Subject {
  std::vector<float> a;
  std::vector<float> b;
  PictureSubject subject;

  explicit Subject(Dims dims) {
    size_t count = 1;
    for (const int64_t dim : dims) count *= static_cast<size_t>(dim);
    b.assign(count, 2);
    a = b;
    for (size_t i = 0; i < count; ++i) a[i] += 1e-6f * static_cast<float>(1 + i % 3);
    subject.output = subject.b_output = "y";
    subject.a_runner = "A";
    subject.b_runner = "B";
    subject.dims = std::move(dims);
  }

  ErrorSurvey Survey() {
    const auto span = [](const std::vector<float>& values) {
      return ElementSpan{DType::kFloat32, std::as_bytes(std::span(values)),
                         static_cast<int64_t>(values.size())};
    };
    subject.source = {span(a), span(b), {1e-5, 1e-5, false}};
    return *SurveyErrors(subject.source, SliceLayout(subject.dims));
  }
  Figure Heatmap(ErrorKind kind, int64_t page = 0) {
    const ErrorSurvey survey = Survey();
    return *DrawHeatmap(subject, kind, SliceLayout(subject.dims), survey, page, Typeface());
  }
  Figure Plot() {
    const ErrorSurvey survey = Survey();
    return *DrawErrorPlot(subject, survey, Typeface());
  }
};

Pixels Drawn(const Figure& figure) { return Decode(*EncodePng(Render(figure, Typeface()))); }

bool IsColorBar(const Raster& raster) {
  return raster.pixels.width == 1 && raster.pixels.height == kColorSteps;
}

/// The boxes of a figure's slices: the rasters but the colour bar.
std::vector<Box> SliceBoxes(const Figure& figure) {
  std::vector<Box> boxes;
  for (const Shape& shape : figure.shapes) {
    const auto* raster = std::get_if<Raster>(&shape);
    if (raster != nullptr && !IsColorBar(*raster)) boxes.push_back(raster->box);
  }
  return boxes;
}

bool HasColorBar(const Figure& figure) {
  return std::any_of(figure.shapes.begin(), figure.shapes.end(), [](const Shape& shape) {
    const auto* raster = std::get_if<Raster>(&shape);
    return raster != nullptr && IsColorBar(*raster);
  });
}

struct Spot {
  int count = 0;
  double x = 0;  ///< the middle
  double y = 0;
};
Spot Find(const Pixels& pixels, const Box& box, Rgb color) {
  Spot spot;
  for (int y = box.y; y < box.y + box.height; ++y) {
    for (int x = box.x; x < box.x + box.width; ++x) {
      if (!(pixels.At(x, y) == color)) continue;
      ++spot.count;
      spot.x += x;
      spot.y += y;
    }
  }
  spot.x /= spot.count;
  spot.y /= spot.count;
  return spot;
}

TEST(EncodePng, RoundTripsFewAndManyColors) {
  Pixels few(7, 5, kPaper);
  few.At(3, 2) = kNanColor;
  EXPECT_EQ(Decode(*EncodePng(few)).colors, few.colors);
  Pixels many(300, 4, kPaper);
  for (int x = 0; x < 300; ++x) {
    many.At(x, 1) = {static_cast<uint8_t>(x), static_cast<uint8_t>(x / 2), 9};
  }
  const std::string file = *EncodePng(many);
  EXPECT_EQ(Decode(file).colors, many.colors);
  EXPECT_EQ(file[25], 2) << "24 bits a pixel";
  EXPECT_EQ((*EncodePng(few))[25], 3) << "a palette";
}

TEST(Heatmap, OneBadElementAmongMillionsIsSeenWhereItIs) {
  Subject s({2000, 3000});
  s.a[1500u * 3000 + 300] = 7;
  for (const ErrorKind kind : {ErrorKind::kAbsolute, ErrorKind::kRelative}) {
    const Figure figure = s.Heatmap(kind);
    EXPECT_LE(figure.width, 1400);
    EXPECT_LE(figure.height, 1000);
    const Pixels pixels = Drawn(figure);
    const Box box = SliceBoxes(figure).at(0);
    const Spot spot = Find(pixels, box, Cividis(1));
    EXPECT_EQ(spot.count, 9);
    EXPECT_NEAR((spot.x - box.x) / box.width, 0.1, 0.01);
    EXPECT_NEAR((spot.y - box.y) / box.height, 0.75, 0.01);
    // All else has the dark blue of the small errors.
    const Rgb corner = pixels.At(box.x, box.y);
    EXPECT_LT(corner.red, 20);
    EXPECT_GT(corner.blue, 70);
  }
}

TEST(Heatmap, NonFiniteCellsHaveTheirOwnColors) {
  Subject s({10, 10});
  s.a[11] = kNan;
  s.a[55] = kInfinity;
  s.a[58] = kInfinity;
  const Figure figure = s.Heatmap(ErrorKind::kAbsolute);
  const Pixels pixels = Drawn(figure);
  const Box box = SliceBoxes(figure).at(0);
  const int cell = box.width / 10;
  // The frame around the worst cell hides none of it, the numbers in the cells some.
  const Spot nan = Find(pixels, box, kNanColor);
  EXPECT_GT(nan.count, cell * cell / 2);
  EXPECT_LE(nan.count, cell * cell);
  EXPECT_NEAR(nan.x, box.x + 1.5 * cell, cell / 3.0);
  EXPECT_NEAR(nan.y, box.y + 1.5 * cell, cell / 3.0);
  const Spot infinite = Find(pixels, box, kInfinityColor);
  EXPECT_GT(infinite.count, cell * cell);
  EXPECT_NEAR(infinite.y, box.y + 5.5 * cell, cell / 3.0);
  // And in the legend, below.
  const Box below = {0, box.y + box.height, pixels.width, pixels.height - box.y - box.height};
  EXPECT_GT(Find(pixels, below, kNanColor).count, 100);
  EXPECT_GT(Find(pixels, below, kInfinityColor).count, 100);
}

TEST(Heatmap, WithoutAnomaliesThereIsNoLegend) {
  const Figure figure = Subject({10, 10}).Heatmap(ErrorKind::kAbsolute);
  const Pixels pixels = Drawn(figure);
  const Box whole = {0, 0, pixels.width, pixels.height};
  EXPECT_EQ(Find(pixels, whole, kNanColor).count, 0);
  EXPECT_EQ(Find(pixels, whole, kInfinityColor).count, 0);
}

TEST(Heatmap, EqualElementsAreBlankOnALogarithmicScale) {
  Subject s({50, 60});
  for (size_t i = 0; i < 600; ++i) s.a[i] = s.b[i];  // the upper ten rows
  const Figure figure = s.Heatmap(ErrorKind::kRelative);
  const Pixels pixels = Drawn(figure);
  const Box box = SliceBoxes(figure).at(0);
  const int blank = Find(pixels, box, kEqualColor).count;
  EXPECT_NEAR(blank / static_cast<double>(box.width * box.height), 0.2, 0.01);
}

TEST(Heatmap, WithoutASizeThereIsNoColorBar) {
  Subject equal({4, 5});
  equal.a = equal.b;
  Subject nan({4, 5});
  nan.a.assign(20, kNan);
  for (const ErrorKind kind : {ErrorKind::kAbsolute, ErrorKind::kRelative}) {
    EXPECT_FALSE(HasColorBar(equal.Heatmap(kind)));
    EXPECT_FALSE(HasColorBar(nan.Heatmap(kind)));
    EXPECT_TRUE(HasColorBar(Subject({4, 5}).Heatmap(kind)));
    const Figure figure = equal.Heatmap(kind);
    const Box box = SliceBoxes(figure).at(0);
    EXPECT_EQ(Drawn(figure).At(box.x + 3, box.y + 3), kEqualColor);
  }
}

TEST(Heatmap, LinearScalesStartAtZero) {
  Subject s({1, 3});
  s.a = {2, 3, 4};
  const Figure figure = s.Heatmap(ErrorKind::kAbsolute);
  const Box box = SliceBoxes(figure).at(0);
  const Pixels pixels = Drawn(figure);
  const auto color = [&](int cell) {
    return pixels.At(box.x + cell * box.width / 3 + 4, box.y + 6);
  };
  EXPECT_EQ(color(0), Cividis(0));
  EXPECT_EQ(color(1), Cividis(0.5));
  EXPECT_EQ(color(2), Cividis(1));
}

TEST(Heatmap, SlicesLieInAGridInTheirOrder) {
  Subject s({2, 5, 20, 30});
  s.a[7u * 600] += 1;  // the first element of slice (1, 2)
  const Figure figure = s.Heatmap(ErrorKind::kAbsolute);
  const std::vector<Box> boxes = SliceBoxes(figure);
  ASSERT_EQ(boxes.size(), 10u);
  const Pixels pixels = Drawn(figure);
  for (size_t i = 0; i < boxes.size(); ++i) {
    const Spot spot = Find(pixels, boxes[i], Cividis(1));
    EXPECT_EQ(spot.count > 0, i == 7) << i;
    for (size_t j = 0; j < i; ++j) {
      const bool apart = boxes[j].x + boxes[j].width < boxes[i].x ||
                         boxes[j].y + boxes[j].height < boxes[i].y ||
                         boxes[i].x + boxes[i].width < boxes[j].x;
      EXPECT_TRUE(apart) << i << " and " << j;
    }
  }
}

TEST(Heatmap, AnyShapeFitsAPageOfBoundedSize) {
  for (const Dims& dims : {Dims{},
                           {1},
                           {1, 100000},
                           {100000, 1},
                           {100000, 2},
                           {3, 100000},
                           {98, 70, 270},
                           {300, 3, 3},
                           {2, 2, 900, 1900},
                           {1, 1, 1, 1}}) {
    Subject s(dims);
    s.a.back() = kNan;
    const SliceLayout layout(dims);
    const Figure figure = s.Heatmap(ErrorKind::kRelative, layout.pages() - 1);
    EXPECT_LE(figure.width, 1600) << FormatDims(dims);
    EXPECT_LE(figure.height, 3600) << FormatDims(dims);
    const Pixels pixels = Drawn(figure);
    int nan = 0;
    for (const Box& box : SliceBoxes(figure)) nan += Find(pixels, box, kNanColor).count;
    EXPECT_GE(nan, 4) << FormatDims(dims);
  }
}

// No text may reach over the edge of its figure or into other text.
void CheckLettering(const Figure& figure, const std::string& what) {
  const Typeface typeface;
  std::vector<Box> boxes;
  for (const Shape& shape : figure.shapes) {
    const auto* text = std::get_if<Text>(&shape);
    if (text == nullptr || text->text.empty()) continue;
    const int width = typeface.Width(text->text, text->size);
    const int start = text->anchor == TextAnchor::kStart    ? 0
                      : text->anchor == TextAnchor::kMiddle ? -width / 2
                                                            : -width;
    Box box = {text->x + start, text->y - 10, width, 12};
    if (text->upward) box = {text->x - 10, text->y - start - width, 12, width};
    EXPECT_GE(box.x, 0) << what << text->text;
    EXPECT_GE(box.y, 0) << what << text->text;
    EXPECT_LE(box.x + box.width, figure.width) << what << text->text;
    EXPECT_LE(box.y + box.height, figure.height) << what << text->text;
    for (const Box& other : boxes) {
      const bool apart = box.x >= other.x + other.width || other.x >= box.x + box.width ||
                         box.y >= other.y + other.height || other.y >= box.y + box.height;
      EXPECT_TRUE(apart) << what << text->text;
    }
    boxes.push_back(box);
  }
  EXPECT_GT(boxes.size(), 5u);
}

TEST(Lettering, NeverOverlapsAndNeverLeavesThePage) {
  for (const Dims& dims : {Dims{},
                           {1},
                           {4, 6},
                           {1, 20, 1, 1},
                           {3000},
                           {128, 768},
                           {64, 56, 56},
                           {1, 120, 8, 8},
                           {2, 3, 40, 50},
                           {16, 3, 200, 300},
                           {1, 12, 4096},
                           {2000, 3},
                           {1, 1, 1, 1, 2, 300, 8, 8}}) {
    for (const float worst : {0.f, 7.f, 1e-30f, 3e38f, kNan}) {
      Subject s(dims);
      s.a[0] += worst;
      s.subject.output = std::string(200, 'W');
      s.subject.a_runner = "onnxrt-runner-N0-11/21/26-12:00:00";
      s.subject.b_runner = std::string(200, 'M');
      const std::string what = FormatDims(dims) + " " + std::to_string(worst) + ": ";
      CheckLettering(s.Heatmap(ErrorKind::kAbsolute), what);
      CheckLettering(s.Heatmap(ErrorKind::kRelative), what);
      CheckLettering(s.Plot(), what);
    }
  }
}

TEST(ErrorPlot, ElementsAreDotsWhereTheirErrorsAre) {
  Subject s({2});
  s.b = {1, 4};
  s.a = {1.5, 4.25};  // absolute 0.5 and 0.25, relative 0.5 and 0.0625
  const Figure figure = s.Plot();
  const Pixels pixels = Drawn(figure);
  std::vector<Box> panels;
  for (const Shape& shape : figure.shapes) {
    const auto* raster = std::get_if<Raster>(&shape);
    if (raster != nullptr && raster->box.height > 100) panels.push_back(raster->box);
  }
  ASSERT_EQ(panels.size(), 2u);
  const auto dots = [&](const Box& panel) {
    const Box left = {panel.x, panel.y, panel.width / 2, panel.height};
    const Box right = {panel.x + panel.width / 2, panel.y, panel.width / 2, panel.height};
    return std::pair(Find(pixels, left, Cividis(0)), Find(pixels, right, Cividis(0)));
  };
  const auto [first, second] = dots(panels[0]);
  EXPECT_EQ(first.count, 36);  // one dot
  EXPECT_EQ(second.count, 36);
  EXPECT_NEAR((first.x - panels[0].x) / panels[0].width, 0.25, 0.02);
  EXPECT_LT(first.y, panels[0].y + 25);  // the largest error is near the top
  EXPECT_NEAR((panels[0].y + panels[0].height - second.y) / panels[0].height, 0.5, 0.03);
  const auto [relative_first, relative_second] = dots(panels[1]);
  EXPECT_LT(relative_first.y, relative_second.y);
}

TEST(ErrorPlot, ShowsToleranceZerosAndWhatItCannotDraw) {
  Subject s({1000});
  for (size_t i = 0; i < 1000; ++i) {
    s.b[i] = 0.01f * static_cast<float>(i + 1);
    s.a[i] = i % 2 == 0 ? s.b[i] : s.b[i] * (1 + 2e-5f);
  }
  s.a[3] = kNan;
  const Figure figure = s.Plot();
  const Pixels pixels = Drawn(figure);
  EXPECT_GT(Find(pixels, {0, 0, pixels.width, pixels.height}, kTolerance).count, 500);
  EXPECT_GT(Find(pixels, {0, 0, pixels.width, pixels.height}, kNanColor).count, 50);
  int bands = 0;
  for (const Shape& shape : figure.shapes) {
    const auto* raster = std::get_if<Raster>(&shape);
    if (raster == nullptr || raster->pixels.height != 1) continue;
    ++bands;
    const auto blank =
        std::count(raster->pixels.colors.begin(), raster->pixels.colors.end(), kPaper);
    EXPECT_LT(blank, raster->pixels.width / 4) << "elements without an error are in the band";
  }
  EXPECT_EQ(bands, 1);
}

TEST(ErrorPlot, AMillionElementsAreADensity) {
  Subject s({1000, 1000});
  for (size_t i = 0; i < s.b.size(); ++i) {
    s.b[i] = static_cast<float>(i % 1000);
    s.a[i] = s.b[i] + (i % 17 == 0 ? 0.25f : 0.f);
  }
  const Figure figure = s.Plot();
  const Pixels pixels = Drawn(figure);
  EXPECT_LE(pixels.width, 1200);
  EXPECT_LE(pixels.height, 1000);
  EXPECT_GT(Find(pixels, {0, 0, pixels.width, pixels.height}, Cividis(1)).count, 100);
}

}  // namespace
}  // namespace vernier
