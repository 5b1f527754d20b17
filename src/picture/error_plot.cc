#include "picture/error_plot.h"

#include <algorithm>
#include <cmath>

#include "picture/color_bar.h"
#include "picture/heatmap.h"
#include "picture/scale.h"

namespace vernier {
namespace {

constexpr int kPanelWidth = 840;
// Both are multiples of every dot size.
constexpr int kPanelHeight = 288;
constexpr int kPanelGap = 26;
constexpr int kPlotTickRoom = 70;
constexpr int kPlotAxisNameRoom = 22;
// Below a logarithmic panel: errors of zero.
constexpr int kZeroBand = 24;

// Dots at the very edge of a panel would be overlooked.
constexpr double kHeadroom = 1.03;

// Few elements are dots, many a density.
int DotSize(int64_t count) { return count <= 500 ? 6 : count <= 20000 ? 4 : 2; }

/// Elements counted by where they are drawn.
class Density {
 public:
  Density(int width, int height)
      : width_(width), height_(height), counts_(static_cast<size_t>(width * height)) {}

  void Add(double x, double y) {
    const auto cell = [](double position, int cells) {
      return std::min(static_cast<int>(position * cells), cells - 1);
    };
    const int row = height_ - 1 - cell(y, height_);
    most_ = std::max(most_, ++At(cell(x, width_), row));
  }
  int width() const { return width_; }
  int height() const { return height_; }
  int64_t most() const { return most_; }
  int64_t& At(int x, int y) {
    return counts_[static_cast<size_t>(y) * static_cast<size_t>(width_) + static_cast<size_t>(x)];
  }

 private:
  int width_;
  int height_;
  int64_t most_ = 0;
  std::vector<int64_t> counts_;
};

/// One panel: an error over the magnitude of B.
struct Panel {
  ErrorKind kind;
  Scale scale;
  Density density;
  Density zeros;  ///< one row; drawn where the scale is logarithmic
  Box box;
};

// Up to the largest error, and as far as the tolerance where that is not far away.
Scale AbsoluteScale(const ErrorRange& range, double tolerance) {
  double high = kHeadroom * range.largest;
  if (std::isfinite(tolerance) && (high == 0 || tolerance < 4 * high)) {
    high = std::max(high, 1.1 * tolerance);
  }
  return Scale::Linear(high);
}

Scale RelativeScale(const ErrorRange& range, double tolerance) {
  constexpr double kNear = 1e6;
  double low = range.smallest_positive;
  double high = 1.3 * range.largest;
  const bool usable = std::isfinite(tolerance) && tolerance > 0;
  if (high == 0) {
    high = usable ? 10 * tolerance : 1;
    low = high / 1e3;
  } else if (usable && tolerance < kNear * high && tolerance > low / kNear) {
    low = std::min(low, tolerance / 2);
    high = std::max(high, tolerance * 2);
  }
  return Scale::Logarithmic(low, high);
}

class ErrorPlot {
 public:
  ErrorPlot(const PictureSubject& subject, const ErrorSurvey& survey, const Typeface& typeface)
      : subject_(subject),
        survey_(survey),
        typeface_(typeface),
        magnitudes_(Scale::Linear(kHeadroom * survey.largest_magnitude)),
        dot_(DotSize(subject.source.a.count)),
        absolute_(MakePanel(ErrorKind::kAbsolute)),
        relative_(MakePanel(ErrorKind::kRelative)) {}

  Result<Figure> Draw();

 private:
  Panel MakePanel(ErrorKind kind) const;
  Status Count();
  void AddElement(double magnitude, double absolute, double relative);
  void DrawPanel(Panel& panel, const Scale& counts);
  void DrawDots(Density& density, const Box& box, const Scale& counts);
  void DrawTolerance(const Panel& panel);
  void DrawMagnitudeAxis();
  std::vector<LegendEntry> Legend() const;

