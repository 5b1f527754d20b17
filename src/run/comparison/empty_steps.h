// Outputs that have elements at the first step of a sequence, and none later.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "run/steps/step_timeline.h"

namespace vernier {

struct IterationComparison;
struct OutputComparison;

class EmptySteps {
 public:
  /// In the order of steps.
  void Add(const StepPosition& position, const IterationComparison& comparison);

  /// A sentence for each output that is empty at most of the steps after a first one that is not:
  /// nothing was compared there. An empty first axis may just mean that nothing was found, as for
  /// boxes in a picture; it counts only for logits.
  std::vector<std::string> Describe() const;

 private:
  struct Seen {
    bool begins = false;  ///< the sequence at hand does so with elements
    int64_t steps = 0, empty = 0;
    int64_t later = 0, empty_later = 0;  ///< behind first steps with elements
  };
  std::map<std::string, Seen> outputs_;
};

}  // namespace vernier
