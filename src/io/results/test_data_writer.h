// Folders of ONNX test data: test_data_set_<n>/input_<k>.pb or output_<k>.pb.
#pragma once

#include <cstdint>
#include <string>

#include "io/results/feed_sources.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

class TestDataWriter {
 public:
  /// Creates the folder. Files of the same part must not be in it yet: kIo.
  static Result<TestDataWriter> Create(std::string path, TestDataPart part);

  /// The next iteration: a folder with one file for each tensor, in their order. Each file appears
  /// whole. kIo; kInvalidArgument for tensors that the format cannot hold.
  Status Append(const TensorMap& tensors);

 private:
  TestDataWriter(std::string path, TestDataPart part) : path_(std::move(path)), part_(part) {}

  std::string path_;
  TestDataPart part_;
  uint64_t written_ = 0;
};

}  // namespace vernier
