// What two runners decided, as plain data.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "vernier/precision_record.h"

namespace vernier {

/// How the two sides' decisions about one sample relate to each other.
enum class Flip : uint8_t {
  kNone,     ///< they agree
  kNearTie,  ///< they differ, and the reference's margin is below the near tie
  kClear,    ///< they differ by more than that
  kInvalid,  ///< NaN among the deciding values of one side or both, or what is no box: never equal
             ///< to another
};

/// How the boxes of one sample on both sides match.
struct BoxCounts {
  int64_t matched = 0;
  int64_t lost = 0;
  int64_t invented = 0;
  int64_t class_changed = 0;
  double overlap = 0;  ///< sum of the IoU of those that matched
};

/// Positions of a class in a map of classes: of each side, and of both.
struct ClassOverlap {
  int64_t category = 0;
  int64_t first = 0;
  int64_t second = 0;
  int64_t both = 0;
};

/// What few samples have; of most kinds of decisions none.
struct SampleExtra {
  int64_t negative_boxes = 0;    ///< of both sides: boxes whose width or height is below 0
  int64_t scores_above_one = 0;  ///< likewise, boxes whose score is not a probability
  bool all_above = false;  ///< no value is below the border; argmax, rank, ctc: reference all ties
  /// A near tie by an error bound that the output exceeds, which then excuses nothing; or a clear
  /// flip by a bound that correct outputs may exceed, which then proves nothing. Of a clear flip
  /// `by_noise`: its own few values do not explain it, but four times the noise of its batch does,
  /// or that of the logits of sigmoids.
  bool over_bound = false;
  /// Of `ctc` with labels: how many edits lead to the label, which has `label_size` symbols. Of
  /// `regression`, whose scores are mean absolute errors: the means of the squared ones. Else NaN.
  double first_error = std::numeric_limits<double>::quiet_NaN();
  double second_error = std::numeric_limits<double>::quiet_NaN();
  int64_t label_size = 0;
  /// What is added up over the run, of samples that are not invalid: of boxes, and of a map of
  /// classes by class.
  std::optional<BoxCounts> boxes = {};
  std::vector<ClassOverlap> classes = {};

  bool any() const {
    const bool measured = first_error == first_error || second_error == second_error;
    const bool counted = boxes || !classes.empty() || negative_boxes > 0 || scores_above_one > 0;
    return measured || counted || all_above || over_bound;
  }
};

/// One sample under one decision: what a row keeps, and records are folded from.
struct DecisionSample : SampleExtra {
  std::string first;  ///< what each side decided, for people and programs: "281", "3 17 4", "EXIT"
  std::string second;
  /// The distance to the decision's border in its own units; NaN where there is none, infinite
  /// where nothing else could have been decided (one class).
  double first_margin = 0;
  double second_margin = 0;
  double near_tie = 0;  ///< the limit below which a margin is a near tie, of this sample
  double similarity =
      1;  ///< within [0, 1], 1: equal; share of pixels, mean IoU, 1 - edit distance…
  Flip flip = Flip::kNone;
  /// How they differ, for people: "2 lost, 1 class changed"; empty where the texts show it.
  std::string detail = {};
  /// A near tie or a clear flip only by the noise of the sample's other values: a wrong network has
  /// such near ties as well.
  bool by_noise = false;
  /// Of --labels: what is right, as a decision's text has it, or of a map of classes "map"; and how
  /// right each side is: 1 or 0, of a map its mean IoU. Without a label empty and NaN.
  std::string label = {};
  double first_score = std::numeric_limits<double>::quiet_NaN();
  double second_score = std::numeric_limits<double>::quiet_NaN();

