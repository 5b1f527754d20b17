// What `blame` found, as plain data: enough to print every report again without running anything.
//
// Errors are in multiples of the bound that --tolerance auto gives; infinite where shapes differ,
// or where one side alone is not finite.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "vernier/decision_record.h"
#include "vernier/decode_record.h"
#include "vernier/run_record.h"
#include "vernier/status.h"

namespace vernier {

/// The finite values of one tensor, and how many are not.
struct MagnitudeRecord {
  int64_t elements = 0;
  int64_t nan_count = 0;
  int64_t infinite_count = 0;
  double min = 0;  ///< of the finite values, like the next two; 0 when there are none
  double max = 0;
  double largest = 0;           ///< absolute
  double float16_overflow = 0;  ///< fraction of the finite values that float16 cannot hold
  double float16_denormal = 0;  ///< fraction that is not zero and below its normal numbers
};

/// One tensor that both sides have.
struct BlameTensorRecord {
  std::string name;
  std::string candidate_name;   ///< empty: the same
  std::string dtype;            ///< the candidate's
  std::string reference_dtype;  ///< empty: the same
  std::vector<int64_t> shape;   ///< the candidate's
  double total_error = 0;
  std::optional<double> own_error;  ///< none: it could not be measured
  double total_rms = 0;             ///< of the differences, relative to the tensor's scale
  double own_rms = 0;
  double total_bound = 0;  ///< of the root mean square, relative to the scale
  double own_bound = 0;
  /// By how much the bounds are wider since rounding is amplified, here or before; the errors are
  /// in multiples of the wider ones. Usually 1.
  double condition = 1;
  /// Its share of its layer's errors of these names; not saved.
  std::optional<double> in_place_error, fused_error;
  std::string bound_why;  ///< of the own error's bound, or of the total error's where there is none
  MagnitudeRecord reference;
  MagnitudeRecord candidate;
  /// With charts, for a page; not saved. Null: not asked for.
  std::shared_ptr<const OutputRecord> compared;

