// What a reset leaves of inferences with other inputs, and of another number of them.
#pragma once

#include <string>
#include <vector>

#include "check/properties/properties.h"
#include "check/properties/trial.h"

namespace vernier {

/// Where a state may be kept: inside of the model, or of an object that declares nothing.
bool MayKeepState(const RunnerSession& runner);

/// Resets of a runner that follow one inference, and one more than are compared, with other inputs:
/// another feed, or the same doubled, reversed, or halved with the other sign. What the runner then
/// makes of a sample must be `expected`, inference by inference. Inputs that it refuses show
/// nothing, and are passed over; the runner is opened again then, as some cannot be reset any more.
class DisturbedResets {
 public:
  /// Both must outlive it.
  DisturbedResets(Subject& subject, Trial& trial) : subject_(subject), trial_(trial) {}

  /// False when the property is broken.
  bool Hold(const Sample& sample, const std::vector<TensorMap>& expected);

  /// "also after 8 resets that followed other inputs", or that the runner refuses those.
  std::string Describe() const;

 private:
  struct Feed {
    std::string what;
    TensorMap tensors;
  };

  std::vector<Feed> OtherFeeds(const TensorMap& feed);
  bool HoldBehind(const Feed& other, int64_t count, const Sample& sample,
                  const std::vector<TensorMap>& expected);
  int64_t Disturb(const Sample& sample, const TensorMap& other, int64_t count);
  void OpenAgain(const Sample& sample);

  Subject& subject_;
  Trial& trial_;
  int64_t done_ = 0;
  std::string refusal_;
};

}  // namespace vernier
