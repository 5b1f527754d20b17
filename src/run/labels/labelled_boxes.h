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

#include "decide/figures/average_precision.h"
#include "decide/kinds/detect_boxes.h"
#include "decide/labels/coco_labels.h"
#include "images/preprocess.h"
#include "run/labels/class_names.h"
#include "vernier/decision_plan.h"
#include "vernier/precision_record.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

/// An image file that was fed.
struct FedImage {
  std::string path;
  ImageSize size;  ///< as it was decoded; zeros: not known
};

/// The labels of a run, and which of their images each iteration was fed.
class BoxLabels {
 public:
  /// Errors of ReadCocoLabels, behind what the file is for; kMalformed where it has no image.
  static Result<BoxLabels> Load(const std::string& path);

  /// Their name in sentences: "--labels 'instances.json'".
  const std::string& name() const { return name_; }
  const CocoLabels& coco() const { return coco_; }

  /// Finds categories by their names from now on, if `names` have those of all that an image has,
  /// each once; where they have none, class C of a network is the category with the C-th lowest id.
  /// kMalformed where they have some alone.
  Status NameClasses(const ClassNames& names);
  bool by_name() const { return !named_.empty(); }

  /// The id of the category that class `index` of a network is. nullopt of one that is named and no
  /// category here: its boxes have no labels. kInvalidArgument for a class beyond the categories.
  Result<std::optional<int64_t>> CategoryOf(int64_t index) const;

  /// Why categories are not the classes of an output that has so many, in a sentence, as far as
  /// that is certain, as of too many; and as far as it is in doubt. Empty: they are.
  std::string OtherClasses(int64_t classes) const;
  std::string TooFew(int64_t classes) const;
  /// The same of an output whose classes are not known, of which no box has a higher one.
  std::string NeverTheLast(int64_t last_class) const;
  /// That --class-names have none of the categories, in a sentence; empty: they have, or there are
  /// none.
  std::string WithoutNames() const;

  /// The iteration was fed with that image file, as `recipe` has it. It is the image of the labels
  /// whose `file_name` the path ends with, the longest of them, or, without folders, the only one
  /// of that name.
  void NoteImage(int64_t iteration, const FedImage& image, const ImageRecipe& recipe);

  /// The same where it is known what became of the image (absent: that its size is not), and how
  /// the labels' size differs.
  void NotePlaced(int64_t iteration, const std::string& path,
                  const std::optional<ImagePlacement>& placement, const std::string& other_size) {
    Fed& fed = fed_[iteration];
    fed = {path, nullptr, "", placement, other_size};
    FindImage(fed);
  }

  /// What is known of an iteration that was fed with an image file.
  struct Fed {
    std::string path;
    const CocoImage* image = nullptr;         ///< null: the labels do not have it
    std::string lacking = {};                 ///< then, why, behind "image 'a.png' "
    std::optional<ImagePlacement> placement;  ///< absent where the image's size is not known
    std::string other_size;                   ///< how the labels' size differs; empty: it does not
  };
  /// Null: it was not fed with an image file.
  const Fed* FedWith(int64_t iteration) const;

  /// Notes about the file: annotations that were left out, an id of 0. Sentences.
  std::vector<std::string> Notes() const;

 private:
  explicit BoxLabels(CocoLabels coco) : coco_(std::move(coco)) {}
  void FindImage(Fed& fed) const;

  std::string name_;
  CocoLabels coco_;
  std::unordered_multimap<std::string, size_t> by_name_;  // of images, without folders
  std::map<int64_t, Fed> fed_;
  bool without_names_ = false;                 // there are names, and no category has one of them
  std::vector<std::optional<int64_t>> named_;  // the category of each class; empty: by their ids
};

/// The detections of both sides in one iteration, sample by sample.
struct SideDetections {
  std::vector<SampleDetections> first, second;
};

/// Scores the detections of one decision about one output of a pair. A sample is the image that its
/// iteration was fed with; else the samples of all iterations, in order, are the images of the
/// labels by id, and their boxes in the pixels of these (or fractions of them). A class of the
/// network is a category by its place among their ids. A sample that is invalid detects nothing.
/// Where the decision does not say the units, all boxes do: those of fractions reach no further
/// than 2, but for a few.
class LabelledBoxes {
 public:
  /// `labels` must outlive it.
  LabelledBoxes(const BoxLabels& labels, DecisionPlan decision)
      : labels_(&labels), decision_(std::move(decision)), units_(decision_.units) {}

  /// The outputs of one iteration; those that cannot be scored are kept for Fault().
  void Add(int64_t iteration, const Tensor& first, const Tensor& second);

  /// The same of detections that were made before.
  void Add(int64_t iteration, Result<SideDetections> detected);

  /// Errors of DetectBoxes.
  static Result<SideDetections> Detect(const DecisionPlan& decision, const Tensor& first,
                                       const Tensor& second);

  /// Nothing where no image was scored. With a seed it also has intervals, which takes a while.
  std::optional<PrecisionRecord> Record(std::optional<uint64_t> seed = {}) const;

  /// The highest class of all boxes of both sides; -1: there are none.
  int64_t last_class() const { return last_class_; }

  /// Why not every sample was scored, or not every image of labels that were to be the samples; a
  /// clause without a capital letter. Empty: they were.
  std::string Fault() const;

 private:
  // Which image a sample is, and how its boxes come to the labels' pixels.
  struct Place {
    const CocoImage* image = nullptr;
    ImagePlacement placement;
  };

  // A sample whose boxes cannot be placed before their units are known.
  struct Waiting {
    int64_t iteration = 0;
    size_t sample = 0;
    Place place;
    SampleDetections first, second;
  };

  Result<Place> PlaceOf(int64_t iteration, size_t samples, size_t sample) const;
  void NoteClasses(const SampleDetections& sample);
  void CountReach(const std::vector<SampleDetections>& samples);
  BoxUnits UnitsSoFar() const;
  void ScoreWaiting();
  void NoteUnscored(const Waiting& sample, Status why);
  LabelledBoxes AtTheEnd() const;
  std::string DoubtedUnits() const;
  Result<std::vector<DetectedBox>> OnImage(const SampleDetections& sample,
                                           const Place& place) const;
  Status ScoreOne(const Waiting& sample);
  Status AddIteration(int64_t iteration, Result<SideDetections> detected);

  const BoxLabels* labels_;
  DecisionPlan decision_;
  DetectionScorer first_, second_;
  BoxUnits units_;                   // kUnsaid: not known yet
  int64_t within_ = 0, beyond_ = 0;  // boxes by how far they reach, see CountReach
  std::vector<Waiting> waiting_;
  int64_t boxed_ = 0;     // samples with a box, until the units are known
  bool gave_up_ = false;  // the units of many samples stayed in doubt: no more of them are kept
  int64_t samples_ = 0;
  int64_t last_class_ = -1;
  bool by_order_ = false;    // samples were taken as images in the order of their ids
  bool lost_order_ = false;  // it is not known any more which of them comes next
  int64_t next_iteration_ = 0;
  int64_t unscored_ = 0;
  std::string why_;  // of the first that was not scored
};

}  // namespace vernier
