// Whether an output that is over its error bound belongs to a model that amplifies rounding: the
// runner infers once more with every float input moved by one rounding step, which no faultless
// runtime can be told from.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "run/comparison/pair_error_bounds.h"
#include "run/live/live_runs.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

/// The most that an error bound is widened by.
inline constexpr double kMostCondition = 1000;

/// What a second hearing found of an output.
struct HeardOutput {
  double condition = 1;
  bool repeats = true;  ///< false: the same feed moves it, too, by more than eight roundoffs
};

class SecondHearing {
 public:
  /// Both must outlive this. `bounds` has kept what the last outputs were made from.
  SecondHearing(LiveRuns& live, const PairErrorBounds& bounds) : live_(live), bounds_(bounds) {}

  /// Is the stream a runner that can infer once more?
  bool CanInfer(size_t stream) const {
    return stream < live_.size() && live_[stream].opened() && !bounds_.last_feed().empty();
  }

  /// Of these outputs of a stream, which `made` holds, the condition: by how many roundoffs of the
  /// inputs' type, relative to their scale, the three draws move them at most (Higham, Accuracy and
  /// Stability of Numerical Algorithms, section 1.6). 1 where that is no more than eight roundoffs,
  /// and where it cannot be measured: a saved stream, no float input, an inference that fails, an
  /// output that does not repeat itself on the unchanged feed. At most kMostCondition. What was
  /// measured once is not measured again.
  std::vector<HeardOutput> Hear(size_t stream, std::span<const std::string> names,
                                const TensorMap& made);

 private:
  Status Measure(size_t stream, std::span<const std::string> names, const TensorMap& made);

  LiveRuns& live_;
  const PairErrorBounds& bounds_;
  std::map<std::pair<size_t, std::string>, HeardOutput> known_;
};

}  // namespace vernier
