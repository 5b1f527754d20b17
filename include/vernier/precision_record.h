// Mean average precision of two runners on labelled images, as plain data.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace vernier {

/// Of one category: NaN where no object of it counts.
struct CategoryPrecision {
  int64_t category = 0;
  int64_t objects = 0;  ///< that count: crowds do not
  double ap = 0;
  double ap50 = 0;
};

/// What COCOeval.summarize() prints, in its order. Within [0, 1]; NaN, where it prints -1, if no
/// object of that size range counts.
struct AveragePrecision {
  double ap = 0;  ///< mean over IoU from 0.5 to 0.95 by 0.05, and over categories
  double ap50 = 0;
  double ap75 = 0;
  double ap_small = 0;   ///< area up to 32 * 32
  double ap_medium = 0;  ///< from there to 96 * 96
  double ap_large = 0;   ///< from there on
  double ar1 = 0;        ///< recall, with as many detections of an image and category at most
  double ar10 = 0;
  double ar100 = 0;
  double ar_small = 0;
  double ar_medium = 0;
  double ar_large = 0;
  std::vector<CategoryPrecision> categories = {};  ///< those with an object or a detection, by id
};

/// 95 % intervals of AveragePrecision::ap by the paired bootstrap over images; NaN: not known.
struct PrecisionIntervals {
  int64_t draws = 0;
  double first_low = std::numeric_limits<double>::quiet_NaN();
  double first_high = std::numeric_limits<double>::quiet_NaN();
  double second_low = std::numeric_limits<double>::quiet_NaN();
  double second_high = std::numeric_limits<double>::quiet_NaN();
  double drop_low = std::numeric_limits<double>::quiet_NaN();  ///< the first minus the second
  double drop_high = std::numeric_limits<double>::quiet_NaN();
};

/// The detections of both sides against labels.
struct PrecisionRecord {
  int64_t images = 0;  ///< that were scored
  int64_t listed = 0;  ///< images of the labels
  /// What the output's boxes are in: "pixels" or "fractions" of what is fed; empty: nothing was
  /// detected.
  std::string units;
  AveragePrecision first;
  AveragePrecision second;
  std::optional<PrecisionIntervals> intervals = {};  ///< of two images or more
};

}  // namespace vernier
