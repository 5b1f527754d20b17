// What TensorRT's two NMS plug-ins share: boxes, the best of them that do not overlap, and the
// inputs and outputs.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "operators.h"

namespace vernier::pluginref {

/// Two opposite corners.
struct Box {
  double x1 = 0, y1 = 0, x2 = 0, y2 = 0;

  /// The same box with x1 <= x2 and y1 <= y2.
  Box Ordered() const {
    return {std::min(x1, x2), std::min(y1, y2), std::max(x1, x2), std::max(y1, y2)};
  }
};

struct Candidate {
  double score = 0;
  int64_t label = 0;
  size_t place = 0;  ///< of its box; among equal scores the first wins
  Box box;
};

/// The best first; equal ones stay in their order.
inline void SortByScore(std::vector<Candidate>& candidates) {
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Candidate& a, const Candidate& b) { return a.score > b.score; });
}

/// Keeps each candidate that no better, kept one suppresses. `candidates` are sorted.
inline std::vector<Candidate> Suppress(
    const std::vector<Candidate>& candidates,
    const std::function<bool(const Candidate& kept, const Candidate& other)>& suppresses) {
  std::vector<Candidate> kept;
  for (const Candidate& candidate : candidates) {
    const bool lost = std::any_of(kept.begin(), kept.end(), [&](const Candidate& better) {
      return suppresses(better, candidate);
    });
    if (!lost) kept.push_back(candidate);
  }
  return kept;
}

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
