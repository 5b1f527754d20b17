#include "decide/figures/average_precision.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

namespace vernier {
namespace {

constexpr size_t kSizes = DetectionScorer::kSizeRanges;
constexpr size_t kIous = DetectionScorer::kIouThresholds;
constexpr size_t kRecalls = DetectionScorer::kRecalls;
constexpr size_t kAllSizes = 0;
constexpr size_t kIou75 = 5;

/// Areas, both ends included.
struct SizeRange {
  double least;
  double most;

  bool Excludes(double area) const { return area < least || area > most; }
};

constexpr std::array<SizeRange, kSizes> kSizeLimits = {
    SizeRange{0, 1e10}, SizeRange{0, 1024}, SizeRange{1024, 9216}, SizeRange{9216, 1e10}};

// To the bit as numpy.linspace(0.5, 0.95, 10) has them: an IoU may lie on one of them.
constexpr std::array<double, kIous> MakeIouLimits() {
  std::array<double, kIous> limits{};
  constexpr double kStep = (0.95 - 0.5) / 9;
  for (size_t i = 0; i < kIous; ++i) limits[i] = static_cast<double>(i) * kStep + 0.5;
  limits[kIous - 1] = 0.95;
  return limits;
}
constexpr std::array<double, kIous> kIouLimits = MakeIouLimits();

// As C's fmin and fmax: a number rather than NaN.
double Lesser(double a, double b) { return a < b || std::isnan(b) ? a : b; }
double Greater(double a, double b) { return a > b || std::isnan(b) ? a : b; }

double OverlapWithLabel(const DetectedBox& box, const LabelledBox& label) {
  const double width = Lesser(box.width + box.x, label.width + label.x) - Greater(box.x, label.x);
  if (width <= 0) return 0;
  const double height =
      Lesser(box.height + box.y, label.height + label.y) - Greater(box.y, label.y);
  if (height <= 0) return 0;
  const double both = width * height;
  const double own = box.width * box.height;
  return both / (label.crowd ? own : own + label.width * label.height - both);
}

// Surest first, NaN last.
bool IsSurer(double a, double b) { return a > b || (std::isnan(b) && !std::isnan(a)); }

/// Matches the detections of one category in an image, surest first and kMostDetections at most,
/// with its labels.
class ImageMatcher {
 public:
  ImageMatcher(std::span<const DetectedBox* const> detections,
               std::span<const LabelledBox* const> labels)
      : detections_(detections),
        labels_(labels),
        overlaps_(detections.size() * labels.size()),
        ignored_(labels.size()) {
    for (size_t d = 0; d < detections.size(); ++d) {
      for (size_t l = 0; l < labels.size(); ++l) {
        overlaps_[d * labels.size() + l] = OverlapWithLabel(*detections[d], *labels[l]);
      }
    }
  }

  /// Sets what `ranked` says of that size range; the number of labels that count is returned.
  int64_t MatchSize(size_t size, std::span<DetectionScorer::Ranked> ranked) {
    order_.clear();
    for (size_t l = 0; l < labels_.size(); ++l) {
      ignored_[l] = labels_[l]->crowd || kSizeLimits[size].Excludes(labels_[l]->area);
      if (!ignored_[l]) order_.push_back(l);
    }
    const auto counted = static_cast<int64_t>(order_.size());
    for (size_t l = 0; l < labels_.size(); ++l) {
      if (ignored_[l]) order_.push_back(l);
    }
    taken_.assign(labels_.size(), 0);
    for (size_t d = 0; d < detections_.size(); ++d) MatchOne(size, d, ranked[d]);
    return counted;
  }

 private:
  void MatchOne(size_t size, size_t detection, DetectionScorer::Ranked& ranked) {
    const DetectedBox& box = *detections_[detection];
    const double* overlaps = overlaps_.data() + detection * labels_.size();
    near_.clear();
    for (const size_t l : order_) {
      if (!(overlaps[l] < kIouLimits[0])) near_.push_back(l);
    }
    const bool outside = kSizeLimits[size].Excludes(box.width * box.height);
    for (size_t i = 0; i < kIous; ++i) {
      const auto bit = static_cast<uint16_t>(1U << i);
      const size_t best = BestLabel(overlaps, i);
      const bool none = best == labels_.size();
      if (!none) taken_[best] |= bit;
      const bool in_vain = none || labels_[best]->taken_in_vain;
      if (!in_vain) ranked.right[size] |= bit;
      if ((!none && ignored_[best]) || (in_vain && outside)) ranked.ignored[size] |= bit;
    }
  }

