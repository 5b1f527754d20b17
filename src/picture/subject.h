// What a picture is about: one pair of outputs in one iteration.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "picture/figure.h"
#include "picture/survey.h"
#include "picture/typeface.h"

namespace vernier {

struct PictureSubject {
  std::string output;    ///< A's name of it
  std::string b_output;  ///< B's, often the same
  std::string a_runner;
  std::string b_runner;
  Dims dims;
  int64_t iteration = 0;
  int64_t mismatches = 0;  ///< elements outside both tolerances
  ErrorSource source;      ///< its tolerances are drawn
};

/// The lines at the top of a figure, shortened to fit.
class Heading {
 public:
  Heading(std::string title, const PictureSubject& subject);
  void AddLine(std::string line) { lines_.push_back(std::move(line)); }

  /// Pixels from the top of the figure to below the last line.
  int height() const;
  /// Draws it and sets the figure's title. Returns height().
  int Draw(Figure& figure, const Typeface& typeface) const;

 private:
  std::string title_;
  std::vector<std::string> lines_;
};

/// Numbers as pictures show them: four significant digits; "NaN", "inf".
std::string ShortNumber(double value);
/// "3,000"; for counts.
std::string GroupDigits(int64_t count);
/// "1 element", "3,000 elements".
std::string CountOf(int64_t count, std::string_view noun);

/// One entry of a legend: a sample of a colour and what it means.
struct LegendEntry {
  Rgb color;
  std::string text;
  bool dashed = false;  ///< a line instead of a box
};

/// Draws entries side by side from (x, y) on, breaking lines at the figure's right edge. Returns
/// the y below the last line.
int DrawLegend(Figure& figure, const Typeface& typeface, const std::vector<LegendEntry>& entries,
               int x, int y);
/// How high DrawLegend will be for a figure of that width.
int LegendHeight(const Typeface& typeface, const std::vector<LegendEntry>& entries, int x,
                 int width);

inline constexpr int kMargin = 16;
inline constexpr int kLineHeight = 18;

}  // namespace vernier