  const PictureSubject& subject_;
  const ErrorSurvey& survey_;
  const Typeface& typeface_;
  Scale magnitudes_;
  int dot_;
  Panel absolute_;
  Panel relative_;
  int64_t not_drawn_ = 0;
  Figure figure_;
};

Panel ErrorPlot::MakePanel(ErrorKind kind) const {
  const DifferenceRule& rule = subject_.source.rule;
  const Scale scale = kind == ErrorKind::kAbsolute ? AbsoluteScale(survey_.absolute, rule.atol)
                                                   : RelativeScale(survey_.relative, rule.rtol);
  return {kind,
          scale,
          Density(kPanelWidth / dot_, kPanelHeight / dot_),
          Density(kPanelWidth / dot_, 1),
          {}};
}

void ErrorPlot::AddElement(double magnitude, double absolute, double relative) {
  if (!std::isfinite(magnitude) || !std::isfinite(absolute) || !std::isfinite(relative)) {
    ++not_drawn_;
  }
  if (!std::isfinite(magnitude)) return;
  const double x = magnitudes_.Position(magnitude);
  if (std::isfinite(absolute)) absolute_.density.Add(x, absolute_.scale.Position(absolute));
  if (!std::isfinite(relative)) return;
  if (relative == 0) {
    relative_.zeros.Add(x, 0);
  } else {
    relative_.density.Add(x, relative_.scale.Position(relative));
  }
}

Status ErrorPlot::Count() {
  const ErrorSource& source = subject_.source;
  std::vector<double> magnitudes;
  return VisitDifferences(source.a, source.b, source.rule, 0, source.a.count,
                          [&](const DifferenceBlock& block) {
                            const size_t n = block.absolute.size();
                            if (magnitudes.size() < n) magnitudes.resize(n);
                            LoadMagnitudes(source.b, block.start, n, magnitudes.data());
                            for (size_t i = 0; i < n; ++i) {
                              AddElement(magnitudes[i], block.absolute[i], block.relative[i]);
                            }
                          });
}

void ErrorPlot::DrawDots(Density& density, const Box& box, const Scale& counts) {
  Pixels pixels(density.width(), density.height(), kPaper);
  for (int y = 0; y < density.height(); ++y) {
    for (int x = 0; x < density.width(); ++x) {
      const int64_t count = density.At(x, y);
      if (count > 0) pixels.At(x, y) = Cividis(counts.Position(static_cast<double>(count)));
    }
  }
  figure_.Add(Raster{box, std::move(pixels)});
}

// The tolerance of an element: either one is enough, so it is the higher of the two.
void ErrorPlot::DrawTolerance(const Panel& panel) {
  const DifferenceRule& rule = subject_.source.rule;
  if (!(rule.atol >= 0) || !(rule.rtol >= 0)) return;
  std::vector<Point> points;
  const auto finish = [&] {
    if (points.size() > 1) figure_.Add(Path{points, kTolerance, true});
    points.clear();
  };
  constexpr int kStep = 2;
  for (int x = 0; x < panel.box.width; x += kStep) {
    const double magnitude = magnitudes_.Value((x + 0.5) / panel.box.width);
    const double tolerance = panel.kind == ErrorKind::kAbsolute
                                 ? std::max(rule.atol, rule.rtol * magnitude)
                                 : std::max(rule.rtol, rule.atol / magnitude);
    if (!panel.scale.Contains(tolerance)) {
      finish();
      continue;
    }
    const double height = (1 - panel.scale.Position(tolerance)) * (panel.box.height - 1);
    points.push_back({panel.box.x + x, panel.box.y + static_cast<int>(std::lround(height))});
  }
  finish();
}

void ErrorPlot::DrawPanel(Panel& panel, const Scale& counts) {
  const Box& box = panel.box;
  const bool logarithmic = panel.scale.logarithmic();
  DrawDots(panel.density, box, counts);
  for (const Tick& tick : panel.scale.Ticks(7)) {
    const int y = box.y + static_cast<int>(std::lround((1 - tick.position) * (box.height - 1)));
    figure_.Add(FilledBox{{box.x - 6, y, 5, 1}, kInk});
    figure_.Add(Text{box.x - 9, y + 5, tick.label, TextAnchor::kEnd});
  }
  if (logarithmic) {
    const Box band = {box.x, box.y + box.height + kZeroBand / 2 - dot_ / 2, box.width, dot_};
    DrawDots(panel.zeros, band, counts);
    figure_.Add(Text{box.x - 9, band.y + 8, "0", TextAnchor::kEnd});
  }
  const int height = box.height + (logarithmic ? kZeroBand : 0);
  figure_.Add(Outline{{box.x - 1, box.y - 1, box.width + 2, height + 2}, kFaintInk});
  if (logarithmic) figure_.Add(FilledBox{{box.x, box.y + box.height, box.width, 1}, kGridLine});
  DrawTolerance(panel);
  Text name{kMargin + 12, box.y + height / 2,
            logarithmic ? "relative error |A - B| / |B|" : "absolute error |A - B|",
            TextAnchor::kMiddle, kFaintInk};
  name.upward = true;
  figure_.Add(std::move(name));
}

void ErrorPlot::DrawMagnitudeAxis() {
  const Box& box = relative_.box;
  const int bottom = box.y + box.height + kZeroBand;
  for (const Tick& tick : magnitudes_.Ticks(9)) {
    const int x = box.x + static_cast<int>(std::lround(tick.position * (box.width - 1)));
    figure_.Add(FilledBox{{x, bottom + 1, 1, 5}, kInk});
    figure_.Add(Text{x, bottom + 18, tick.label, TextAnchor::kMiddle});
  }
  figure_.Add(
      Text{box.x + box.width / 2, bottom + 38,
           typeface_.Fit("|B|: magnitude of the values of " + subject_.b_runner, box.width + 100),
           TextAnchor::kMiddle, kFaintInk});
}

std::vector<LegendEntry> ErrorPlot::Legend() const {
  std::vector<LegendEntry> entries = {
      {kTolerance, "tolerance: elements above this line are outside", true}};
  if (not_drawn_ > 0) {
    entries.push_back(
        {kNanColor, "not drawn, with NaN or infinity: " + CountOf(not_drawn_, "element")});
  }
  return entries;
}

Result<Figure> ErrorPlot::Draw() {
  VERNIER_TRY(Count());
  Heading heading("Error metrics | " + subject_.output, subject_);
  heading.AddLine("largest absolute error " + ShortNumber(survey_.absolute.worst) +
                  ", largest relative error " + ShortNumber(survey_.relative.worst));
  const int left = kMargin + kPlotAxisNameRoom + kPlotTickRoom;
  const int right = left + kPanelWidth;
  absolute_.box = {left, heading.height() + 10, kPanelWidth, kPanelHeight};
  relative_.box = {left, absolute_.box.y + kPanelHeight + kPanelGap, kPanelWidth, kPanelHeight};
  const int legend_y = relative_.box.y + kPanelHeight + kZeroBand + 54;
  const std::vector<LegendEntry> legend = Legend();
  figure_.width = right + kBarWidth + kBarTrail + 30;
  figure_.height = legend_y + LegendHeight(typeface_, legend, left, figure_.width) + kMargin;
  heading.Draw(figure_, typeface_);

  const int64_t most =
      std::max({absolute_.density.most(), relative_.density.most(), relative_.zeros.most()});
  const Scale counts = Scale::Logarithmic(1, static_cast<double>(std::max<int64_t>(most, 2)));
  DrawPanel(absolute_, counts);
  DrawPanel(relative_, counts);
  DrawMagnitudeAxis();
  if (most > 1) {
    DrawColorBar(figure_, typeface_, counts, {right + 24, absolute_.box.y, kBarWidth, kPanelHeight},
                 {"elements per dot", "", 0});
  }
  DrawLegend(figure_, typeface_, legend, left, legend_y);
  return std::move(figure_);
}

}  // namespace

Result<Figure> DrawErrorPlot(const PictureSubject& subject, const ErrorSurvey& survey,
                             const Typeface& typeface) {
  return ErrorPlot(subject, survey, typeface).Draw();
}

}  // namespace vernier
