// Mean average precision of detections as COCO's evaluation has it: pycocotools' COCOeval of boxes,
// with its default parameters.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <unordered_set>
#include <utility>
#include <vector>

#include "vernier/precision_record.h"
#include "vernier/status.h"

namespace vernier {

/// A box that a network detected: its upper left corner and its size, in the units of the labels.
struct DetectedBox {
  double x = 0;
  double y = 0;
  double width = 0;
  double height = 0;
  double score = 0;
  int64_t category = 0;
};

/// A box that should be detected.
struct LabelledBox {
  double x = 0;
  double y = 0;
  double width = 0;
  double height = 0;
  double area = 0;  ///< of the object, which may fill less than its box: its size range goes by it
  int64_t category = 0;
  /// Many objects in one box: any number of detections may match it, and none of them counts.
  bool crowd = false;
  /// A detection that takes it counts as wrong all the same: pycocotools does so where the id of
  /// an annotation is 0, which it also writes for "no match".
  bool taken_in_vain = false;
};

/// Collects images in any order: the figures do not depend on it. It keeps 40 bytes of each
/// detection that can count: the 100 with the highest scores of an image and category.
class DetectionScorer {
 public:
  /// Detections with equal scores rank in the order given, before those of images with a higher
  /// id; those whose score is NaN come last. A box without area overlaps nothing. NaN elsewhere is
  /// taken as COCOeval takes it: callers that want a sentence about it look for it first.
  /// kInvalidArgument for an image that was added before.
  Status AddImage(int64_t image, std::span<const DetectedBox> detections,
                  std::span<const LabelledBox> labels);

  /// In rising order.
  std::vector<int64_t> ImageIds() const;
  int64_t images() const { return static_cast<int64_t>(images_.size()); }

  /// Of all images so far; all NaN without an object that counts.
  AveragePrecision Figures() const;

  /// Size ranges (all, small, medium, large) and thresholds of IoU.
  static constexpr size_t kSizeRanges = 4;
  static constexpr size_t kIouThresholds = 10;
  static constexpr size_t kMostDetections = 100;  ///< of an image and category

  /// What is known of a detection once its image was matched: a bit for each threshold of IoU.
  struct Ranked {
    double score = 0;
    int64_t image = 0;
    uint8_t place = 0;  ///< among those of the image, surest first
    std::array<uint16_t, kSizeRanges> right = {};
    std::array<uint16_t, kSizeRanges> ignored = {};
  };

  struct Category {
    std::vector<Ranked> detections;
    std::array<int64_t, kSizeRanges> objects = {};  ///< that count
    /// Of objects[0], those of each image that has some.
    std::vector<std::pair<int64_t, int64_t>> objects_of = {};
  };
  const std::map<int64_t, Category>& categories() const { return categories_; }

  /// Valid as long as the category is.
  static std::vector<const Ranked*> SurestFirst(const Category& category);

  /// Precision is taken at recalls, to the bit those of numpy.linspace(0, 1, 101).
  static constexpr size_t kRecalls = 101;
  static double RecallLimit(size_t index);

 private:
  std::map<int64_t, Category> categories_;
  std::unordered_set<int64_t> images_;
};

}  // namespace vernier
