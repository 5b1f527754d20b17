#include <cmath>

#include "detections.h"

namespace vernier::pluginref {
namespace {

struct EfficientOptions {
  double score_threshold = 0, iou_threshold = 0;
  int64_t most = 0, background = -1;
  bool sigmoid = false, agnostic = false, centers = false;
};

// The README gives no defaults; these are of the plug-in's parameters.
Result<EfficientOptions> EfficientOptionsOf(const Call& call) {
  EfficientOptions options;
  options.score_threshold = call.Number("score_threshold", 0.5);
  options.iou_threshold = call.Number("iou_threshold", 0.5);
  options.most = call.Integer("max_output_boxes", 100);
  options.background = call.Integer("background_class", -1);
  options.sigmoid = call.Integer("score_activation", 0) != 0;
  options.agnostic = call.Integer("class_agnostic", 0) != 0;
  const int64_t coding = call.Integer("box_coding", 0);
  if (coding != 0 && coding != 1) {
    return call.Wrong("box_coding is " + std::to_string(coding) +
                      "; expected 0 (corners) or 1 (centre and size)");
  }
  options.centers = coding == 1;
  constexpr int64_t kMostBoxes = 1 << 20;
  if (options.most < 0 || options.most > kMostBoxes) {
    return call.Wrong("max_output_boxes is " + std::to_string(options.most) + "; expected 0 to " +
                      std::to_string(kMostBoxes));
  }
  return options;
}

double Area(const Box& box) {
  const double width = box.x2 - box.x1, height = box.y2 - box.y1;
  return width > 0 && height > 0 ? width * height : 0;
}

double IntersectionOverUnion(const Box& first, const Box& second) {
  const Box a = first.Ordered(), b = second.Ordered();
  const double common = Area(
      {std::max(a.x1, b.x1), std::max(a.y1, b.y1), std::min(a.x2, b.x2), std::min(a.y2, b.y2)});
  const double all = Area(a) + Area(b) - common;
  return common > 0 && all > 0 ? common / all : 0;
}

/// Raw predictions become boxes: corners are moved by those of the anchor; centres move in units
/// of the anchor's size, and sizes grow by the exponential.
Box Decode(const Box& raw, const Box& anchor, bool centers) {
  if (!centers) {
    const Box box = raw.Ordered(), base = anchor.Ordered();
    return {box.x1 + base.x1, box.y1 + base.y1, box.x2 + base.x2, box.y2 + base.y2};
  }
  return {raw.x1 * anchor.x2 + anchor.x1, raw.y1 * anchor.y2 + anchor.y1,
          anchor.x2 * std::exp(raw.x2), anchor.y2 * std::exp(raw.y2)};
}

Box Corners(const Box& box, bool centers) {
  if (!centers) return box;
  const double half_width = box.x2 / 2, half_height = box.y2 / 2;
  return {box.x1 - half_width, box.y1 - half_height, box.x1 + half_width, box.y1 + half_height};
}

/// The anchors of the optional third input.
struct Anchors {
  std::vector<double> values;
  bool shared = true;

  Box At(int64_t image, int64_t boxes, int64_t box) const {
    const double* v = values.data() + static_cast<size_t>((shared ? 0 : image * boxes) + box) * 4;
    return {v[0], v[1], v[2], v[3]};
  }
};

Result<Anchors> ReadAnchors(const Call& call, const DetectionInputs& in) {
  Anchors anchors;
  if (call.Optional(2) == nullptr) return anchors;
  const Dims& dims = call.Input(2).dims;
  const Dims one = {1, in.boxes, 4}, each = {in.batch, in.boxes, 4};
  if (dims != one && dims != each) {
    return call.Wrong("anchors have shape " + ShapeText(dims) + "; expected " + ShapeText(one) +
                      " or " + ShapeText(each));
  }
  anchors.shared = dims[0] == 1;
  VERNIER_ASSIGN_OR_RETURN(anchors.values, call.Floats(2));
  return anchors;
}

}  // namespace

/// TensorRT's EfficientNMS_TRT, version 1: plugin/efficientNMSPlugin/README.md of TensorRT OSS 10.
/// Scores at the threshold count, boxes that overlap by exactly the threshold are suppressed, and
/// of each image the 4096 best scores are looked at.
Result<Outputs> EfficientNms(const Call& call) {
  constexpr size_t kMostCandidates = 4096;
  VERNIER_TRY(call.ExpectInputs(2, 3));
  VERNIER_ASSIGN_OR_RETURN(const EfficientOptions options, EfficientOptionsOf(call));
  VERNIER_ASSIGN_OR_RETURN(const DetectionInputs in, DetectionInputs::Read(call));
  VERNIER_ASSIGN_OR_RETURN(const Anchors anchors, ReadAnchors(call, in));
  const auto activate = [&](double score) {
    return options.sigmoid ? 1 / (1 + std::exp(-score)) : score;
  };
  std::vector<std::vector<Candidate>> images;
  for (int64_t image = 0; image < in.batch; ++image) {
    std::vector<Candidate> candidates;
    for (int64_t box = 0; box < in.boxes; ++box) {
      for (int64_t label = 0; label < in.classes; ++label) {
        const double score = in.Score(image, box, label);
        if (label == options.background || !(activate(score) >= options.score_threshold)) continue;
        const size_t place = in.PlaceOf(image, box, label);
        Box found = in.BoxAt(place);
        if (!anchors.values.empty()) {
          found = Decode(found, anchors.At(image, in.boxes, box), options.centers);
        }
        candidates.push_back({score, label, place, Corners(found, options.centers)});
      }
    }
    SortByScore(candidates);
    candidates.resize(std::min(candidates.size(), kMostCandidates));
    images.push_back(Suppress(candidates, [&](const Candidate& kept, const Candidate& other) {
      return (options.agnostic || kept.label == other.label) &&
             IntersectionOverUnion(kept.box, other.box) >= options.iou_threshold;
    }));
    std::vector<Candidate>& kept = images.back();
    kept.resize(std::min(kept.size(), static_cast<size_t>(options.most)));
    for (Candidate& candidate : kept) candidate.score = activate(candidate.score);
  }
  return MakeDetections(images, options.most, call.Input(0).dtype, DType::kInt32, {.label = 0});
}

}  // namespace vernier::pluginref
