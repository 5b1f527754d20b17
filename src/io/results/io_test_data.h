// What the tests of this folder share.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "vernier/tensor.h"

namespace vernier {

/// A folder that is removed at the end of the test.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = testing::TempDir() + "vernier-io-XXXXXX";
    path_ = ::mkdtemp(name.data());
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }

  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

/// What a test of one file extension is called; without one it is a folder.
inline std::string FormatName(const testing::TestParamInfo<const char*>& info) {
  const std::string extension = info.param;
  return extension.empty() ? "folder" : extension.substr(1);
}

inline std::string ReadText(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline void WriteText(const std::string& path, std::string_view text) {
  std::ofstream(path, std::ios::binary) << text;
}

inline std::span<const std::byte> BytesOf(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

/// Bytes that differ from element to element; strings of several lengths and scripts.
inline Tensor SampleTensor(DType dtype, Dims dims, int seed = 0) {
  const auto count = static_cast<size_t>(*ElementCount(dims));
  if (dtype == DType::kString) {
    std::vector<std::string> values;
    for (size_t i = 0; i < count; ++i) values.push_back(std::string(i % 3, 'x') + "\xc3\xa9\xff");
    return *Tensor::FromStrings(std::move(dims), values);
  }
  std::vector<std::byte> bytes(static_cast<size_t>(*ByteSize(dtype, count)));
  for (size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<std::byte>(i * 37 + static_cast<size_t>(seed));
  }
  // The unused half of the last byte of a packed tensor is zero.
  if (BitsOf(dtype) == 4 && count % 2 == 1) bytes.back() &= std::byte{15};
  return *Tensor::Copy(dtype, std::move(dims), bytes);
}

inline void ExpectSameTensor(const Tensor& a, const Tensor& b, const std::string& what) {
  EXPECT_EQ(a.dtype(), b.dtype()) << what;
  EXPECT_EQ(a.dims(), b.dims()) << what;
  EXPECT_TRUE(std::equal(a.bytes().begin(), a.bytes().end(), b.bytes().begin(), b.bytes().end()))
      << what;
}

}  // namespace vernier
