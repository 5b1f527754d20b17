// The right answers for the samples of a run (`--labels`), read from files or from the folders of
// images, and the names of its classes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "decide/labels/label_scores.h"
#include "record/shards/shard_decisions.h"
#include "run/labels/class_names.h"
#include "run/labels/labelled_boxes.h"
#include "vernier/decision_plan.h"
#include "vernier/decision_record.h"
#include "vernier/input_plan.h"
#include "vernier/row_record.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

/// The labels of one --labels.
class SampleLabels {
 public:
  /// By the extension: .npy (a label a sample, in the order of iterations and then rows), .npz (an
  /// array an iteration, named as saved feeds are, or in the file's order), .jsonl and .txt (a
  /// label a line). kInvalidArgument for another extension; kMalformed, naming the file and the
  /// line or array, for what holds no labels.
  static Result<SampleLabels> Load(const std::string& path);

  /// The class of an image is that of its folder's name in `names`; where these have none of the
  /// folders, its place among the names of the folders beside it, sorted, as in torchvision's
  /// ImageFolder. kMalformed where not all images are in folders of one folder, and where `names`
  /// have some of the folders alone.
  static Result<SampleLabels> OfFolders(const std::vector<std::string>& images,
                                        const ClassNames& names);

  /// They come with what is fed, as a tensor of that name.
  static SampleLabels OfFeeds(const std::string& words, std::string key);

  /// Their name in sentences: "--labels 'labels.npy'".
  const std::string& name() const { return name_; }
  /// Whether each iteration has labels of its own, so that it does not matter which came before.
  bool by_iteration() const { return by_iteration_; }
  /// Whether the image of an iteration says which its labels are.
  bool of_images() const { return of_images_; }

  /// Whether they come with what is fed.
  bool of_feeds() const { return key_.has_value(); }

  /// Of folders, their names by class; else empty.
  std::vector<std::string> folders() const;
  /// Of folders, those that have no image and are classes all the same, in a clause; else empty.
  std::string DescribeEmptyFolders() const;
  /// Of folders, which name is which class, for people; else empty.
  std::string DescribeClasses() const;
  /// Of folders, in a clause: why they, or the names that they are found by, are not the classes of
  /// an output that has so many; empty: they are as many.
  std::string WrongClasses(int64_t classes) const;
  /// Of folders that are numbers in another order than their names, or none of --class-names, in a
  /// sentence; else empty.
  std::string DoubtfulOrder() const;

  /// The iteration was fed with that file: its folder may be its class, and its place among all
  /// files is that of its labels. Iterations come in their order.
  void NoteFile(int64_t iteration, const FedFile& file);
  /// Of feeds: copies the labels of an iteration, since a feed may be in memory that others wait
  /// for; and releases those before it. kInternal where there is no memory for them.
  Status NoteFeed(int64_t iteration, const TensorMap& feed);
  void ForgetBefore(int64_t iteration);
  /// Where the labels of an iteration are: its number, unless files before it were skipped.
  int64_t PlaceOf(int64_t iteration) const;
  /// How many files there are; 0: not known.
  int64_t files() const { return files_; }

  /// The labels of the `samples` samples of an iteration, `before` being those of earlier
  /// iterations: fewer where there are no more. kInvalidArgument where an iteration has another
  /// number of labels than samples, and for numbers that are not whole.
  Result<std::vector<Label>> Of(DecisionKind kind, int64_t iteration, int64_t before,
                                int64_t samples) const;

  /// Whether they are an array, or arrays, that may have the shape of what is labelled.
  bool have_axes() const;
  /// Of top-K, in a clause: why the labels of an iteration are in no order that is that of its
  /// `samples` samples, whose output may be unknown: an array of other axes; empty: they may be.
  std::string OtherOrder(const DecisionPlan& decision, int64_t iteration,
                         const ScoredOutputs& outputs, int64_t samples) const;

  /// Where in the file the label number `label` is, as " (line 3)"; empty: it has no lines.
  std::string WhereIs(int64_t label) const;

  /// "90 labels" for `samples` samples in `iterations` iterations, where these are not as many;
  /// else empty.
  std::string WrongCount(DecisionKind kind, int64_t samples, int64_t iterations) const;

 private:
  Result<const Tensor*> ArrayOf(int64_t iteration) const;
  Result<std::vector<Label>> OfArray(DecisionKind kind, const Tensor& array, int64_t first,
                                     int64_t samples) const;

  std::string name_;
  bool by_iteration_ = false;
  bool of_images_ = false;
  std::vector<Tensor> arrays_;  // one; or one an iteration
  // Of lines: the values of all, and where those of each end.
  std::vector<int64_t> values_;
  std::vector<size_t> ends_;
  std::vector<bool> truths_;
  size_t empty_at_end_ = 0;  // of `ends_`
  // Of images.
  std::string root_;            // folder of their folders
  size_t names_ = 0;            // of --class-names, which classes are found by; 0: by their order
  bool without_names_ = false;  // there are --class-names, and no folder has one of them
  std::map<std::string, int64_t> class_of_folder_;
  std::vector<std::string> empty_folders_;
  std::map<int64_t, int64_t> class_of_iteration_;
  // Of feeds: the name, and what was fed under it in iterations that are not compared yet.
  std::optional<std::string> key_;
  std::map<int64_t, Tensor> fed_;
  std::vector<int64_t> places_;  // of iterations, where they are known
  int64_t files_ = 0;
};

