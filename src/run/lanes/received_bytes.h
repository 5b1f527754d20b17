// Whether runners that were sent the same memory have read the same bytes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backend/worker/worker.h"

namespace vernier {

class ReceivedBytes {
 public:
  /// What a runner received of an iteration's feed, which it was sent as it is. One sentence for
  /// each input that the first runner of that iteration received other bytes of. Empty hashes mean
  /// nothing.
  std::vector<std::string> Compare(const std::string& runner, int64_t iteration,
                                   const InputHashes& received);

 private:
  int64_t iteration_ = -1;
  InputHashes first_;  // of the first runner of the iteration
  std::string by_;     // which is called so
};

}  // namespace vernier
