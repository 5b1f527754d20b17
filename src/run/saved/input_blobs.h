// The bytes of inputs, a file each: --save-input-blob.
#pragma once

#include <cstdint>
#include <string>

#include "util/log/log.h"
#include "vernier/run_plan.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

class InputBlobs {
 public:
  /// Creates the folder. kIo. `logger` must outlive it.
  static Result<InputBlobs> Create(const SavePlan& plan, Logger& logger);

  const std::string& folder() const { return folder_; }

  /// Saves the feed with that number, in a folder of its own: NAME.bin. The path of a file that an
  /// earlier run made and that holds other bytes, after which nothing more of the feed is saved;
  /// empty: all is saved. kInvalidArgument for names that lead outside or to one file; kIo.
  Result<std::string> Add(int64_t number, const TensorMap& feed) const;

 private:
  InputBlobs(const SavePlan& plan, Logger& logger)
      : folder_(plan.input_blobs), resumes_(plan.resume), logger_(&logger) {}

  std::string folder_;
  bool resumes_;
  Logger* logger_;
};

}  // namespace vernier
