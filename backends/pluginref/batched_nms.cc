#include "detections.h"

namespace vernier::pluginref {
namespace {

struct BatchedOptions {
  int64_t background = -1, top = 0, keep = 0;
  double score_threshold = 0, iou_threshold = 0;
  bool normalized = true, clip = true, caffe = true;
};

Result<BatchedOptions> BatchedOptionsOf(const Call& call, const DetectionInputs& in) {
  BatchedOptions options;
  options.background = call.Integer("backgroundLabelId", -1);
  options.top = call.Integer("topK", 0);
  options.keep = call.Integer("keepTopK", 0);
  options.score_threshold = call.Number("scoreThreshold", 0);
  options.iou_threshold = call.Number("iouThreshold", 0);
  options.normalized = call.Integer("isNormalized", 1) != 0;
  options.clip = call.Integer("clipBoxes", 1) != 0;
  options.caffe = call.Integer("caffeSemantics", 1) != 0;
  constexpr int64_t kMostBoxes = 1 << 20;
  if (options.keep <= 0 || options.keep > options.top || options.top > kMostBoxes) {
    return call.Wrong("topK is " + std::to_string(options.top) + " and keepTopK " +
                      std::to_string(options.keep) +
                      "; expected 0 < keepTopK <= topK <= " + std::to_string(kMostBoxes));
  }
  if (const int64_t classes = call.Integer("numClasses", in.classes); classes != in.classes) {
    return call.Wrong("numClasses is " + std::to_string(classes) + ", but the scores have " +
                      std::to_string(in.classes));
  }
  const bool shared = call.Integer("shareLocation", in.shared ? 1 : 0) != 0;
  if (shared != in.shared && in.classes != 1) {
    return call.Wrong(std::string("shareLocation is ") + (shared ? "true" : "false") +
                      ", which boxes of shape " + ShapeText(call.Input(0).dims) + " do not fit");
  }
  return options;
}

// Pixels have a width of their own where coordinates count them.
double Area(const Box& box, bool normalized) {
  const double pixel = normalized ? 0 : 1;
  return (box.x2 - box.x1 + pixel) * (box.y2 - box.y1 + pixel);
}

double Overlap(const Box& first, const Box& second, const BatchedOptions& options) {
  const Box a = first.Ordered(), b = second.Ordered();
  Box common;
  const bool apart = b.x1 > a.x2 || b.x2 < a.x1 || b.y1 > a.y2 || b.y2 < a.y1;
  if (!apart) {
    common = {std::max(a.x1, b.x1), std::max(a.y1, b.y1), std::min(a.x2, b.x2),
              std::min(a.y2, b.y2)};
  }
  const double pixel = options.normalized || !options.caffe ? 0 : 1;
  const double width = common.x2 - common.x1 + pixel, height = common.y2 - common.y1 + pixel;
  if (width <= 0 || height <= 0) return 0;
  const double shared = width * height;
  return shared / (Area(a, options.normalized) + Area(b, options.normalized) - shared);
}

}  // namespace

/// TensorRT's BatchedNMS_TRT and BatchedNMSDynamic_TRT, version 1:
/// plugin/batchedNMSPlugin/README.md of TensorRT OSS 10. Scores must exceed the threshold, and so
/// must the overlap of what is suppressed; classes are looked at one by one, then the best of all
/// are kept. Places after the last detection have class -1.
Result<Outputs> BatchedNms(const Call& call) {
  VERNIER_TRY(call.ExpectInputs(2, 2));
  VERNIER_ASSIGN_OR_RETURN(const DetectionInputs in, DetectionInputs::Read(call));
  VERNIER_ASSIGN_OR_RETURN(const BatchedOptions options, BatchedOptionsOf(call, in));
  std::vector<std::vector<Candidate>> images;
  for (int64_t image = 0; image < in.batch; ++image) {
    std::vector<Candidate>& kept = images.emplace_back();
    for (int64_t label = 0; label < in.classes; ++label) {
      if (label == options.background) continue;
      std::vector<Candidate> candidates;
      for (int64_t box = 0; box < in.boxes; ++box) {
        const double score = in.Score(image, box, label);
        if (!(score > options.score_threshold)) continue;
        const size_t place = in.PlaceOf(image, box, label);
        candidates.push_back({score, label, place, in.BoxAt(place)});
      }
      SortByScore(candidates);
      candidates.resize(std::min(candidates.size(), static_cast<size_t>(options.top)));
      const std::vector<Candidate> best =
          Suppress(candidates, [&](const Candidate& better, const Candidate& other) {
            return Overlap(better.box, other.box, options) > options.iou_threshold;
          });
      kept.insert(kept.end(), best.begin(), best.end());
    }
    SortByScore(kept);
    kept.resize(std::min(kept.size(), static_cast<size_t>(options.keep)));
    for (Candidate& candidate : kept) {
      if (!options.clip) continue;
      for (double* corner :
           {&candidate.box.x1, &candidate.box.y1, &candidate.box.x2, &candidate.box.y2}) {
        *corner = std::clamp(*corner, 0.0, 1.0);
      }
    }
  }
  const DType dtype = call.Input(0).dtype;
  return MakeDetections(images, options.keep, dtype, dtype, {.label = -1});
}

}  // namespace vernier::pluginref
