// The boxes of an output, whatever its layout. Internal to decide.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "decide/kinds/box_layout.h"
#include "decide/kinds/detections.h"
#include "decide/kinds/near_tie.h"
#include "util/text/number_text.h"

namespace vernier {

/// The boxes of one sample.
template <typename T>
class BoxReader {
 public:
  BoxReader(const T* values, const BoxLayout& layout) : values_(values), layout_(layout) {}

  double At(int64_t box, int64_t column) const {
    const int64_t index =
        layout_.columns_first ? column * layout_.boxes + box : box * layout_.columns + column;
    return static_cast<double>(values_[index]);
  }

  /// The best score of each box before any other factor, with NaN where one of its scores is.
  void BestScores(std::vector<T>& best) const {
    best.assign(static_cast<size_t>(layout_.boxes), T{1});
    if (layout_.scores < 0) return;
    if (layout_.columns_first) {
      BestOfColumns(best);
    } else {
      BestOfRows(best);
    }
  }

  /// A row, sure enough or not.
  Detection Row(int64_t row, double least_score) const {
    Detection box{};
    box.row = row;
    double best = layout_.scores < 0 ? 1 : At(row, layout_.scores);
    for (int64_t c = layout_.scores + 1; layout_.scores >= 0 && c < layout_.columns; ++c) {
      best = std::max(best, At(row, c));
    }
    Classify(best, least_score, box);
    Corners(box);
    return box;
  }

  /// As BoxRows has it.
  double Apart(int64_t row, int64_t label, int64_t other) const {
    if (layout_.scores < 0 || layout_.label >= 0) return kNoMargin;
    const double factor = layout_.score < 0 ? 1 : At(row, layout_.score);
    return Gap(At(row, layout_.scores + label), At(row, layout_.scores + other)) * factor;
  }

  /// The class, the score and its margin from it. `best`: of BestScores.
  void Classify(double best, double least_score, Detection& box) const {
    const double factor = layout_.score < 0 ? 1 : At(box.row, layout_.score);
    box.score = best * factor;
    box.margin = box.score - least_score;
    box.label = 0;
    if (layout_.label >= 0) box.label = Label(At(box.row, layout_.label));
    if (layout_.scores < 0) return;
    const int64_t classes = layout_.columns - layout_.scores;
    int64_t place = 0;
    while (place < classes && At(box.row, layout_.scores + place) != best) ++place;
    if (layout_.label < 0) box.label = place;
    for (int64_t c = 0; c < classes; ++c) {
      if (c == place) continue;
      box.margin = std::min(box.margin, Gap(best, At(box.row, layout_.scores + c)) * factor);
    }
  }

  bool HasNan(const Detection& box) const {
    if (layout_.label >= 0 && std::isnan(At(box.row, layout_.label))) return true;
    return std::isnan(box.x1) || std::isnan(box.y1) || std::isnan(box.x2) || std::isnan(box.y2);
  }

  /// Of a box without NaN: why it decides nothing; empty: it does.
  std::string WhyNoBox(const Detection& box) const {
    const double label = layout_.label < 0 ? 0 : At(box.row, layout_.label);
    std::string odd;
    if (!std::isfinite(box.x1 + box.y1 + box.x2 + box.y2)) odd = "an infinite coordinate";
    if (std::isinf(box.score)) odd = "an infinite score";
    if (static_cast<double>(Label(label)) != label) {
      odd = "the class " + FormatG(label, 6) + ", and classes are whole numbers";
    }
    return odd.empty() ? "" : "box " + std::to_string(box.row) + " has " + odd;
  }

  void Corners(Detection& box) const {
    const double a = At(box.row, layout_.box);
    const double b = At(box.row, layout_.box + 1);
    const double c = At(box.row, layout_.box + 2);
    const double d = At(box.row, layout_.box + 3);
    switch (layout_.corners) {
      case BoxCorners::kCorners:
        box.x1 = a, box.y1 = b, box.x2 = c, box.y2 = d;
        break;
      case BoxCorners::kCorner:
        box.x1 = a, box.y1 = b, box.x2 = a + c, box.y2 = b + d;
        break;
      case BoxCorners::kCentre:
        box.x1 = a - c / 2, box.y1 = b - d / 2, box.x2 = a + c / 2, box.y2 = b + d / 2;
        break;
    }
  }

 private:
  static int64_t Label(double value) {
    constexpr double kBeyond = 0x1p62;
    return std::abs(value) < kBeyond ? static_cast<int64_t>(value) : -1;
  }

  void BestOfColumns(std::vector<T>& best) const {
    const auto boxes = static_cast<size_t>(layout_.boxes);
    const T* column = values_ + layout_.scores * layout_.boxes;
    best.assign(column, column + boxes);
    for (int64_t c = layout_.scores + 1; c < layout_.columns; ++c) {
      column += boxes;
      for (size_t i = 0; i < boxes; ++i) {
        const T value = column[i];
        best[i] = (value > best[i]) | IsNan(value) ? value : best[i];
      }
    }
  }

  void BestOfRows(std::vector<T>& best) const {
    for (size_t i = 0; i < best.size(); ++i) {
      const T* row = values_ + static_cast<int64_t>(i) * layout_.columns;
      T most = row[layout_.scores];
      for (int64_t c = layout_.scores + 1; c < layout_.columns; ++c) {
        most = (row[c] > most) | IsNan(row[c]) ? row[c] : most;
      }
      best[i] = most;
    }
  }

  const T* values_;
  const BoxLayout& layout_;
};

}  // namespace vernier
