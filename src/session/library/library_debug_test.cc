// What debug.h finds, with checks that are functions: no framework is asked.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

#include "model/onnx/onnx_model.h"
#include "model/onnx/onnx_test_model.h"
#include "surgeon/mixed_precision.h"
#include "vernier/debug.h"

namespace vernier {
namespace {

using testing::HasSubstr;
using testing_model::Field;
using testing_model::Node;
using testing_model::Number;

// A float tensor of shape (2, 3).
std::string FixedValue(std::string_view name) {
  const std::string shape = Field(1, Number(1, 2)) + Field(1, Number(1, 3));
  return Field(1, name) + Field(2, Field(1, Number(1, 1) + Field(2, shape)));
}

// A file with three nodes, of which the second is a square root.
std::string ChainModel(const std::string& name) {
  const std::string path = testing::TempDir() + name;
  std::ofstream(path) << testing_model::Model(
      Field(2, "graph") + Field(1, Node("Relu", {"x"}, {"a"})) +
      Field(1, Node("Sqrt", {"a"}, {"b"}, Field(3, "root"))) +
      Field(1, Node("Relu", {"b"}, {"y"})) + Field(11, FixedValue("x")) +
      Field(12, FixedValue("y")));
  return path;
}

bool HasRoot(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str().find("Sqrt") != std::string::npos;
}

Result<bool> WithoutRoot(const std::string& path) { return !HasRoot(path); }

TEST(ReduceModel, FindsTheNodeThatFails) {
  ReduceOptions reduce;
  reduce.output = testing::TempDir() + "reduced_bad.onnx";
  reduce.min_good = testing::TempDir() + "reduced_good.onnx";
  std::string checked;
  const auto check = [&](const std::string& path) {
    checked = path;
    return WithoutRoot(path);
  };
  const Result<ReduceRecord> record = ReduceModel(ChainModel("reduced.onnx"), check, reduce);
  ASSERT_TRUE(record.ok()) << record.status().message();
  ASSERT_EQ(record->failing.size(), 1);
  EXPECT_EQ(record->failing[0].op, "Sqrt");
  EXPECT_EQ(record->failing[0].name, "root");
  EXPECT_EQ(record->nodes, 3);
  EXPECT_GE(record->checks, 2);
  EXPECT_TRUE(HasRoot(reduce.output));
  EXPECT_FALSE(HasRoot(reduce.min_good));
  EXPECT_FALSE(std::filesystem::exists(checked));
}

TEST(ReduceModel, EndsWithTheErrorOfACheck) {
  const auto check = [](const std::string&) -> Result<bool> { return Unavailable("no device"); };
  const Status status = ReduceModel(ChainModel("reduce_ends.onnx"), check).status();
  EXPECT_EQ(status.code(), StatusCode::kUnavailable);
  EXPECT_EQ(status.message(), "no device");
}

TEST(ReduceModel, IsNotForAModelThatPasses) {
  const auto check = [](const std::string&) -> Result<bool> { return true; };
  EXPECT_EQ(ReduceModel(ChainModel("reduce_good.onnx"), check).status().code(),
            StatusCode::kNotFound);
}

TEST(ReduceModel, WritesOverNothingThatItReads) {
  const std::string path = ChainModel("reduce_kept.onnx");
  EXPECT_EQ(ReduceModel(path, {}).status().code(), StatusCode::kInvalidArgument);
  ReduceOptions reduce;
  reduce.output = path;
  EXPECT_THAT(ReduceModel(path, WithoutRoot, reduce).status().message(),
              HasSubstr("ReduceOptions::output"));
  reduce.output = reduce.min_good = testing::TempDir() + "reduce_twice.onnx";
  EXPECT_THAT(ReduceModel(path, WithoutRoot, reduce).status().message(),
              HasSubstr("ReduceOptions::min_good"));
  EXPECT_EQ(ReduceModel("absent.onnx", WithoutRoot).status().code(), StatusCode::kMalformed);
}

// Does the model at this path compute its square root in float32?
Result<bool> KeepsRoot(const std::string& path) {
  VERNIER_ASSIGN_OR_RETURN(const OnnxModel model, OnnxModel::Open(path));
  const std::vector<LowerableNode> nodes = FindLowerable(model);
  return std::ranges::any_of(
      nodes, [](const LowerableNode& found) { return found.node->op_type == "Sqrt"; });
}

// Operators alone decide where to begin: there is no program that could run anything.
SessionOptions WithoutProgram() {
  SessionOptions options;
  options.program = "/nosuch/vernier";
  return options;
}

TEST(FindFloat32Nodes, FindsTheNodeThatMustStay) {
  PrecisionOptions precision;
  precision.output = testing::TempDir() + "kept.onnx";
  const Result<Float32Record> record =
      FindFloat32Nodes(ChainModel("precise.onnx"), KeepsRoot, precision, WithoutProgram());
  ASSERT_TRUE(record.ok()) << record.status().message();
  ASSERT_EQ(record->kept.size(), 1);
  EXPECT_EQ(record->kept[0].op, "Sqrt");
  EXPECT_EQ(record->kept[0].name, "root");
  EXPECT_EQ(record->nodes, 3);
  EXPECT_TRUE(record->minimal);
  EXPECT_GE(record->checks, 2);
  const Result<bool> kept = KeepsRoot(precision.output);
  EXPECT_TRUE(kept.ok() && *kept);
}

TEST(FindFloat32Nodes, WhatPassesInFloat16KeepsNothing) {
  const auto check = [](const std::string&) -> Result<bool> { return true; };
  const Result<Float32Record> record =
      FindFloat32Nodes(ChainModel("all_float16.onnx"), check, {}, WithoutProgram());
  ASSERT_TRUE(record.ok()) << record.status().message();
  EXPECT_TRUE(record->kept.empty());
}

TEST(FindFloat32Nodes, RefusesWhatCannotBeSearched) {
  const std::string path = ChainModel("own_precise.onnx");
  const auto fails = [](const std::string&) -> Result<bool> { return false; };
  EXPECT_EQ(FindFloat32Nodes(path, nullptr).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(FindFloat32Nodes(path, fails, {}, WithoutProgram()).status().code(),
            StatusCode::kNotFound);
  PrecisionOptions precision;
  precision.output = path;
  EXPECT_THAT(FindFloat32Nodes(path, fails, precision).status().message(),
              HasSubstr("PrecisionOptions::output: '" + path + "' would replace"));
  precision = {};
  precision.most_checks = 0;
  EXPECT_THAT(FindFloat32Nodes(path, fails, precision).status().message(),
              HasSubstr("most_checks: expected a number >= 1, got 0"));
}

}  // namespace
}  // namespace vernier
