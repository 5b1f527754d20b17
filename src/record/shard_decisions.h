// What a part keeps of decisions and images: enough for `vernier merge` to fold them, to hold
// labels against them, and to show them.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "vernier/row_record.h"

namespace vernier {

/// A detection in the units of the output.
struct ShardBox {
  double x = 0, y = 0, width = 0, height = 0;
  double score = 0;
  int64_t category = 0;
};

/// What one side detects in one sample.
struct ShardDetections {
  std::vector<ShardBox> boxes;
  bool has_nan = false;
};

struct ShardUnfitLabel {
  int64_t sample = 0;  ///< within the iteration
  std::string why;
};

/// Maps of classes, texts and numbers have scores once the outputs are gone: labels were held
/// against them where they were there.
struct ShardScores {
  int64_t place = 0;  ///< of the labels that were taken: samples before them, or the iteration
  std::string fault;  ///< why there are none
  std::vector<ShardUnfitLabel> unfit;
};

/// What a sample has beyond its row.
struct ShardExtra {
  int64_t sample = 0;  ///< within the iteration
  int64_t negative_boxes = 0;
  bool all_above = false;
  double first_error = std::numeric_limits<double>::quiet_NaN();
  double second_error = std::numeric_limits<double>::quiet_NaN();
  int64_t label_size = 0;
  std::optional<BoxCounts> boxes = {};
  std::vector<ClassOverlap> classes = {};
  bool over_bound = false;
  int64_t scores_above_one = 0;
};

/// One decision about one output of a pair in one iteration.
struct ShardDecision {
  DecisionRow row;
  bool bounded = false;     ///< its limits of near ties rest on an error bound
  bool over_bound = false;  ///< and the output is over that
  std::vector<ShardExtra> extras = {};
  /// With labels alone:
  std::optional<ShardScores> scores = {};   ///< see there
  std::vector<ShardDetections> first = {};  ///< of boxes, sample by sample
  std::vector<ShardDetections> second = {};
  std::string undetected = {};  ///< why boxes could not be detected
};

/// One --decision in one iteration of a pair.
struct ShardDecided {
  std::vector<ShardDecision> outputs;
  std::string why;  ///< why not everything was decided that was to be; empty: it was
};

/// Where an image is in what was fed of it, for one file of labels. See ImagePlacement.
struct ShardPlacement {
  bool known = false;
  double scale_x = 1, scale_y = 1, left = 0, top = 0;
  int64_t height = 0, width = 0;
  std::string other_size = {};  ///< how the labels' size differs; empty: it does not
};

/// The image that an iteration was fed with.
struct ShardImage {
  std::string path;
  std::vector<ShardPlacement> placements;  ///< one for each --labels with boxes
};

/// The picture of a flip that was among the worst of its shard when it was found.
struct ShardPicture {
  InputPictureRecord picture;
  int64_t images = 0;  ///< of that input in that iteration
};

}  // namespace vernier
