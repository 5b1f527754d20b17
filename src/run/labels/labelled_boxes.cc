#include "run/labels/labelled_boxes.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "decide/figures/precision_bootstrap.h"
#include "util/text/number_text.h"
#include "util/values/plural_text.h"

namespace vernier {
namespace {

std::string WithoutFolders(const std::string& path) {
  return path.substr(path.find_last_of('/') + 1);  // npos + 1 is 0
}

bool EndsWithPath(const std::string& path, const std::string& end) {
  if (path == end) return true;
  return path.ends_with(end) && path[path.size() - end.size() - 1] == '/';
}

/// Boxes of what is fed, in `units` of it, to the pixels of its image.
DetectedBox Unplaced(const DetectedBox& box, const ImagePlacement& placement, bool fractions) {
  const double wide = fractions ? static_cast<double>(placement.fed.width) : 1;
  const double high = fractions ? static_cast<double>(placement.fed.height) : 1;
  DetectedBox on_image = box;
  on_image.x = (box.x * wide + placement.left) / placement.scale_x;
  on_image.y = (box.y * high + placement.top) / placement.scale_y;
  on_image.width = box.width * wide / placement.scale_x;
  on_image.height = box.height * high / placement.scale_y;
  return on_image;
}

std::string SidesText(ImageSize size) {
  return std::to_string(size.width) + " x " + std::to_string(size.height);
}

// Labels in the pixels of another image are of no use; a side of 0 is not said.
std::string OtherSize(ImageSize decoded, ImageSize listed) {
  const bool same = (listed.width == 0 || listed.width == decoded.width) &&
                    (listed.height == 0 || listed.height == decoded.height);
  if (same) return "";
  const bool turned = listed.width == decoded.height && listed.height == decoded.width;
  return "is " + SidesText(decoded) + " pixels (width x height), and " + SidesText(listed) +
         (turned ? " by the labels, as if EXIF had turned it, which is ignored here"
                 : " by the labels, as if it had been resized");
}

}  // namespace

Result<BoxLabels> BoxLabels::Load(const std::string& path) {
  Result<CocoLabels> coco = ReadCocoLabels(path).Annotate("--labels");
  if (!coco.ok()) return coco.status();
  if (coco->images.empty()) return Malformed("--labels: '" + path + "' lists no image");
  BoxLabels labels(*std::move(coco));
  labels.name_ = "--labels '" + path + "'";
  for (size_t i = 0; i < labels.coco_.images.size(); ++i) {
    const std::string& name = labels.coco_.images[i].file_name;
    if (!name.empty()) labels.by_name_.emplace(WithoutFolders(name), i);
  }
  return labels;
}

// Of images whose names the path ends with, the one that says the most folders.
void BoxLabels::FindImage(Fed& fed) const {
  const auto [begin, end] = by_name_.equal_range(WithoutFolders(fed.path));
  size_t longest = 0;
  for (auto one = begin; one != end; ++one) {
    const CocoImage& image = coco_.images[one->second];
    const size_t length = image.file_name.size();
    if (length < longest || !EndsWithPath(fed.path, image.file_name)) continue;
    fed.lacking.clear();
    if (length == longest) {
      fed.lacking = "is in " + name_ + " twice, with the ids " + std::to_string(fed.image->id) +
                    " and " + std::to_string(image.id) +
                    ", so it is unknown which labels are its own";
    }
    fed.image = &image;
    longest = length;
  }
  if (!fed.lacking.empty()) fed.image = nullptr;
  if (longest > 0) return;
  if (std::distance(begin, end) == 1) {
    fed.image = &coco_.images[begin->second];
    return;
  }
  fed.lacking = "is not in " + name_ +
                (by_name_.empty() ? ", whose images have no file_name to find them by" : "");
}

void BoxLabels::NoteImage(int64_t iteration, const FedImage& image, const ImageRecipe& recipe) {
  Fed& fed = fed_[iteration];
  fed = {image.path, nullptr, "", std::nullopt, ""};
  FindImage(fed);
  if (fed.image == nullptr) return;
  const ImageSize listed{static_cast<int64_t>(fed.image->height),
                         static_cast<int64_t>(fed.image->width)};
  const bool is_known = image.size.height >= 1 && image.size.width >= 1;
  const ImageSize size = is_known ? image.size : listed;
  if (is_known) fed.other_size = OtherSize(image.size, listed);
  if (size.height >= 1 && size.width >= 1) fed.placement = PlaceImage(recipe, size);
}

const BoxLabels::Fed* BoxLabels::FedWith(int64_t iteration) const {
  const auto found = fed_.find(iteration);
  return found == fed_.end() ? nullptr : &found->second;
}

std::vector<std::string> BoxLabels::Notes() const {
  std::vector<std::string> notes;
  if (coco_.left_out > 0) {
    notes.push_back(name_ + ": " + Counted(coco_.left_out, "annotation") +
                    " of images or categories that it does not list: left out");
  }
  if (coco_.has_id_zero) {
    notes.push_back(name_ +
                    ": an annotation has the id 0: as in pycocotools, a detection of it "
                    "counts as wrong; number annotations from 1");
  }
  return notes;
}

Result<LabelledBoxes::Place> LabelledBoxes::PlaceOf(int64_t iteration, size_t samples,
                                                    size_t sample) const {
  if (const BoxLabels::Fed* fed = labels_->FedWith(iteration); fed != nullptr) {
    if (samples != 1) {
      return InvalidArgument("the output has " + Counted(samples, "sample") + " for one image");
    }
    if (fed->image == nullptr) {
      return InvalidArgument("image '" + fed->path + "' " + fed->lacking);
    }
    if (!fed->other_size.empty()) {
      return InvalidArgument("image '" + fed->path + "' " + fed->other_size +
                             ": feed the images that " + labels_->name() + " is about");
    }
    if (!fed->placement) {
      return InvalidArgument("image '" + fed->path + "' has no width and height in " +
                             labels_->name());
    }
    return Place{fed->image, *fed->placement};
  }
  const auto& images = labels_->coco().images;
  const size_t index = static_cast<size_t>(samples_) + sample;
  if (index >= images.size()) {
    return InvalidArgument(labels_->name() + " has " + Counted(images.size(), "image"));
  }
  Place place{&images[index], {}};
  place.placement.fed = {static_cast<int64_t>(place.image->height),
                         static_cast<int64_t>(place.image->width)};
  return place;
}

// Boxes that reach further than 2 are in pixels, but for a few wild ones; boxes that do not are
// fractions, but for those in the corner of an image. Those at 0 could be both.
void LabelledBoxes::CountReach(const std::vector<SampleDetections>& samples) {
  constexpr double kMostOfFractions = 2;
  for (const SampleDetections& sample : samples) {
    for (const DetectedBox& box : sample.boxes) {
      const double reach = std::max(box.x + box.width, box.y + box.height);
      if (reach > 0) ++(reach > kMostOfFractions ? beyond_ : within_);
    }
  }
}

// What three quarters of the boxes say.
BoxUnits LabelledBoxes::UnitsSoFar() const {
  if (within_ + beyond_ == 0) return BoxUnits::kUnsaid;
  if (beyond_ <= within_ / 3) return BoxUnits::kFractions;
  return within_ <= beyond_ / 3 ? BoxUnits::kPixels : BoxUnits::kUnsaid;
}

std::string LabelledBoxes::DoubtedUnits() const {
  if (decision_.units != BoxUnits::kUnsaid || within_ + beyond_ == 0) return "";
  const BoxUnits said = UnitsSoFar();
  if (said != BoxUnits::kUnsaid && said == units_) return "";
  return std::to_string(beyond_) + " of " + std::to_string(within_ + beyond_) +
         " boxes reach further than 2, so that they may be in pixels or fractions of the image: "
         "add units=pixels or units=fractions to '" +
         decision_.text + "'";
}

Result<std::vector<DetectedBox>> LabelledBoxes::OnImage(const SampleDetections& sample,
                                                        const Place& place) const {
  const bool fractions = units_ == BoxUnits::kFractions;
  if (fractions && !sample.boxes.empty() &&
      (place.placement.fed.width < 1 || place.placement.fed.height < 1)) {
    return InvalidArgument("its boxes are fractions, and image " + std::to_string(place.image->id) +
                           " has no width and height in " + labels_->name());
  }
  std::vector<DetectedBox> boxes;
  for (const DetectedBox& box : sample.boxes) {
    VERNIER_ASSIGN_OR_RETURN(const std::optional<int64_t> category,
                             labels_->CategoryOf(box.category));
    if (!category) continue;
    boxes.push_back(Unplaced(box, place.placement, fractions));
    boxes.back().category = *category;
  }
  return boxes;
}

Status LabelledBoxes::ScoreOne(const Waiting& sample) {
  const Place& place = sample.place;
  VERNIER_ASSIGN_OR_RETURN(const std::vector<DetectedBox> a, OnImage(sample.first, place));
  VERNIER_ASSIGN_OR_RETURN(const std::vector<DetectedBox> b, OnImage(sample.second, place));
  VERNIER_TRY(first_.AddImage(place.image->id, a, place.image->boxes));
  return second_.AddImage(place.image->id, b, place.image->boxes);
}

void LabelledBoxes::NoteUnscored(const Waiting& sample, Status why) {
  ++unscored_;
  if (!why_.empty()) return;
  why_ = std::move(why)
             .Annotate("sample " + std::to_string(sample.sample) + " of iteration " +
                       std::to_string(sample.iteration))
             .message();
}

void LabelledBoxes::ScoreWaiting() {
  for (const Waiting& sample : waiting_) {
    Status scored = ScoreOne(sample);
    if (!scored.ok()) NoteUnscored(sample, std::move(scored));
  }
  waiting_.clear();
}

// What there is when no more comes: only boxes whose units are in doubt stay unscored.
LabelledBoxes LabelledBoxes::AtTheEnd() const {
  LabelledBoxes whole = *this;
  if (gave_up_) return whole;
  if (whole.units_ == BoxUnits::kUnsaid) whole.units_ = UnitsSoFar();
  if (whole.units_ == BoxUnits::kUnsaid && within_ + beyond_ > 0) return whole;
  whole.ScoreWaiting();
  return whole;
}

Result<SideDetections> LabelledBoxes::Detect(const DecisionPlan& decision, const Tensor& first,
                                             const Tensor& second) {
  SideDetections made;
  VERNIER_ASSIGN_OR_RETURN(made.first, DetectBoxes(decision, first));
  VERNIER_ASSIGN_OR_RETURN(made.second, DetectBoxes(decision, second));
  return made;
}

Status LabelledBoxes::AddIteration(int64_t iteration, Result<SideDetections> detected) {
  if (!detected.ok()) return detected.status();
  std::vector<SampleDetections>&a = detected->first, &b = detected->second;
  if (a.size() != b.size()) return InvalidArgument("the sides have different samples");
  CountReach(a);
  CountReach(b);
  for (size_t i = 0; i < a.size(); ++i) {
    NoteClasses(a[i]);
    NoteClasses(b[i]);
    const Result<Place> place = PlaceOf(iteration, a.size(), i);
    if (!place.ok()) {
      NoteUnscored({iteration, i, {}, {}, {}}, place.status());
      continue;
    }
    if (!a[i].boxes.empty() || !b[i].boxes.empty()) ++boxed_;
    if (gave_up_) continue;
    waiting_.push_back({iteration, i, *place, std::move(a[i]), std::move(b[i])});
  }
  samples_ += static_cast<int64_t>(a.size());
  // So many show the units; later ones need not wait.
  constexpr int64_t kEnoughSamples = 64, kMostInDoubt = 4096;
  const bool known = units_ != BoxUnits::kUnsaid;
  if (!known && !gave_up_ && boxed_ >= kEnoughSamples) units_ = UnitsSoFar();
  // What has no box is in no units.
  if (units_ != BoxUnits::kUnsaid || boxed_ == 0) ScoreWaiting();
  if (units_ == BoxUnits::kUnsaid && boxed_ >= kMostInDoubt && within_ + beyond_ > 0) {
    gave_up_ = true;
    waiting_.clear();
  }
  return {};
}

void LabelledBoxes::Add(int64_t iteration, const Tensor& first, const Tensor& second) {
  Add(iteration, Detect(decision_, first, second));
}

void LabelledBoxes::Add(int64_t iteration, Result<SideDetections> detected) {
  const bool in_order = labels_->FedWith(iteration) == nullptr;
  by_order_ |= in_order;
  lost_order_ |= iteration != next_iteration_;
  next_iteration_ = iteration + 1;
  const int64_t before = samples_;
  const Status added = in_order && lost_order_
                           ? InvalidArgument(
                                 "an earlier iteration was not decided, and it is not known "
                                 "which image comes next")
                           : AddIteration(iteration, std::move(detected));
  if (added.ok()) return;
  if (why_.empty()) why_ = added.message();
  if (samples_ != before) return;
  // How many samples there were is not known.
  ++unscored_;
  ++samples_;
  lost_order_ |= in_order;
}

void LabelledBoxes::NoteClasses(const SampleDetections& sample) {
  for (const DetectedBox& box : sample.boxes) last_class_ = std::max(last_class_, box.category);
}

std::optional<PrecisionRecord> LabelledBoxes::Record(std::optional<uint64_t> seed) const {
  const LabelledBoxes whole = AtTheEnd();
  if (whole.first_.images() == 0) return std::nullopt;
  constexpr const char* kUnitNames[] = {"", "pixels", "fractions"};
  PrecisionRecord record;
  record.images = whole.first_.images();
  record.listed = static_cast<int64_t>(labels_->coco().images.size());
  record.units = kUnitNames[static_cast<size_t>(whole.units_)];
  record.first = whole.first_.Figures();
  record.second = whole.second_.Figures();
  if (seed && record.images > 1 && !std::isnan(record.first.ap)) {
    record.intervals = BootstrapPrecision(whole.first_, whole.second_, *seed);
  }
  return record;
}

std::string LabelledBoxes::Fault() const {
  const LabelledBoxes whole = AtTheEnd();
  if (whole.unscored_ > 0) {
    return CountedOf(whole.unscored_, samples_, "sample") + " could not be scored: " + whole.why_;
  }
  if (std::string doubt = whole.DoubtedUnits(); !doubt.empty()) return doubt;
  const auto listed = static_cast<int64_t>(labels_->coco().images.size());
  if (!by_order_ || samples_ == listed) return "";
  return labels_->name() + " has " + Counted(listed, "image") + " for " +
         Counted(samples_, "sample");
}

}  // namespace vernier
