// Steps of which a mask excludes every position, as where a padded batch is fed token by token.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "compare/functions/comparison.h"
#include "vernier/run_record.h"

namespace vernier {

class PairRecorder;

class PaddedSteps {
 public:
  /// Takes what is wholly excluded out of the outputs of a step. True: that was all there was.
  bool Take(IterationComparison& comparison, int64_t iteration);

  /// Steps of which nothing was left.
  int64_t left_out() const { return left_out_; }

  /// Counts positions, with those that `recorder` has of steps with nothing to leave out. For
  /// outputs that were compared at other steps a note says how many steps those lack; the others
  /// are added as not verified, with a sentence for each.
  struct Sentences {
    std::vector<std::string> notes, unverified;
  };
  Sentences AddTo(const PairRecorder& recorder, PairRecord& record) const;

 private:
  struct Held {
    OutputComparison first;  ///< without tensors
    int64_t iteration = 0;   ///< of `first`
    int64_t steps = 0;
    int64_t positions = 0;
  };
  std::map<std::string, Held> outputs_;
  int64_t left_out_ = 0;
};

}  // namespace vernier