  const std::string& name_in_candidate() const {
    return candidate_name.empty() ? name : candidate_name;
  }
};

/// A node of the candidate's graph, or a group of nodes between tensors that both sides have.
struct BlameLayerRecord {
  std::string node;  ///< its name; of a node without one, its first output's
  std::string op_type;
  std::vector<std::string> group;   ///< the nodes of a group, itself included; empty: it is alone
  std::vector<std::string> inputs;  ///< tensors that it is fed with when it runs alone
  std::vector<BlameTensorRecord> outputs;
  double total_error = 0;           ///< the largest of its outputs'
  std::optional<double> own_error;  ///< likewise
  std::string own_missing;          ///< why there is none
  /// The node alone on the candidate's tensors, against what it computed within the model. Only
  /// measured where that decides something.
  std::optional<double> in_place_error;
  /// The nodes that the candidate's runtime computes as one with this as the last; empty: none, or
  /// it is unknown. `fused_error` is theirs as one, from the reference's tensors.
  std::vector<std::string> fused;
  std::optional<double> fused_error;
  double condition = 1;  ///< the largest of its outputs'
  /// What else is known of the reason: "conv_q clips 43 % of its values: ..."; usually empty.
  std::string evidence;
  int64_t iteration = 0;  ///< in which its total error was the largest
};

struct BlameCulprit {
  std::string node;
  std::string op_type;
  std::vector<std::string> outputs;
  double total_error = 0;
  std::optional<double> own_error;
  std::string why;
};

struct BlameOperand {
  std::string name;
  MagnitudeRecord values;
};

/// The first tensor that is not finite although everything that its node reads is.
struct NonFiniteRecord {
  std::string node;
  std::string op_type;
  std::string output;
  std::string side;  ///< "candidate", "reference", "both"
  int64_t nan_count = 0;
  int64_t infinite_count = 0;
  std::vector<int64_t> first;  ///< coordinates
  std::vector<BlameOperand> operands;
};

struct UnexposedTensor {
  std::string name;
  std::string why;
};

/// A tensor of the candidate's graph and the one of a reference in another format that it was
/// compared with.
struct BlamePairRecord {
  std::string candidate, reference;
  std::string how;   ///< "output", "name", "value", "most values" or "shape"
  double error = 0;  ///< RMS of the differences over the larger RMS; infinite: not comparable
};

/// How an output of the model without probes differs from the same output with them.
struct DisturbanceRecord {
  bool measured = false;
  bool changed = false;
  double plain_error = 0;   ///< of the model's outputs without probes, reference against candidate
  double probed_error = 0;  ///< the same with all probes
  double moved = 0;         ///< the candidate's outputs without probes against those with them
  /// The first iteration whose outputs pass with probes and fail without, or the other way round,
  /// and the probes that it had.
  std::optional<int64_t> shown_at;
  std::vector<std::string> shown_by;
  std::string effect;               ///< "cures", "causes", or empty
  std::vector<std::string> probes;  ///< the smallest set found that has the effect
  std::vector<std::string> region;  ///< nodes around them
  std::string finding;              ///< one sentence; empty: nothing to say
};

/// One of the model's outputs that exceeds its bound although no layer makes an error.
struct BlameOutputCondition {
  std::string name;        ///< in the candidate
  double error = 0;        ///< the largest, with probes and without
  double condition = 0;    ///< what of the error rounding explains; 0: not measured
  bool repeats = true;     ///< false: the same inputs move it, too; not in files
  bool by_values = false;  ///< the tensors' values show the condition; not in files
};

/// The step of sequences that the layers are of; both sides were fed with the state of the first
/// runner.
struct BlameStepRecord {
  int64_t sequence = 0;
  int64_t step = 0;
  std::string output;      ///< the one that is furthest out of its error bound
  double own_error = 0;    ///< its error then
  double total_error = 0;  ///< of the worst output, where each side has its own state
  /// "NaN", or "infinite": an element of it is that on one side alone; empty: none is.
  std::string not_finite = {};
  bool wrong_by_itself = false;  ///< it is out of its bound with the state of the first runner, too
  /// The first step that is out of its bound when each side has its own state; none: none is.
  std::optional<int64_t> first_total_step = {};
  std::optional<int64_t> first_total_sequence = {};
  /// Where no step is wrong by itself: the largest error of all steps with the state of the first
  /// runner, and where it is.
  std::optional<double> largest_own_error = {};
  std::optional<int64_t> largest_own_step = {};
  std::optional<int64_t> largest_own_sequence = {};
  /// With --decode, the token that differs when each side has its own: the first beyond the
  /// tolerance, else the first of all.
  std::optional<DivergenceRecord> divergence = {};
};

/// The sample whose margin single layers use up.
struct BlameMarginSample {
  std::string output, kind;  ///< of the decision
  int64_t iteration = 0;
  int64_t row = 0;
  double margin = 0;  ///< the reference's, above 0
};

/// How much of that one layer costs: the candidate computes it from the reference's tensors, and
/// the reference computes all others.
struct BlameEatenMargin {
  std::string node;
  std::string op_type;
  double margin = 0;  ///< what is left; below 0: another answer leads by as much
  double eaten = 0;   ///< the fraction that is lost; above 1: this layer alone changes the answer
};

/// The decisions whose flips led to the layers.
struct BlameFlipsRecord {
  /// Over all iterations that were run; the margins are the first runner's, or those of the runner
  /// that --reference names.
  std::vector<DecisionRecord> decisions;
  /// Of these, those that were searched, the worst first; empty: nothing flips.
  std::vector<int64_t> iterations;
  /// Of the worst flip among them; empty, and its output too: nothing was measured.
  BlameMarginSample margin_of;
  std::vector<BlameEatenMargin> margins;  ///< culprits first, then by own error
};

struct BlameRecord {
  std::string command;
  std::string version;
  std::string model;
  std::string reference;  ///< names of the two sides
  std::string candidate;
  std::vector<RunnerRecord> runners;
  std::vector<BlameCulprit> culprits;
  std::optional<NonFiniteRecord> first_nonfinite;
  std::string first_divergence;  ///< the first node whose total error is above 1; empty: none
  std::vector<UnexposedTensor> unexposed;
  /// Of a reference in another format than ONNX, in the order of the candidate's nodes; else empty.
  std::vector<BlamePairRecord> tensor_pairs;
  /// Tensors that the candidate's runtime computes only on request; compared
  /// nevertheless.
  std::vector<std::string> fused_away;
  DisturbanceRecord disturbance;
  std::vector<BlameLayerRecord> layers;  ///< in topological order
  double output_error = 0;               ///< the largest total error of the model's own outputs
  /// The candidate's condition number: by how many roundoffs its outputs move when each float of
  /// the inputs moves by one step; 0: not measured, since nothing depended on it.
  double condition = 0;
  /// Of each output that it was measured for; `condition` is the largest of them. Empty in earlier
  /// records.
  std::vector<BlameOutputCondition> output_conditions;
  /// Random nodes of the candidate, where one of these does not repeat itself; not in files.
  std::vector<std::string> random_nodes;
  bool quantises_alone = false;  ///< the candidate has quantisers, and the reference none
  int64_t compared = 0;          ///< tensors
  int64_t iterations = 0;        ///< of which each layer has its worst; 0: not known
  int64_t batches = 0;
  uint64_t planned_bytes = 0;  ///< the most that all processes were expected to hold
  /// If the preceding run failed its tolerance and there are no culprits: one sentence about that.
  std::string within_bounds;
  std::optional<BlameStepRecord> at_step;  ///< where feeds are sequences of steps
  /// With --on-flips. Then `iteration` of a layer is a place in `on_flips->iterations`.
  std::optional<BlameFlipsRecord> on_flips;
  std::string error;       ///< why it was stopped; empty: it was not
  std::string resume_key;  ///< equal for commands that find the same
  std::vector<std::string> notes;
  std::vector<std::pair<std::string, double>> timing;  ///< what took how many seconds
  double seconds = 0;
  int exit_code = 0;
};

/// How much was compared, and how much of that has one value only or changed its type.
struct BlameCoverage {
  int64_t tensors = 0;
  int64_t elements = 0;
  int64_t constant = 0;  ///< tensors of more than one element with one value
  int64_t retyped = 0;   ///< tensors whose types differ between the sides

  /// Every tensor has many elements of one value.
  bool shows_nothing() const { return tensors > 0 && constant == tensors; }
};

BlameCoverage CoverageOf(const BlameRecord& record);

/// JSON with a schema_version; non-finite numbers are the strings "nan", "inf" and "-inf".
std::string ToJson(const BlameRecord& record);

/// Reads what ToJson wrote, also for an unfinished search. kMalformed.
Result<BlameRecord> BlameFromJson(std::string_view json);

/// A record of a run that did nothing else.
RunRecord RecordOf(BlameRecord blame);

}  // namespace vernier