/// The labels of a run, those of each --labels.
class RunLabels {
 public:
  /// Errors as SampleLabels and ClassNames have them; kInvalidArgument for folders of images where
  /// `inputs` names no images, and for labels that are fed where it loads nothing.
  static Result<RunLabels> Open(const DecisionOptions& options, const InputPlan& inputs);
  /// The same with the images that folders are of: at least one, where there are such labels.
  static Result<RunLabels> Open(const DecisionOptions& options,
                                const std::vector<std::string>& images);

  /// The iteration was fed with that file; of steps, as those before it may have been. Labels of
  /// steps are one behind the other.
  void NoteFile(int64_t iteration, const FedFile& file, bool is_step = false);
  /// The iteration is fed with `feed`, which may hold labels. Errors as SampleLabels::NoteFeed.
  Status NoteFeed(int64_t iteration, const TensorMap& feed);
  /// All iterations before this one were compared.
  void ForgetBefore(int64_t iteration);
  /// The iteration was fed with that image, as `recipe` has it.
  void NoteImage(int64_t iteration, const FedImage& image, const ImageRecipe& recipe);

  /// What a shard keeps of that, and the same again where its iterations are folded.
  std::vector<ShardPlacement> PlacementsOf(int64_t iteration) const;
  void NotePlaced(int64_t iteration, const FedFile& file, const ShardImage& image);

  /// The names of the folders that are classes, of each --labels folder.
  std::vector<std::string> Folders() const;
  /// Which folder of images is which class, for the log: a sentence for each --labels folder.
  std::vector<std::string> DescribeClasses() const;

  /// Those of a decision about `output`; null: it has none.
  const SampleLabels* For(const DecisionPlan& decision, const std::string& output) const;
  /// The same for a decision of DecisionKind::kBoxes.
  const BoxLabels* BoxesFor(const DecisionPlan& decision, const std::string& output) const;

  /// Notes about the files, in sentences.
  std::vector<std::string> Notes() const;
  /// What may make numbers wrong that are measured with them, in sentences.
  std::vector<std::string> Doubts() const;

  /// Of --class-names; empty without.
  const ClassNames& class_names() const { return class_names_; }

 private:
  const DecisionOptions* options_ = nullptr;
  std::vector<SampleLabels> labels_;   // as in the options; empty where they are boxes
  std::map<size_t, BoxLabels> boxes_;  // by their place in the options
  ClassNames class_names_;
};

/// The result of comparing labels with the samples of an iteration.
struct ScoredSamples {
  std::string fault;                   ///< why there are no labels; empty: there are
  std::vector<ShardUnfitLabel> unfit;  ///< labels that do not fit their sample
};

/// Gives samples their labels: `before` are the samples of earlier iterations. See ScoreSample().
ScoredSamples ScoreSamples(const SampleLabels& labels, const DecisionPlan& decision,
                           int64_t iteration, int64_t before, const ScoredOutputs& outputs,
                           std::vector<DecisionSample>& samples);

/// Gives the samples of one decision their labels, iteration by iteration.
class LabelTrack {
 public:
  /// `labels` may be null: there are none.
  explicit LabelTrack(const SampleLabels* labels = nullptr) : labels_(labels) {}

  bool has_labels() const { return labels_ != nullptr; }

  /// Of all samples of an iteration, see ScoreSample(). What has no label, or one that does not
  /// fit, stays without scores.
  void Score(const DecisionPlan& decision, int64_t iteration, const ScoredOutputs& outputs,
             std::vector<DecisionSample>& samples);

  /// The same of samples that a shard decided. kMalformed where it held the labels of other
  /// samples against its maps, since it did not know how many samples there are before its own.
  Status ScoreKept(const DecisionPlan& decision, int64_t iteration, const ShardDecision& kept,
                   std::vector<DecisionSample>& samples);

  /// Why not every sample has its label, or not every label its sample, in a sentence; empty: they
  /// have.
  std::string Fault(const DecisionPlan& decision) const;

 private:
  std::optional<int64_t> Enter(int64_t iteration, size_t samples);
  void Note(const std::string& fault);
  void NoteUnfit(int64_t iteration, int64_t before, const ScoredSamples& scored);

  const SampleLabels* labels_;
  int64_t samples_ = 0, iterations_ = 0;
  int64_t next_iteration_ = 0;
  int64_t next_place_ = 0;          // among files, those that were skipped, too
  int64_t last_samples_ = 0;        // of the last iteration
  int64_t unfit_ = 0;               // samples whose label does not fit
  std::optional<int64_t> classes_;  // of the output, where they are known
  std::string fault_;               // the first
};

}  // namespace vernier
