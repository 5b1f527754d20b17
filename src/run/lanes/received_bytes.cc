#include "run/lanes/received_bytes.h"

namespace vernier {

std::vector<std::string> ReceivedBytes::Compare(const std::string& runner, int64_t iteration,
                                                const InputHashes& received) {
  std::vector<std::string> differences;
  if (received.empty()) return differences;
  if (iteration_ != iteration || first_.empty()) {
    iteration_ = iteration;
    first_ = received;
    by_ = runner;
    return differences;
  }
  for (size_t i = 0; i < received.size() && i < first_.size(); ++i) {
    if (received[i] == first_[i]) continue;
    differences.push_back(runner + " received other bytes for input '" + received[i].first +
                          "' than " + by_ + " in iteration " + std::to_string(iteration) +
                          ", though both were sent the same");
  }
  return differences;
}

}  // namespace vernier
