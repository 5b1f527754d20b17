// Feeds that the host has written for this process: see src/run/calibration_feeds.h.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "vernier/dtype.h"
#include "vernier/status.h"

namespace vernier::trt {

struct FeedTensor {
  std::string name;
  DType dtype = DType::kUndefined;
  std::vector<int64_t> shape;
  std::span<const std::byte> bytes;
};

/// Tensors refer to the file's bytes, which live as long as this.
class FeedFile {
 public:
  /// kMalformed for what is no such file.
  static Result<FeedFile> Read(const std::string& path);

  size_t size() const { return feeds_.size(); }
  const std::vector<FeedTensor>& operator[](size_t index) const { return feeds_[index]; }

 private:
  std::shared_ptr<const std::string> bytes_;
  std::vector<std::vector<FeedTensor>> feeds_;
};

}  // namespace vernier::trt
