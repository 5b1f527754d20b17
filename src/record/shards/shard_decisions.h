// What a part keeps of decisions and images: enough for `vernier merge` to fold them, to compare
// labels with them, and to show them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "decide/kinds/detect_boxes.h"
#include "vernier/row_record.h"

namespace vernier {

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
struct ShardExtra : SampleExtra {
  int64_t sample = 0;  ///< within the iteration
};

/// One decision about one output of a pair in one iteration.
struct ShardDecision {
  DecisionRow row;
  bool bounded = false;     ///< its limits of near ties rest on an error bound
  bool over_bound = false;  ///< and the output is over that
  std::vector<ShardExtra> extras = {};
  /// With labels alone:
  std::optional<ShardScores> scores = {};    ///< see there
  std::vector<SampleDetections> first = {};  ///< of boxes, sample by sample
  std::vector<SampleDetections> second = {};
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
