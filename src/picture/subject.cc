#include "picture/subject.h"

#include <cmath>

#include "util/text/number_text.h"
#include "util/values/plural_text.h"

namespace vernier {
namespace {

constexpr int kHeadingHeight = 22;
constexpr int kSampleWidth = 14;
constexpr int kSampleGap = 6;
constexpr int kEntryGap = 22;

std::string TypesOf(const ErrorSource& source) {
  const std::string a(DTypeName(source.a.dtype));
  const std::string b(DTypeName(source.b.dtype));
  return a == b ? a : a + " and " + b;
}

int EntryWidth(const Typeface& typeface, const LegendEntry& entry) {
  return kSampleWidth * (entry.dashed ? 2 : 1) + kSampleGap + typeface.Width(entry.text);
}

// Calls `place(entry, x, y)` for each entry; y is the middle of its line.
template <typename Place>
int LayOutLegend(const Typeface& typeface, const std::vector<LegendEntry>& entries, int x, int y,
                 int width, Place place) {
  int at = x;
  for (const LegendEntry& entry : entries) {
    const int entry_width = EntryWidth(typeface, entry);
    if (at > x && at + entry_width > width - kMargin) {
      at = x;
      y += kLineHeight + 2;
    }
    place(entry, at, y + kLineHeight / 2);
    at += entry_width + kEntryGap;
  }
  return entries.empty() ? y : y + kLineHeight + 2;
}

}  // namespace

Heading::Heading(std::string title, const PictureSubject& subject) : title_(std::move(title)) {
  std::string runners = "A: " + subject.a_runner + "    B: " + subject.b_runner;
  if (subject.b_output != subject.output) runners += " (output " + subject.b_output + ")";
  AddLine(std::move(runners));
  AddLine("shape " + FormatDims(subject.dims) + ", " + TypesOf(subject.source) + " · iteration " +
          std::to_string(subject.iteration));
  const DifferenceRule& rule = subject.source.rule;
  AddLine(GroupDigits(subject.mismatches) + " of " + CountOf(subject.source.a.count, "element") +
          " outside of both tolerances (atol " + ShortNumber(rule.atol) + ", rtol " +
          ShortNumber(rule.rtol) + ")");
}

int Heading::height() const {
  return kMargin + kHeadingHeight + static_cast<int>(lines_.size()) * kLineHeight;
}

int Heading::Draw(Figure& figure, const Typeface& typeface) const {
  figure.title = title_;
  const int width = figure.width - 2 * kMargin;
  int y = kMargin + typeface.table(TextSize::kHeading).ascent();
  figure.Add(Text{kMargin, y, typeface.Fit(title_, width, TextSize::kHeading), TextAnchor::kStart,
                  kInk, TextSize::kHeading});
  y += kHeadingHeight;
  for (const std::string& line : lines_) {
    figure.Add(Text{kMargin, y, typeface.Fit(line, width), TextAnchor::kStart, kInk});
    y += kLineHeight;
  }
  return height();
}

std::string ShortNumber(double value) {
  if (std::isnan(value)) return "NaN";
  return FormatG(value, 4);
}

std::string GroupDigits(int64_t count) {
  std::string digits = std::to_string(count);
  for (size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
  return digits;
}

std::string CountOf(int64_t count, std::string_view noun) {
  return Counted(GroupDigits(count), noun);
}

int DrawLegend(Figure& figure, const Typeface& typeface, const std::vector<LegendEntry>& entries,
               int x, int y) {
  const auto place = [&](const LegendEntry& entry, int at, int middle) {
    const int sample = kSampleWidth * (entry.dashed ? 2 : 1);
    if (entry.dashed) {
      figure.Add(Path{{{at, middle}, {at + sample, middle}}, entry.color, true});
    } else {
      const Box box = {at, middle - kSampleWidth / 2, sample, kSampleWidth};
      figure.Add(FilledBox{box, entry.color});
      figure.Add(Outline{box, kFaintInk});
    }
    figure.Add(Text{at + sample + kSampleGap, middle + 5, entry.text});
  };
  return LayOutLegend(typeface, entries, x, y, figure.width, place);
}

int LegendHeight(const Typeface& typeface, const std::vector<LegendEntry>& entries, int x,
                 int width) {
  return LayOutLegend(typeface, entries, x, 0, width, [](const LegendEntry&, int, int) {});
}

}  // namespace vernier
