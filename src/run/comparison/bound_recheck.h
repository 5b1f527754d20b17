// Whether an output that is over its error bound belongs to a model that amplifies rounding: the
// runner infers once more with every float input moved by one rounding step, which no faultless
// runtime can be told from; where no input is a float, with the model's weights moved so.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "run/live/live_runs.h"
#include "run/live/pair_error_bounds.h"
#include "run/runner/nudged_floats.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

/// The most that an error bound is widened by.
inline constexpr double kMostCondition = 1000;

/// What the recheck found of an output.
struct RecheckedOutput {
  double roundoff = 0;  ///< given: of the coarsest float type before it; 0: not known
  double condition = 1;
  bool repeats = true;  ///< false: the same feed moves it, too, by more than eight roundoffs
};

/// An inference of the runner: of the unchanged feed without a nudge, else with every float moved.
using InferMoved = std::function<Result<TensorMap>(std::optional<Nudge> nudge)>;

/// Of the outputs whose names `rechecked` has, which `made` holds, the condition: by how many
/// roundoffs, relative to their scale, the three draws move them at most (Higham, Accuracy and
/// Stability of Numerical Algorithms, section 1.6). `roundoff` is that of the inputs. Where the
/// output's own type, or one on the way to it, is coarser, the inputs are moved by steps of that
/// type, and its roundoffs count: a smaller step may flip a short value, which shows that type and
/// no amplification. 1 where that is no more than eight roundoffs, and for an output that does not
/// repeat itself without a draw. At most kMostCondition. Measures nothing where `roundoff` is 0. An
/// inference that fails ends it; what was found stays.
Status MeasureConditions(const TensorMap& made, double roundoff, const InferMoved& infer,
                         std::map<std::string, RecheckedOutput>& rechecked);

/// What is left of an output's condition where its bound allows for the measured error of another
/// one that has condition `before`: 1 where no more than eight roundoffs are added.
double ConditionSince(double before, double condition);

/// An output, and the roundoff of the coarsest float type before it; 0 where that is not known.
/// Where its bound allows for the measured error of another output, `since`, only what is amplified
/// from there on counts.
struct OutputToRecheck {
  std::string name;
  double roundoff = 0;
  std::string since = {};
};

class BoundRecheck {
 public:
  /// Both must outlive this. `bounds` has kept what the last outputs were made from.
  BoundRecheck(LiveRuns& live, const PairErrorBounds& bounds) : live_(live), bounds_(bounds) {}

  /// Is the stream a runner that can infer once more?
  bool CanInfer(size_t stream) const {
    return stream < live_.size() && live_[stream].opened() && !bounds_.last_feed().empty();
  }

  /// Of these outputs of a stream, which `made` holds, the condition, over that of `since`: see
  /// MeasureConditions. 1 where it cannot be measured: a saved stream, neither a float input nor
  /// weights that can be moved, an inference that fails. What was measured once is not measured
  /// again.
  std::vector<RecheckedOutput> Recheck(size_t stream, std::span<const OutputToRecheck> outputs,
                                       const TensorMap& made);

 private:
  RecheckedOutput KnownOf(size_t stream, const std::string& name) const;
  Status Measure(size_t stream, std::span<const OutputToRecheck> outputs, const TensorMap& made);

  LiveRuns& live_;
  const PairErrorBounds& bounds_;
  std::map<std::pair<size_t, std::string>, RecheckedOutput> known_;
};

}  // namespace vernier