  bool labelled() const { return first_score == first_score && second_score == second_score; }
};

/// Where a decision differs.
struct FlipPlace {
  int64_t iteration = 0;
  int64_t step = 0;                      ///< of its sequence, with steps
  std::optional<int64_t> sequence = {};  ///< with steps
  int64_t row = 0;                       ///< sample within the iteration
};

/// A sample among the worst of a pair: clear flips, those that are invalid on one side, near ties,
/// and those that are invalid on both; of each the larger margins first.
struct WorstFlip : FlipPlace {
  DecisionSample sample;
  int64_t rows = 0;  ///< samples of that iteration; 0: not known, of older records
  /// Places in the run's `flip_pictures`: the images that the sample was decided from.
  std::vector<int64_t> pictures = {};
};

/// An image that was fed where a decision flipped, for people.
struct InputPictureRecord {
  int64_t iteration = 0;
  int64_t image = 0;  ///< within the input's batch
  std::string input;
  std::string how;  ///< how pixels were made of its numbers
  std::string png;  ///< base64; at most 160 pixels wide and high
};

/// An error of both sides by labels, with 95 % intervals by the bootstrap: less is better.
struct LabelErrorRecord {
  std::string metric;  ///< "character error rate", "RMSE"
  double first = 0;
  double second = 0;
  double first_low = 0;
  double first_high = 0;
  double second_low = 0;
  double second_high = 0;
  double rise = 0;  ///< the second minus the first
  double rise_low = 0;
  double rise_high = 0;
};

/// LabelRecord::metric of `regression`.
inline constexpr std::string_view kMeanAbsoluteError = "mean absolute error";

/// How right the decisions of both sides are, by labels. Shares are within [0, 1].
struct LabelRecord {
  /// "top-1 accuracy", "exact match", "accuracy", "exact texts", "mean IoU" or kMeanAbsoluteError,
  /// which is in the units of the output, and whose drop is how far it rises.
  std::string metric;
  int64_t samples = 0;  ///< that have a label
  double first = 0;     ///< the metric of each side; NaN without samples
  double second = 0;
  double first_low = 0;  ///< Wilson's score interval, 95 %; of means by the bootstrap
  double first_high = 0;
  double second_low = 0;
  double second_high = 0;
  /// The reference's value minus the candidate's, with its 95 % interval for paired samples.
  double drop = 0;
  double drop_low = 0;
  double drop_high = 0;
  /// Samples that are right or wrong, by what they are on the first and the second side. Of mean
  /// IoU all are 0, and p is NaN.
  int64_t right_to_wrong = 0;
  int64_t wrong_to_right = 0;
  int64_t wrong_to_wrong = 0;  ///< flips that were wrong before and after
  int64_t both_right = 0;
  double p = 1;                ///< McNemar's exact test, two-sided
  double change = 0;           ///< a change of the metric that is worth seeing
  int64_t samples_to_see = 0;  ///< so many see it with 80 % power at 5 %; 0: not known
  std::vector<LabelErrorRecord> errors = {};  ///< of `ctc` and `regression`
};

/// How the boxes of all samples match that are not invalid.
struct BoxTotalsRecord {
  int64_t matched = 0;
  int64_t lost = 0;
  int64_t invented = 0;
  int64_t class_changed = 0;
  double mean_iou = 0;  ///< of those that matched; NaN without any
};

/// A class in the maps of all samples that are not invalid.
struct ClassIouRecord {
  int64_t category = 0;
  std::string name = {};  ///< of --class-names, in words: "owl (2)"
  int64_t first = 0;      ///< positions of each side, and of both
  int64_t second = 0;
  int64_t both = 0;
  double iou = 0;
};

/// One decision over all samples of a pair.
struct DecisionRecord {
  std::string output;  ///< the first side's name
  std::string kind;    ///< as typed: "top1"
  int64_t samples = 0;
  int64_t flips = 0;        ///< of any kind
  int64_t clear_flips = 0;  ///< kClear and kInvalid
  int64_t near_ties = 0;
  /// Near ties that a wrong network may have as well, and by what, after "near ties": "by the noise
  /// of the other values". Not in the file of a record.
  int64_t doubtful_near_ties = 0;
  std::string doubtful_by = {};
  /// Clear flips that a correct network may have, too, and by what, after "flips count as clear".
  int64_t doubtful_clear = 0;
  std::string clear_by = {};
  int64_t invalid = 0;
  double agreement = 0;     ///< 1 - flips / samples; NaN without samples
  double interval_low = 0;  ///< Wilson's score interval of the agreement, 95 %
  double interval_high = 0;
  double similarity = 1;             ///< mean over samples
  bool near_tie_from_bound = false;  ///< else from what was observed, or given
  /// What distinguished flips from near ties, after "by": "--near-tie 0.05", "the error bound",
  /// "the noise of the other values"; empty: not known, of older records.
  std::string near_tie_rule = {};
  /// Samples by the reference's margin, in 20 bins of equal width from 0 to `margin_most`; and the
  /// flips among them. Margins that are no finite numbers are left out.
  double margin_most = 0;
  std::vector<int64_t> margin_counts;
  std::vector<int64_t> margin_flips;
  std::optional<PrecisionRecord> precision = {};  ///< of boxes with --labels
  std::vector<WorstFlip> worst;
  std::optional<FlipPlace> first_flip = {};  ///< of any kind; absent: none, or an older record
  /// Why agreement shows nothing: "no sample of either side has a detection"; else empty.
  std::string vacuous = {};
  std::optional<LabelRecord> labels = {};  ///< of --labels
  /// Boxes of both sides with a sufficient score and a negative size; absent: none.
  std::optional<int64_t> negative_boxes = {};
  std::optional<int64_t> scores_above_one = {};  ///< likewise, boxes whose score is above 1
  std::optional<BoxTotalsRecord> boxes = {};     ///< of boxes
  /// Of maps of classes: those that either side has, by number.
  std::vector<ClassIouRecord> class_ious = {};
};

/// A gate that was set, and how it ended.
struct DecisionGateRecord {
  std::string gate;  ///< "--max-flip-rate"
  std::string output;
  std::string kind;
  double value = 0;
  double limit = 0;
  std::string verdict;     ///< "passed", "failed", "no samples"
  bool undecided = false;  ///< the 95 % interval contains the limit, whatever the verdict
  /// Of --max-clear-flips, where that makes it undecided: DecisionRecord::doubtful_by of a gate
  /// that passed, clear_by of one that failed.
  std::string doubtful_by = {};
  std::optional<int64_t> samples_to_decide = {};  ///< about as many would settle it
  /// Of --max-drop: "absolute" or "relative"; of an error, "rise" (in its units) or "relative
  /// rise".
  std::string drop_type = {};
};

}  // namespace vernier