  // The label that is overlapped most, of equal ones the last, and one that counts rather than
  // one that is ignored; labels_.size(): none is free.
  size_t BestLabel(const double* overlaps, size_t iou) const {
    double most = kIouLimits[iou];
    size_t best = labels_.size();
    for (const size_t l : near_) {
      if (((taken_[l] >> iou) & 1U) != 0 && !labels_[l]->crowd) continue;
      if (best != labels_.size() && !ignored_[best] && ignored_[l]) break;
      if (overlaps[l] < most) continue;
      most = overlaps[l];
      best = l;
    }
    return best;
  }

  std::span<const DetectedBox* const> detections_;
  std::span<const LabelledBox* const> labels_;
  std::vector<double> overlaps_;  // [detection][label]
  std::vector<char> ignored_;     // of labels, in the present size range
  std::vector<size_t> order_;     // labels that count, then the ignored ones
  std::vector<uint16_t> taken_;   // of labels, a bit for each threshold
  std::vector<size_t> near_;      // of order_, what the present detection may match
};

/// Boxes of an image by category, in their order else. The last argument ranks within a category.
template <typename Box, typename Before>
std::vector<const Box*> ByCategory(std::span<const Box> boxes, Before before) {
  std::vector<const Box*> order(boxes.size());
  std::ranges::transform(boxes, order.begin(), [](const Box& box) { return &box; });
  std::ranges::stable_sort(order, [&](const Box* a, const Box* b) {
    return a->category != b->category ? a->category < b->category : before(*a, *b);
  });
  return order;
}

/// Takes the first boxes of `rest` that are of `category`.
template <typename Box>
std::span<const Box* const> TakeCategory(std::span<const Box* const>& rest, int64_t category) {
  size_t count = 0;
  while (count < rest.size() && rest[count]->category == category) ++count;
  const auto taken = rest.first(count);
  rest = rest.subspan(count);
  return taken;
}

/// The mean over those categories that have an object.
class CategoryMean {
 public:
  void Add(double value) {
    sum_ += value;
    ++count_;
  }
  double mean() const {
    return count_ == 0 ? std::numeric_limits<double>::quiet_NaN()
                       : sum_ / static_cast<double>(count_);
  }

 private:
  double sum_ = 0;
  int64_t count_ = 0;
};

/// The detections of a category, surest first, and what they amount to.
class PrecisionCurves {
 public:
  explicit PrecisionCurves(const DetectionScorer::Category& category) : category_(category) {
    ranked_ = DetectionScorer::SurestFirst(category);
  }

  /// The mean precision at 101 values of recall, at each threshold.
  std::array<double, kIous> Precisions(size_t size) const {
    std::array<std::vector<double>, kIous> at_right;  // the precision at each right detection
    std::array<int64_t, kIous> wrong{};
    for (const DetectionScorer::Ranked* one : ranked_) {
      for (size_t i = 0; i < kIous; ++i) {
        if (((one->ignored[size] >> i) & 1U) != 0) continue;
        if (((one->right[size] >> i) & 1U) == 0) {
          ++wrong[i];
          continue;
        }
        const auto right = static_cast<double>(at_right[i].size() + 1);
        constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
        at_right[i].push_back(right / (static_cast<double>(wrong[i]) + right + kEpsilon));
      }
    }
    std::array<double, kIous> means{};
    for (size_t i = 0; i < kIous; ++i) {
      means[i] = MeanPrecision(at_right[i], category_.objects[size]);
    }
    return means;
  }

  /// The mean over the thresholds of the share of objects that were found, with `most` detections
  /// of an image at most.
  double Recall(size_t size, size_t most) const {
    std::array<int64_t, kIous> right{};
    for (const DetectionScorer::Ranked* one : ranked_) {
      if (one->place >= most) continue;
      const unsigned found = one->right[size] & ~static_cast<unsigned>(one->ignored[size]);
      for (size_t i = 0; i < kIous; ++i) right[i] += (found >> i) & 1U;
    }
    double sum = 0;
    for (const int64_t count : right) {
      sum += static_cast<double>(count) / static_cast<double>(category_.objects[size]);
    }
    return sum / static_cast<double>(kIous);
  }

 private:
  // Precision only falls between right detections: the best from a recall on is at one of them.
  static double MeanPrecision(std::vector<double>& at_right, int64_t objects) {
    for (size_t i = at_right.size(); i-- > 1;) {
      at_right[i - 1] = std::max(at_right[i - 1], at_right[i]);
    }
    double sum = 0;
    size_t right = 1;
    for (size_t r = 0; r < kRecalls; ++r) {
      const double recall = DetectionScorer::RecallLimit(r);
      while (right <= at_right.size() &&
             static_cast<double>(right) / static_cast<double>(objects) < recall) {
        ++right;
      }
      if (right > at_right.size()) break;
      sum += at_right[right - 1];
    }
    return sum / static_cast<double>(kRecalls);
  }

