// What a run did, as plain data: enough to print every report again without running anything.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "vernier/chart_record.h"
#include "vernier/compare_function.h"
#include "vernier/decision_record.h"
#include "vernier/decode_record.h"
#include "vernier/graph_record.h"
#include "vernier/profile_record.h"
#include "vernier/runner_record.h"
#include "vernier/status.h"

namespace vernier {

/// One element that differs.
struct ElementRecord {
  std::vector<int64_t> index;  ///< its coordinates
  double first = 0;            ///< the value on each side; of strings 0, of complex the magnitude
  double second = 0;
  std::optional<std::string> first_text;  ///< of strings and complex numbers ("1-2j")
  std::optional<std::string> second_text;
  double absolute_error = 0;
  double relative_error = 0;
  double times_tolerance = 0;
  /// The digits of integers, which a double may have rounded; empty: they are none.
  std::string first_digits = {}, second_digits = {}, absolute_digits = {};
};

/// The numbers of one side, where they were measured.
struct SideRecord {
  std::string dtype;
  double min = 0, max = 0, mean = 0, std_dev = 0;
  int64_t nan_count = 0;
  int64_t infinite_count = 0;
  std::optional<std::vector<int64_t>> first_nan;  ///< coordinates
  std::optional<std::vector<int64_t>> first_infinite;
  std::string min_digits = {}, max_digits = {};  ///< of integers, as those of an ElementRecord
};

/// Distances between the two sides, if they were measured. They do not affect the verdict.
struct DistanceRecord {
  /// Of the metrics that records show, where they apply: the KL divergence of what could be
  /// distributions, say. Older records lack metrics that came later.
  PerMetric<std::optional<double>> values;
  std::optional<uint64_t> max_ulp;  ///< where both sides have the same floating type
  std::vector<int64_t> max_ulp_index;
  int64_t ulp_different = 0;  ///< elements at a distance
};

/// What one comparison function found about an output.
struct GateRecord {
  std::string function;         ///< as --compare spells it
  std::string verdict;          ///< "passed", "failed", "not verified"
  std::string why;              ///< of what could not be compared
  std::optional<double> value;  ///< of functions with one number
  std::optional<double> threshold;
};

/// One iteration of an output in numbers: the worst.
struct OutputFigures {
  int64_t iteration = 0;
  std::vector<int64_t> shape;
  std::vector<GateRecord> gates;
  std::optional<SideRecord> first;
  std::optional<SideRecord> second;
  std::optional<DistanceRecord> distances;
  std::vector<ElementRecord> worst;   ///< only where the output did not match
  std::string suggestion;             ///< what could be done about shapes that differ
  std::optional<ChartRecord> charts;  ///< only where they were asked for
};

/// How an output compared with the bound of --tolerance auto, in its worst iteration.
struct BoundRecord {
  double bound = 0;         ///< relative to the scale
  double condition = 1;     ///< by which it was widened, for an output that amplifies rounding
  double bound_before = 0;  ///< before that
  double scale = 0;         ///< root mean square of the values
  double rms = 0;           ///< of the differences, relative to the scale
  double gain = 0;          ///< by which the first side is larger, relative
  double gain_bound = 0;
  double clean_bound = 0;   ///< of elements that no flipped step has reached; 0: not looked at
  double share_beyond = 0;  ///< of the elements that differ by more than that
  double share_allowed = 0;
  double element_bound = 0;  ///< relative to the scale
  double times_over = 0;
  std::string why;
};

/// An output's error at a step, or the worst of the steps that a point of a curve stands for.
struct StepPoint {
  int64_t step = 0;                       ///< the first of them, from 0
  std::optional<double> rms = {};         ///< of the differences; none: not measured
  std::optional<double> times_over = {};  ///< times over tolerance; none: not measured
};

/// Of --state cross: the second side's output against that of the first with the second's state.
struct CrossedRecord {
  int64_t steps = 0;  ///< that were compared so, of all sequences
  /// The first one that failed, and the sequence that it is in; none: none failed.
  std::optional<int64_t> first_bad_step = {};
  std::optional<int64_t> first_bad_sequence = {};
  std::optional<double> largest_rms = {};  ///< as of TimeRecord, like the rest
  std::vector<StepPoint> curve = {};
  int64_t steps_per_point = 1;
};

/// An output over the steps of sequences, where feeds are such.
struct TimeRecord {
  int64_t steps = 0;           ///< that were compared, of all sequences
  int64_t measured_steps = 0;  ///< of these, those with an RMS error that is a number
  /// The first one that failed, and the sequence that it is in; none: none failed.
  std::optional<int64_t> first_bad_step = {};
  std::optional<int64_t> first_bad_sequence = {};
  /// The last step of that sequence before it that was compared, where there are others between:
  /// of states, which are not compared at every step. The first bad one may be any of those.
  std::optional<int64_t> compared_before_bad = {};
  /// The slope of ln(RMS error), its standard error, and what a slope of one of the pair's outputs
  /// has to exceed to be no chance; none: fewer than 8 steps show growth (docs/steps.md).
  std::optional<double> growth_per_step = {}, growth_error = {}, growth_limit = {};
  int64_t fitted_steps = 0;
  bool of_new_elements = false;  ///< a state that got longer: the slope is of a scaled error
  /// The same over the second half of each sequence alone, and the first step of these halves.
  std::optional<double> late_growth_per_step = {}, late_growth_error = {}, late_growth_limit = {};
  std::optional<int64_t> late_first_step = {};
  std::optional<double> largest_rms = {};  ///< of the steps where it is a number; none: of none
  bool own = false;       ///< all were fed with the reference's state: errors are each step's own
  bool fed_back = false;  ///< it is a state, and was not compared at every step unless asked for
  /// The largest error of all sequences against the step, in at most 1,000 points.
  std::vector<StepPoint> curve = {};
  int64_t steps_per_point = 1;
  std::optional<CrossedRecord> crossed = {};  ///< of --state cross
};

/// The distributions over classes that an output represents, in the iteration that --compare logits
/// found worst. P is the softmax of the first side's row, Q that of the second's; a row is a
/// position. Numbers of which there are none are NaN.
struct LogitsRecord {
  bool passed = false;
  int64_t axis = 0;  ///< of the classes, from 0
  int64_t classes = 0;
  int64_t positions = 0;
  int64_t compared = 0;  ///< positions
  int64_t masked = 0;    ///< positions without a class on either side
  int64_t nan = 0;       ///< positions with NaN
  int64_t infinite = 0;  ///< positions with +inf
  int64_t torn = 0;      ///< positions where -inf is on one side alone: infinite divergence
  double kl_mean = 0;    ///< sum of p ln(p / q), in nats, over the positions
  double kl_error = 0;   ///< the standard error of the mean
  double kl_median = 0;
  double kl_p1 = 0, kl_p5 = 0, kl_p95 = 0, kl_p99 = 0, kl_p99_9 = 0;  ///< percentiles
  double kl_max = 0;
  std::vector<int64_t> kl_max_position;  ///< coordinates without the axis of the classes
  double kl_threshold = 0;
  double top_probability_rms = 0;  ///< of q - p of the class that P has first
  double top1_share = 0;           ///< of positions where P and Q have one class first
  double top1_judged = 0;          ///< the same where close flips count as equal
  double top1_threshold = 0;
  int64_t flips = 0;            ///< positions where they have not
  int64_t close_flips = 0;      ///< those that rounding explains: see LogitMeasures
  double flip_margin_mean = 0;  ///< of the first side's logits of the two classes
  double flip_margin_max = 0;
  std::vector<int64_t> flip_max_position;
  int64_t top_k = 0;       ///< classes in a set
  double top_k_share = 0;  ///< of positions where the sets are equal
  int64_t excluded = 0;    ///< positions that a mask excludes
};

/// What --compare logits measured over the positions of all iterations. Numbers of which there are
/// none are NaN.
struct LogitsTotalsRecord {
  int64_t iterations = 0;
  int64_t compared = 0;  ///< positions
  double kl_mean = 0;    ///< in nats, over the positions
  double kl_error = 0;   ///< the standard error of the mean, as of independent positions
  double kl_max = 0;
  double top1_share = 0;    ///< of positions where both sides have one class first
  int64_t flips = 0;        ///< positions where they have not
  int64_t close_flips = 0;  ///< those that rounding explains
  double top_k_share = 0;   ///< of positions where the sets are equal
  int64_t nan = 0;          ///< positions with NaN, which are not compared
  int64_t infinite = 0;     ///< positions with +inf, likewise
};

/// What --compare logits knows of the tokens that were fed, over all iterations. The loss of a
/// position is -ln of the probability of the next token, in nats. Without a token, numbers are
/// NaN.
struct TokensRecord {
  std::string source = {};  ///< of the tokens: an input, or a file; empty: they are not known
  std::string mask = {};    ///< the input; empty: there was none
  int64_t positions = 0;    ///< that logits stand for, excluded ones too
  int64_t excluded = 0;     ///< by the mask
  /// Iterations in which positions that were left out are beyond tolerance themselves.
  int64_t excluded_differ = 0;
  /// Iterations of a failed output that fails where the mask is 0, too, which was not left out, and
  /// elements out of tolerance there.
  int64_t masked_failed = 0, masked_mismatches = 0;
  int64_t tokens = 0;           ///< positions with a loss
  int64_t impossible = 0;       ///< positions whose token is -inf on both sides; they have no loss
  double first_perplexity = 0;  ///< exp of the mean loss
  double second_perplexity = 0;
  double ratio = 0;            ///< of the second to the first
  double ratio_error = 0;      ///< its standard error, from the paired differences of the losses
  double probability_rms = 0;  ///< of the differences of the token's probability
};

/// The distribution of a number in the rows of an output, over the iterations that have it.
/// Quantiles are interpolated between two of them, as in NumPy.
struct QuantilesRecord {
  std::string statistic;   ///< as rows call it: "max_absolute_error", "cosine_similarity"
  int64_t iterations = 0;  ///< in which it is a number
  int64_t nan = 0;         ///< in which it is NaN; these are left out
  double p1 = 0, p5 = 0, median = 0, p95 = 0, p99 = 0;
};

/// One output over all iterations of a pair.
struct OutputRecord {
  std::string name;        ///< of the first runner
  std::string other_name;  ///< of the second, when it was not the same
  /// "exact", "folded", "substring", "position" (the only ones left), "shape", "value" or "map".
  std::string paired_by;
  std::optional<double> pairing_error = {};  ///< of "value": RMS of the differences, relative
  std::string dtype;                         ///< of the first runner; empty: not known
  std::string other_dtype;
  int64_t compared = 0;  ///< iterations
  int64_t passed = 0;
  double worst_times_tolerance = 0;  ///< by how many times the worst element exceeds its bound
  int64_t not_verified = 0;          ///< iterations that neither passed nor mismatched
  int64_t without_numbers = 0;       ///< iterations whose shapes or types kept it from comparison
  /// Of all iterations in which they were measured; none: in none of them.
  std::optional<double> max_absolute_error;
  std::optional<double> max_relative_error;
  std::optional<double> mean_absolute_error;  ///< of the iteration with the largest mean
  std::optional<double> required_absolute;    ///< the tolerance that would have been enough
  std::optional<double> required_relative;
  int64_t elements = 0;       ///< of the largest iteration; 0 where none could be compared
  bool uneven = false;        ///< iterations differ in their number of elements
  int64_t mismatches = 0;     ///< elements out of tolerance, in the worst iteration
  int64_t not_finite = 0;     ///< NaN and infinite values on either side, in the worst iteration
  double allowed_share = 0;   ///< of elements that may be out of tolerance
  double allowed_excess = 0;  ///< and how many times over, where there is such a share
  bool tolerances_checked = false;   ///< `mismatches` counts what is out of tolerance, not all
  std::optional<BoundRecord> bound;  ///< absent with fixed tolerances
  std::optional<LogitsRecord> logits = {};              ///< of --compare logits
  std::optional<LogitsTotalsRecord> logits_total = {};  ///< of two iterations or more
  std::optional<TokensRecord> tokens = {};              ///< where tokens or a mask are known
  std::optional<TimeRecord> time = {};                  ///< where feeds are sequences of steps
  std::string vacuous;  ///< why the agreement shows nothing; empty: it does
  OutputFigures figures;
  /// For each function that failed, the worst value of all iterations; with --check-average the
  /// mean, for those that failed by it. Older records lack them.
  std::vector<GateRecord> failed_gates = {};
  std::vector<QuantilesRecord> quantiles = {};  ///< of numbers that two iterations or more have
  /// Of --check-average, which judges the means in place of the iterations: "passed", "failed",
  /// "not verified". Empty: the iterations decide.
  std::string average_verdict = {};

