// Whether an output that is over its error bound belongs to a model that amplifies rounding: the
// runner infers once more with every float input moved by one rounding step, which no correct
// runtime can distinguish; where no input is a float, or the model makes steps of all floats, with
// the model's weights moved so. Where one side rounds to a short type, inputs and weights are moved
// by steps of that type.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "run/live/inference_scheduler.h"
#include "run/live/pair_error_bounds.h"
#include "run/runner/nudged_floats.h"
#include "vernier/runner_plan.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

struct IterationComparison;

/// The most that a condition counts.
inline constexpr double kMostCondition = 1000;

/// What the recheck found of an output.
struct RecheckedOutput {
  double roundoff = 0;  ///< given: of the coarsest float type before it; 0: not known
  double condition = 1;
  double spread = 1;     ///< of the draws: the largest movement over the smallest
  double element = 0;    ///< by how much, relative to the scale, a single element moves at most
  bool weights = false;  ///< weights were moved by steps of the shorter type of one side
  bool repeats = true;   ///< false: the same feed moves it, too, by more than eight roundoffs
};

/// By how much an output has moved, relative to its scale: as a whole, and a single element at
/// most. 0 where two outputs cannot be compared, and where that is no finite number.
struct Movement {
  double rms = 0;
  double element = 0;
};
Movement Moved(const Tensor& before, const Tensor& after);

/// An inference of the runner: of the unchanged feed without a nudge, else with every float moved.
using InferMoved = std::function<Result<TensorMap>(std::optional<Nudge> nudge)>;

/// Whether a runner gives the same outputs for the same feed.
enum class Repeats : uint8_t { kSurely, kPerhaps };

/// What a graph shows: other models may draw random numbers. `random_operator` is one of it.
Repeats RepeatsOf(const ModelPlan& model, const std::string& random_operator);

/// Of the outputs whose names `rechecked` has, which `made` holds, the condition: by how many
/// roundoffs, relative to their scale, the draws move them at most (Higham, Accuracy and Stability
/// of Numerical Algorithms, section 1.6). `roundoff` is that of the inputs. Where the output's own
/// type, or one on the way to it, is coarser, the inputs are moved by steps of that type, and its
/// roundoffs count: a smaller step may flip a short value, which shows that type and no
/// amplification. At most kMostCondition. There are three inferences for each type: three draws, or
/// of a runner that may not repeat itself the unchanged feed and two. Of an output that does not
/// repeat itself nothing is measured, nor where `roundoff` is 0. An inference that fails ends it;
/// what was found stays.
Status MeasureConditions(const TensorMap& made, double roundoff, Repeats repeats,
                         const InferMoved& infer,
                         std::map<std::string, RecheckedOutput>& rechecked);

/// The share of an output's movement that counts where its bound allows for the measured error of
/// another one, which is moved by `before` roundoffs and is off by `error` of them: that error is
/// amplified from there on.
double ShareSince(double before, double error);

/// Gives a bound what was found. What it has of the other side stays where that widens it more.
void TakeCondition(const RecheckedOutput& rechecked, ErrorBound& bound);

/// An output, and the roundoff of the coarsest float type before it; 0 where that is not known.
/// Where its bound allows for the measured error of another output, `since`, only what is amplified
/// from there on counts.
struct OutputToRecheck {
  std::string name;
  double roundoff = 0;
  std::string since = {};
  double since_error = 0;  ///< that, relative
};

/// Outputs that are over their bounds, by the names of each side.
struct OverBounds {
  std::vector<OutputToRecheck> first, second;
};

/// Flipped steps look like amplified rounding, and have their place in the bounds already: such
/// outputs are not among them.
OverBounds FindOver(const IterationComparison& comparison, const ErrorBounds& bounds);

/// What the draws move. Weights are moved along where one of two sides rounds them, or what layers
/// make, to a short type and the other does not: that is most of what they differ by.
/// Behind quantisers scales are moved, too: there the layers' roundings flip steps, and those of
/// the inputs may flip none.
enum class Moves : uint8_t { kInputs, kInputsAndWeights, kInputsAndScales };

/// An output, and how far it is to be moved.
struct OutputToMove {
  std::string name;
  Movement enough = {};

  bool IsEnough(const Movement& moved) const {
    return moved.rms >= enough.rms && moved.element >= enough.element;
  }
};

class BoundRecheck {
 public:
  /// Whether a state that a step is fed with is moved, too, as the inputs are: where both sides
  /// were given the same one.
  enum class State : uint8_t { kStays, kMoves };

  /// Both must outlive this. `bounds` has kept what the last outputs were made from.
  BoundRecheck(InferenceScheduler& live, const PairErrorBounds& bounds, State state = State::kStays)
      : live_(live), bounds_(bounds), moves_state_(state == State::kMoves) {}

  /// Is the stream a runner that can infer once more?
  bool CanInfer(size_t stream) const {
    return stream < live_.size() && live_[stream].opened() && !bounds_.last_feed().empty();
  }

  /// Has the model of the stream quantisers?
  bool Quantises(size_t stream) const { return bounds_.Quantises(stream); }
  /// Are there tensors that were marked? What is before an output was then compared, too.
  bool any_marked() const { return live_.any_marked(); }

  /// Of these outputs of a stream, which `made` holds, the condition, over that of `since`: see
  /// MeasureConditions. 1 where it cannot be measured: a saved stream, neither a float input nor
  /// weights that can be moved, an inference that fails. What was measured once is not measured
  /// again.
  std::vector<RecheckedOutput> Recheck(size_t stream, std::span<const OutputToRecheck> outputs,
                                       const TensorMap& made, Moves moves);

  /// By how much rounding of inputs and scales moves these outputs of a stream, which `made` holds,
  /// at most: in up to eight draws, since few steps of quantisers flip in one, or none. Those that
  /// have not reached what is `enough` are drawn on. Nothing where it cannot be measured, or does
  /// not repeat itself.
  std::vector<Movement> MoveByRounding(size_t stream, std::span<const OutputToMove> outputs,
                                       const TensorMap& made);

 private:
  struct Subject {
    size_t stream = 0;
    Moves moves = Moves::kInputs;
    auto operator<=>(const Subject&) const = default;
  };

  RecheckedOutput KnownOf(Subject subject, const std::string& name) const;
  Status Measure(Subject subject, std::span<const OutputToRecheck> outputs, const TensorMap& made);

  // An output as the draws so far have moved it at most.
  struct Drawn {
    Movement most = {};
    uint64_t draws = 0;
  };
  // Adds to what moved_ has of the outputs.
  Status Move(size_t stream, std::span<const OutputToMove> outputs, const TensorMap& made);

  InferenceScheduler& live_;
  const PairErrorBounds& bounds_;
  bool moves_state_;
  std::map<std::pair<Subject, std::string>, RecheckedOutput> known_;
  std::map<std::pair<size_t, std::string>, Drawn> moved_;
};

}  // namespace vernier