  const DetectionScorer::Category& category_;
  std::vector<const DetectionScorer::Ranked*> ranked_;
};

double MeanOf(const std::array<double, kIous>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(kIous);
}

/// The means that make an AveragePrecision.
struct FigureMeans {
  std::array<CategoryMean, kSizes> ap;
  std::array<CategoryMean, kSizes> ar;
  CategoryMean ap50, ap75, ar1, ar10;

  CategoryPrecision Add(int64_t id, const DetectionScorer::Category& category) {
    constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
    CategoryPrecision own{id, category.objects[kAllSizes], kNone, kNone};
    if (own.objects == 0) return own;
    const PrecisionCurves curves(category);
    for (size_t size = 0; size < kSizes; ++size) {
      if (category.objects[size] == 0) continue;
      const std::array<double, kIous> precisions = curves.Precisions(size);
      ap[size].Add(MeanOf(precisions));
      ar[size].Add(curves.Recall(size, DetectionScorer::kMostDetections));
      if (size != kAllSizes) continue;
      own.ap = MeanOf(precisions);
      own.ap50 = precisions[0];
      ap50.Add(precisions[0]);
      ap75.Add(precisions[kIou75]);
      ar1.Add(curves.Recall(size, 1));
      ar10.Add(curves.Recall(size, 10));
    }
    return own;
  }
};

}  // namespace

double DetectionScorer::RecallLimit(size_t index) {
  return index + 1 == kRecalls ? 1.0 : static_cast<double>(index) * 0.01;
}

std::vector<int64_t> DetectionScorer::ImageIds() const {
  std::vector<int64_t> ids(images_.begin(), images_.end());
  std::ranges::sort(ids);
  return ids;
}

std::vector<const DetectionScorer::Ranked*> DetectionScorer::SurestFirst(const Category& category) {
  std::vector<const Ranked*> ranked;
  ranked.reserve(category.detections.size());
  for (const Ranked& one : category.detections) ranked.push_back(&one);
  std::ranges::sort(ranked, [](const auto* a, const auto* b) {
    if (IsSurer(a->score, b->score)) return true;
    if (IsSurer(b->score, a->score)) return false;
    return a->image != b->image ? a->image < b->image : a->place < b->place;
  });
  return ranked;
}

Status DetectionScorer::AddImage(int64_t image, std::span<const DetectedBox> detections,
                                 std::span<const LabelledBox> labels) {
  if (!images_.insert(image).second) {
    return InvalidArgument("image " + std::to_string(image) + " was scored twice");
  }
  const auto boxes = ByCategory(detections, [](const DetectedBox& a, const DetectedBox& b) {
    return IsSurer(a.score, b.score);
  });
  const auto wanted =
      ByCategory(labels, [](const LabelledBox&, const LabelledBox&) { return false; });
  std::span<const DetectedBox* const> rest(boxes);
  std::span<const LabelledBox* const> rest_wanted(wanted);
  std::vector<Ranked> ranked;
  while (!rest.empty() || !rest_wanted.empty()) {
    constexpr int64_t kLast = std::numeric_limits<int64_t>::max();
    const int64_t id = std::min(rest.empty() ? kLast : rest.front()->category,
                                rest_wanted.empty() ? kLast : rest_wanted.front()->category);
    auto own = TakeCategory(rest, id);
    own = own.first(std::min(own.size(), kMostDetections));
    ImageMatcher matcher(own, TakeCategory(rest_wanted, id));
    ranked.assign(own.size(), Ranked{});
    for (size_t i = 0; i < own.size(); ++i) {
      ranked[i].score = own[i]->score;
      ranked[i].image = image;
      ranked[i].place = static_cast<uint8_t>(i);
    }
    Category& category = categories_[id];
    for (size_t size = 0; size < kSizes; ++size) {
      const int64_t objects = matcher.MatchSize(size, ranked);
      category.objects[size] += objects;
      if (size == kAllSizes && objects > 0) category.objects_of.emplace_back(image, objects);
    }
    category.detections.insert(category.detections.end(), ranked.begin(), ranked.end());
  }
  return {};
}

AveragePrecision DetectionScorer::Figures() const {
  AveragePrecision figures;
  FigureMeans means;
  for (const auto& [id, category] : categories_) {
    figures.categories.push_back(means.Add(id, category));
  }
  figures.ap = means.ap[kAllSizes].mean();
  figures.ap50 = means.ap50.mean();
  figures.ap75 = means.ap75.mean();
  figures.ap_small = means.ap[1].mean();
  figures.ap_medium = means.ap[2].mean();
  figures.ap_large = means.ap[3].mean();
  figures.ar1 = means.ar1.mean();
  figures.ar10 = means.ar10.mean();
  figures.ar100 = means.ar[kAllSizes].mean();
  figures.ar_small = means.ar[1].mean();
  figures.ar_medium = means.ar[2].mean();
  figures.ar_large = means.ar[3].mean();
  return figures;
}

}  // namespace vernier