  /// It was compared, and passed: in every iteration, or by its means.
  bool agrees() const {
    return average_verdict.empty() ? compared > 0 && passed == compared
                                   : average_verdict == "passed";
  }
  /// It was compared and differs: in some iteration, or by its means.
  bool differs() const {
    return average_verdict.empty() ? passed + not_verified < compared : average_verdict == "failed";
  }
};

/// Whether a step is out of tolerance where both sides have one state (--state cross).
inline bool DiffersCrossed(const OutputRecord& output) {
  return output.time && output.time->crossed && output.time->crossed->first_bad_step;
}

struct PairRecord {
  std::string first;
  std::string second;
  std::string first_file = {};  ///< the file of a side that was loaded, in short; else empty
  std::string second_file = {};
  int64_t compared_iterations = 0;
  int64_t passed_iterations = 0;
  int64_t expected_iterations = 0;    ///< as many as were asked for, or the longer side has
  std::vector<OutputRecord> outputs;  ///< in the first runner's order
  bool rejected = false;              ///< by --strict: some of what agrees shows nothing
  std::vector<std::string> only_in_first;
  std::vector<std::string> only_in_second;
  std::vector<std::string> without_verdict = {};  ///< a comparison script gave no verdict on them
  std::vector<std::string> dropped = {};          ///< by a post-processing script
  std::vector<std::string> left_out = {};         ///< by --map-outputs
  std::vector<std::string> not_logits = {};       ///< --compare logits alone, which is not for them
  bool by_layer = false;    ///< what `blame` compared; made of `RunRecord::blame`, not saved
  bool itself = false;      ///< both sides are one file: that they agree shows nothing
  bool retyped = false;     ///< by --same-type or --strict: the types of some outputs differ
  bool incomplete = false;  ///< less could be compared than was asked for
  std::optional<bool> average_passed = {};              ///< of --check-average, where it was judged
  std::vector<DecisionRecord> decisions = {};           ///< in the order of --decision
  std::vector<DecisionGateRecord> decision_gates = {};  ///< one for each gate and decision
  /// What determines the exit code: "elements", "decisions" or "both"; empty: no decision was
  /// requested.
  std::string judged_by = {};
  /// Of "decisions" without --judge: the outputs that no decision covers. Their elements are
  /// judged.
  std::vector<std::string> undecided_outputs = {};
  std::optional<DecodeRecord> decode = {};  ///< of --decode
};

/// One option of the command line, or one that has its default.
struct SettingRecord {
  std::string option;
  std::string value;
  bool given = false;
};

/// Where and how the program was called: what someone else needs to call it again.
struct OriginRecord {
  std::vector<std::string> words;  ///< of the command line, the program first
  std::string directory;
  std::string started;    ///< in UTC: "2026-03-01T12:00:00Z"
  std::string system;     ///< "Linux 6.1.0 x86_64"
  std::string processor;  ///< its model; empty where the system does not say
  int64_t processors = 0;
  std::vector<SettingRecord> settings;
};

/// An output of a runner that is one of its inputs in the next step.
struct FeedBackRecord {
  std::string runner;
  std::string output;
  std::string input;
};

/// Where each feed is a sequence of steps, and each step an iteration.
struct StepsRecord {
  std::vector<int64_t> lengths;  ///< in steps, sequence by sequence
  std::string state;             ///< "own" or "reference": whose state runners are fed with
  std::vector<FeedBackRecord> feed_back;
};

struct BlameRecord;

struct RunRecord {
  std::string command;
  std::string version;
  OriginRecord origin;
  std::vector<RunnerRecord> runners;
  std::vector<PairRecord> pairs;
  bool averaged = false;  ///< --check-average: verdicts are on means
  /// --batch-feeds: so many iterations were one inference; nullopt: each was one of its own.
  std::optional<int64_t> batch_feeds = {};
  std::string error;                ///< why the run was stopped; empty: it was not
  std::vector<std::string> faults;  ///< what was asked for and not done, one sentence each
  /// What was checked and rejected although its values may agree, one sentence each: values that
  /// --validate refuses, and what --strict refuses.
  std::vector<std::string> rejections;
  std::vector<std::string> notes;            ///< what was changed on the way: coerced inputs
  std::vector<std::string> nan_inputs = {};  ///< those of `notes` that name NaN in inputs of steps
  /// Of each iteration the file that it was fed with, where feeds are images.
  std::optional<std::vector<std::string>> samples = {};
  std::vector<InputPictureRecord> flip_pictures = {};      ///< of the worst flips
  std::vector<std::pair<std::string, std::string>> saved;  ///< what, where
  int exit_code = 0;
  double seconds = 0;
  std::string shard = {};                ///< "2 of 3", of one that was not merged
  std::vector<ShardRecord> shards = {};  ///< those that were merged
  std::optional<StepsRecord> steps = {};
  std::optional<GraphRecord> graph;  ///< of the first ONNX model
  std::optional<ProfileRecord> profile;
  std::shared_ptr<const BlameRecord> blame;  ///< of `blame`, and of `run --blame`
};

/// A RunRecord from what ToJson made of it; what is absent keeps its default. `what` names the
/// text in messages. kMalformed when it is no record, or one of a later schema.
Result<RunRecord> ReadRecord(const std::string& text, const std::string& what);

/// Without what differs in another run of the same: times and latencies, the call and the machine,
/// where files are. The last part of a model's absolute path stays.
RunRecord Reproducible(RunRecord record);

/// One JSON object a line: the run, each runner, each output of each pair, each point of a
/// profile, and the verdict. `kind` says which. No charts and no graph.
std::string ToJsonLines(const RunRecord& record);

/// JSON with a schema_version; non-finite numbers are the strings "nan", "inf" and "-inf".
std::string ToJson(const RunRecord& record);

}  // namespace vernier
