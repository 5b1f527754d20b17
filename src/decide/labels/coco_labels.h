// Labels of detections in COCO's JSON ("instances"): images, annotations, categories.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "decide/figures/average_precision.h"
#include "vernier/status.h"

namespace vernier {

struct CocoImage {
  int64_t id = 0;
  std::string file_name;  ///< empty: not said
  double width = 0;       ///< pixels; 0: not said
  double height = 0;
  std::vector<LabelledBox> boxes = {};  ///< in the order of the file
};

struct CocoCategory {
  int64_t id = 0;
  std::string name;  ///< empty: not said
};

struct CocoLabels {
  std::vector<CocoImage> images;         ///< by id
  std::vector<CocoCategory> categories;  ///< by id: class C of a network is categories[C]
  /// Annotations of images or categories that the file does not list: left out, as pycocotools
  /// does.
  int64_t left_out = 0;
  /// An annotation has the id 0: pycocotools counts whatever matches it as wrong.
  bool has_id_zero = false;
};

/// Reads a file, of which masks and other members are passed over. `iscrowd` may be absent (0), and
/// `area` (that of the box); pycocotools needs both. kMalformed, with the path, for a file that is
/// missing or no JSON; that lacks images, annotations or categories; whose ids are no integers or
/// there twice; for a width or height of an image that is no whole number from 0 to 2^31; for boxes
/// that are not four numbers of at most 2^31 or have a negative size; and for areas that are
/// negative or not finite.
Result<CocoLabels> ReadCocoLabels(const std::string& path);

}  // namespace vernier
