#include "detections.h"

namespace vernier::pluginref {

Result<DetectionInputs> DetectionInputs::Read(const Call& call) {
  VERNIER_TRY(call.ExpectRank(1, 3));
  const Dims& boxes = call.Input(0).dims;
  const Dims& scores = call.Input(1).dims;
  DetectionInputs in;
  in.batch = scores[0];
  in.boxes = scores[1];
  in.classes = scores[2];
  const Dims flat = {in.batch, in.boxes, 4};
  const Dims one = {in.batch, in.boxes, 1, 4};
  const Dims each = {in.batch, in.boxes, in.classes, 4};
  in.shared = boxes == flat || boxes == one;
  if (!in.shared && boxes != each) {
    return call.Wrong("boxes of shape " + ShapeText(boxes) + " do not fit scores of shape " +
                      ShapeText(scores) + "; expected " + ShapeText(flat) + ", " + ShapeText(one) +
                      " or " + ShapeText(each));
  }
  VERNIER_ASSIGN_OR_RETURN(in.corners, call.Floats(0));
  VERNIER_ASSIGN_OR_RETURN(in.scores, call.Floats(1));
  return in;
}

Outputs MakeDetections(const std::vector<std::vector<Candidate>>& images, int64_t most,
                       DType float_type, DType label_type, Padding padding) {
  const auto batch = static_cast<int64_t>(images.size());
  std::vector<int32_t> counts;
  const auto places = images.size() * static_cast<size_t>(most);
  std::vector<double> boxes(places * 4), scores(places), labels(places, padding.label);
  for (size_t image = 0; image < images.size(); ++image) {
    counts.push_back(static_cast<int32_t>(images[image].size()));
    for (size_t i = 0; i < images[image].size(); ++i) {
      const Candidate& found = images[image][i];
      const size_t at = image * static_cast<size_t>(most) + i;
      scores[at] = found.score;
      labels[at] = static_cast<double>(found.label);
      const double corners[] = {found.box.x1, found.box.y1, found.box.x2, found.box.y2};
      std::copy(std::begin(corners), std::end(corners),
                boxes.begin() + static_cast<ptrdiff_t>(at * 4));
    }
  }
  const std::vector<int32_t> whole(labels.begin(), labels.end());
  return {MakeArray<int32_t>(DType::kInt32, {batch, 1}, counts),
          MakeFloats(float_type, {batch, most, 4}, boxes),
          MakeFloats(float_type, {batch, most}, scores),
          label_type == DType::kInt32 ? MakeArray<int32_t>(DType::kInt32, {batch, most}, whole)
                                      : MakeFloats(float_type, {batch, most}, labels)};
}

}  // namespace vernier::pluginref
