// The inputs and outputs that TensorRT's two NMS plug-ins share.
#pragma once

#include <vector>

#include "boxes.h"
#include "operators.h"

namespace vernier::pluginref {

/// Boxes (batch, boxes, classes or 1, 4) and scores (batch, boxes, classes) of a node's first two
/// inputs.
class DetectionInputs {
 public:
  /// `per_class` gives what boxes must have, where the node says it; kMalformed for shapes that do
  /// not fit each other.
  static Result<DetectionInputs> Read(const Call& call);

  int64_t batch = 0, boxes = 0, classes = 0;
  bool shared = true;  ///< one box for all classes
  std::vector<double> corners, scores;

  double Score(int64_t image, int64_t box, int64_t label) const {
    return scores[static_cast<size_t>((image * boxes + box) * classes + label)];
  }
  /// Where the box of a class begins, in boxes.
  size_t PlaceOf(int64_t image, int64_t box, int64_t label) const {
    const int64_t at = image * boxes + box;
    return static_cast<size_t>(shared ? at : at * classes + label);
  }
  Box BoxAt(size_t place) const {
    const double* c = corners.data() + place * 4;
    return {c[0], c[1], c[2], c[3]};
  }
};

/// What is in the places after the last detection of an image.
struct Padding {
  double label = 0;
};

/// (counts, boxes, scores, labels), as both plug-ins give them, for `most` detections an image.
/// `label_type` is int32 or that of the boxes.
Outputs MakeDetections(const std::vector<std::vector<Candidate>>& images, int64_t most,
                       DType float_type, DType label_type, Padding padding);

}  // namespace vernier::pluginref
