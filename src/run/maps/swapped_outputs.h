// Outputs that look swapped under their names: each has the values of another one.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace vernier {

class DeviceMeasure;
struct IterationComparison;

class SwappedOutputs {
 public:
  /// Looks at the outputs of an iteration that were paired by their names and failed. What is found
  /// must hold in each of the iterations that are looked at: those in which two outputs failed or
  /// more, 16 at most, and both were compared.
  void Look(const IterationComparison& comparison, const DeviceMeasure* device);

  /// What has held in four iterations, or in as many as there were: one sentence, with the words to
  /// type. Empty: nothing has.
  std::string Describe() const;

 private:
  struct Swap {
    std::string ours, theirs;  // outputs of A and of B
    std::string named_alike;   // the output of A that is called like `theirs`
    double worst = 0;          // error
    int64_t looks = 0;
    bool refuted = false;
  };
  Swap& SwapOf(const Swap& found);

  std::vector<Swap> swaps_;
  std::map<std::string, int64_t> compared_;  // iterations, by outputs of A
  int64_t looks_ = 0;
  std::string first_, second_;  // runners
};

}  // namespace vernier
