// The detections of both sides against COCO's labels, over all iterations of a run
// (`--decision boxes:…` with `--labels FILE.json`).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "decide/average_precision.h"
#include "decide/coco_labels.h"
#include "decide/detect_boxes.h"
#include "images/preprocess.h"
#include "vernier/decision_plan.h"
#include "vernier/precision_record.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

/// The labels of a run, and which of their images each iteration was fed.
class BoxLabels {
 public:
  /// Errors of ReadCocoLabels, behind what the file is for; kMalformed where it has no image.
  static Result<BoxLabels> Load(const std::string& path);

  /// What sentences call them: "--labels 'instances.json'".
  const std::string& name() const { return name_; }
  const CocoLabels& coco() const { return coco_; }

  /// The iteration was fed with that image file, as `recipe` has it. It is the image of the labels
  /// whose `file_name` the path ends with or, without folders, the only one of that name.
  void NoteImage(int64_t iteration, const std::string& path, const ImageRecipe& recipe);

  /// The same where it is known what became of the image; absent: that its size is not.
  void NotePlaced(int64_t iteration, const std::string& path,
                  const std::optional<ImagePlacement>& placement) {
    fed_[iteration] = {path, ImageOf(path), placement};
  }

  /// What is known of an iteration that was fed with an image file.
  struct Fed {
    std::string path;
    const CocoImage* image = nullptr;         ///< null: the labels do not have it
    std::optional<ImagePlacement> placement;  ///< absent where the labels lack the image's size
  };
  /// Null: it was not fed with an image file.
  const Fed* FedWith(int64_t iteration) const;

  /// What should be known of the file: annotations that were left out, an id of 0. Sentences.
  std::vector<std::string> Notes() const;

 private:
  explicit BoxLabels(CocoLabels coco) : coco_(std::move(coco)) {}
  const CocoImage* ImageOf(const std::string& path) const;

  std::string name_;
  CocoLabels coco_;
  std::unordered_multimap<std::string, size_t> by_name_;  // of images, without folders
  std::map<int64_t, Fed> fed_;
};

/// The detections of both sides in one iteration, sample by sample.
struct SideDetections {
  std::vector<SampleDetections> first, second;
};

/// Scores the detections of one decision about one output of a pair. A sample is the image that its
/// iteration was fed with; else the samples of all iterations, in order, are the images of the
/// labels by id, and their boxes in the pixels of these (or fractions of them). A class of the
/// network is a category by its place among their ids. A sample with NaN detects nothing.
class LabelledBoxes {
 public:
  /// `labels` must outlive it.
  LabelledBoxes(const BoxLabels& labels, DecisionPlan decision)
      : labels_(&labels), decision_(std::move(decision)) {}

  /// The outputs of one iteration; those that cannot be scored are kept for Fault().
  void Add(int64_t iteration, const Tensor& first, const Tensor& second);

  /// The same of detections that were made before.
  void Add(int64_t iteration, const Result<SideDetections>& detected);

  /// Errors of DetectBoxes.
  static Result<SideDetections> Detect(const DecisionPlan& decision, const Tensor& first,
                                       const Tensor& second);

  /// Nothing where no image was scored.
  std::optional<PrecisionRecord> Record() const;

  /// Why not every sample was scored, or not every image of labels that were to be the samples; a
  /// clause without a capital letter. Empty: they were.
  std::string Fault() const;

 private:
  // Whether numbers of boxes are fractions of what is fed: once a box was seen.
  enum class Units : uint8_t { kUnknown, kPixels, kFractions };

  // Which image a sample is, and how its boxes come to the labels' pixels.
  struct Place {
    const CocoImage* image = nullptr;
    ImagePlacement placement;
  };

  Result<Place> PlaceOf(int64_t iteration, size_t samples, size_t sample) const;
  Status SeeUnits(const std::vector<SampleDetections>& samples);
  Result<std::vector<DetectedBox>> OnImage(const SampleDetections& sample,
                                           const Place& place) const;
  Status AddSample(const Place& place, const SampleDetections& first,
                   const SampleDetections& second);
  Status AddIteration(int64_t iteration, const Result<SideDetections>& detected);

  const BoxLabels* labels_;
  DecisionPlan decision_;
  DetectionScorer first_, second_;
  Units units_ = Units::kUnknown;
  int64_t samples_ = 0;
  bool by_order_ = false;    // samples were taken as images in the order of their ids
  bool lost_order_ = false;  // it is not known any more which of them comes next
  int64_t next_iteration_ = 0;
  int64_t unscored_ = 0;
  std::string why_;  // of the first that was not scored
};

}  // namespace vernier
