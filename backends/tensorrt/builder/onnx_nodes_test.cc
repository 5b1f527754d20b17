#include "tensorrt/builder/onnx_nodes.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>

namespace vernier::trt {
namespace {

// A field of a message: its number, and content of less than 128 bytes.
std::string Field(int number, const std::string& content) {
  return std::string{static_cast<char>(number << 3 | 2), static_cast<char>(content.size())} +
         content;
}

std::string Node(const std::string& name, const std::string& op_type, const std::string& output) {
  return Field(1, Field(1, "x") + Field(2, output) + (name.empty() ? "" : Field(3, name)) +
                      Field(4, op_type));
}

std::string Model() {
  // An IR version and another field of eight bytes come first.
  const std::string before = std::string("\x08\x08", 2) + std::string("\x51") + std::string(8, 'x');
  return before + Field(7, Node("first", "Relu", "a") + Field(2, "graph") + Node("", "Celu", "b"));
}

std::span<const std::byte> BytesOf(const std::string& text) {
  return std::as_bytes(std::span(text));
}

TEST(OnnxNodes, AreFoundByTheirNumber) {
  const std::string model = Model();
  ASSERT_TRUE(FindNode(BytesOf(model), 0));
  EXPECT_EQ(DescribeNode(*FindNode(BytesOf(model), 0)), "node 'first' (Relu)");
  ASSERT_TRUE(FindNode(BytesOf(model), 1));
  EXPECT_EQ(DescribeNode(*FindNode(BytesOf(model), 1)), "the node that makes 'b' (Celu)");
  EXPECT_FALSE(FindNode(BytesOf(model), 2));
}

TEST(OnnxNodes, AreNotFoundInWhatIsNoModel) {
  const std::string model = Model();
  for (size_t size = 0; size < model.size(); ++size) {
    EXPECT_FALSE(FindNode(BytesOf(model.substr(0, size)), 1)) << size;
  }
  EXPECT_FALSE(FindNode(BytesOf(std::string(100, '\xff')), 0));
}

TEST(OnnxNodes, AreFoundInAFile) {
  const std::string path = testing::TempDir() + "/onnx_nodes_test.onnx";
  std::ofstream(path, std::ios::binary) << Model();
  vn_model model{};
  model.path = {path.data(), path.size()};
  ASSERT_TRUE(FindNode(model, 1));
  EXPECT_EQ(FindNode(model, 1)->op_type, "Celu");
  const std::string missing = path + ".missing";
  model.path = {missing.data(), missing.size()};
  EXPECT_FALSE(FindNode(model, 1));
}

}  // namespace
}  // namespace vernier::trt
