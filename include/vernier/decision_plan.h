// What a network decides, and by how much two runners may disagree about it (`--decision`).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "vernier/number_rule.h"
#include "vernier/per_output.h"
#include "vernier/status.h"

namespace vernier {

/// How an output becomes decisions. The output is split into samples along its first axis, unless
/// the kind says otherwise; docs/decisions.md has each kind's samples, border and margin.
enum class DecisionKind : uint8_t {
  kTop,         ///< topK: the set of the K largest values along an axis
  kThreshold,   ///< threshold=X: which values are >= X (multi-label)
  kArgmax,      ///< argmax[=AXIS]: the class of every position (segmentation)
  kSign,        ///< sign: whether each value is negative
  kRank,        ///< rank=K: the order of the K largest values (retrieval)
  kBoxes,       ///< boxes:FORMAT: detections after non-maximum suppression
  kCtc,         ///< ctc[=BLANK]: the text of the best path
  kEmbedding,   ///< embedding[=COSINE]: rows whose cosine similarity is at least that agree
  kRegression,  ///< regression=X: values within X units agree
  kScript,      ///< script:FILE[:FUNCTION]: what a Python function makes of all outputs
};

/// How the columns of an output of boxes are laid out.
enum class BoxFormat : uint8_t {
  kYoloV5,   ///< [N, boxes, 5 + classes]: cx, cy, w, h, objectness, classes
  kYoloV8,   ///< [N, 4 + classes, boxes]: cx, cy, w, h, classes
  kColumns,  ///< named by the user: `xyxy|cxcywh|xywh`, then `score`, `class`, `-` (not used)
};

/// What the numbers of a box are.
enum class BoxUnits : uint8_t {
  kUnsaid,     ///< found out from the boxes, where it matters
  kPixels,     ///< of what is fed
  kFractions,  ///< of its width and height
};

struct DecisionPlan {
  std::string output;  ///< of the first runner; empty: every output that the kind fits
  /// The kind as typed: "top5", "boxes:yolov8,iou=0.6"; names it everywhere. A plan is refused if
  /// the members below differ from what ParseDecision makes of it.
  std::string text;
  DecisionKind kind = DecisionKind::kTop;
  int64_t k = 1;            ///< of kTop and kRank; >= 1
  int64_t axis = -1;        ///< of the classes; kArgmax: 1 where the output has three axes or more
  bool axis_given = false;  ///< else the axis is found as docs/decisions.md says
  double limit = 0;         ///< of kThreshold, kEmbedding and kRegression
  int64_t blank = 0;        ///< of kCtc: the class of the blank; negative counts from the last
  bool time_first = false;  ///< of kCtc: [steps, samples, classes]
  BoxFormat format = BoxFormat::kYoloV8;
  std::vector<std::string> columns;  ///< of BoxFormat::kColumns
  double iou = 0.5;                  ///< of kBoxes: from which on two boxes are one, within (0, 1]
  double score = 0.25;               ///< of kBoxes: least confidence
  BoxUnits units = BoxUnits::kUnsaid;  ///< of kBoxes
  std::string script;                  ///< of kScript: a path
  std::string function;                ///< of kScript

  /// What replaces an output's name in records: for kScript, the last part of the function.
  std::string_view subject() const {
    if (kind != DecisionKind::kScript) return output;
    const std::string_view name = function;
    return name.substr(name.rfind('.') + 1);
  }

  bool operator==(const DecisionPlan&) const = default;

  template <typename Plan, typename Fields>
  static void EachField(Plan& decision, Fields& field) {
    field("output", decision.output);
    field("decide", decision.text);
  }
};

/// What determines the exit code.
enum class JudgeRule : uint8_t {
  kUnsaid,     ///< kElements; kDecisions once a gate is given, and elements of outputs
               ///< without a decision; kBoth where elements have a rule, too
  kElements,   ///< decisions are reported only
  kDecisions,  ///< elements are reported only
  kBoth,
};

/// How a drop of a labelled metric is measured.
enum class DropType : uint8_t {
  kAbsolute,  ///< the reference's value minus the candidate's
  kRelative,  ///< that, as a share of the reference's value
};

/// Instead of a file of labels: images are labelled by the names of their folders.
inline constexpr std::string_view kLabelsOfFolders = "folder";

/// The right answer for each sample.
struct LabelsPlan {
  std::string output;  ///< of the first runner; empty: of every decision that labels fit
  std::string path;    ///< .npy, .npz, .jsonl, .txt or .json; or kLabelsOfFolders

  /// Whether they are boxes (COCO's JSON), for DecisionKind::kBoxes; else for other kinds.
  bool of_boxes() const { return path.ends_with(".json"); }

  bool operator==(const LabelsPlan&) const = default;

  template <typename Plan, typename Fields>
  static void EachField(Plan& labels, Fields& field) {
    field("output", labels.output);
    field("path", labels.path);
  }
};

struct DecisionOptions {
  std::vector<DecisionPlan> decisions;
  PerOutput<double> max_flip_rate;         ///< gate: flips / samples, within [0, 1]
  std::optional<int64_t> max_clear_flips;  ///< gate: flips that are no near tie
  /// A flip whose margin is 0 or below this is a near tie; absent: twice what the error bound
  /// allows the values that decided, or, without one, twice the noise of the sample's other values.
  std::optional<double> near_tie;
  JudgeRule judge = JudgeRule::kUnsaid;
  std::string save_flips;    ///< --save-flips: FILE.npz; empty: not saved
  int64_t worst_flips = 16;  ///< samples in that file and on the page
  std::vector<LabelsPlan> labels;
  /// Gate: by how much accuracy may drop, by metric: a decision as typed, "top1", with its output
  /// before it or without. Within [0, 1].
  PerOutput<double> max_drop;
  DropType drop_type = DropType::kAbsolute;
  std::string class_names;  ///< a file with the name of a class a line; empty: they are numbers

  bool has_gates() const {
    return !max_flip_rate.entries.empty() || max_flip_rate.fallback || max_clear_flips ||
           gates_drop();
  }
  bool gates_drop() const { return !max_drop.entries.empty() || max_drop.fallback; }

  template <typename Plan, typename Fields>
  static constexpr void EachField(Plan& options, Fields& field) {
    field("decisions", options.decisions);
    field("max_flip_rate", options.max_flip_rate, kShare);
    field("max_clear_flips", options.max_clear_flips, kPositions);
    field("near_tie", options.near_tie, kAtLeast0);
    field("judge", options.judge);
    field("save_flips", options.save_flips);
    field("worst_flips", options.worst_flips, kFlipsKept);
    field("labels", options.labels);
    field("max_drop", options.max_drop, kShare);
    field("drop_type", options.drop_type);
    field("class_names", options.class_names);
  }
};

/// `[OUTPUT:]KIND[,NAME=VALUE…]` as typed. kInvalidArgument, with the kinds and the nearest one,
/// for what is none, and for values outside their range.
Result<DecisionPlan> ParseDecision(std::string_view words);

}  // namespace vernier
