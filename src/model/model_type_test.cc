#include "model/model_type.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace vernier {
namespace {

namespace fs = std::filesystem;

class ModelTypeTest : public testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::path(testing::TempDir()) / ("model_type." + std::to_string(getpid()));
    fs::create_directories(root_);
    for (const char* name : {"a:b.onnx", "a", "script.py"}) std::ofstream(root_ / name) << "x";
  }
  void TearDown() override { fs::remove_all(root_); }

  fs::path root_;
};

TEST_F(ModelTypeTest, AFileThatExistsIsNotSplit) {
  const ModelPath path = SplitModelPath((root_ / "a:b.onnx").string());
  EXPECT_EQ(path.path, (root_ / "a:b.onnx").lexically_normal().string());
  EXPECT_EQ(path.extra, "");
  EXPECT_TRUE(path.exists);
}

TEST_F(ModelTypeTest, TheTextAfterTheLastColonIsExtra) {
  const ModelPath path = SplitModelPath((root_ / "script.py:make").string());
  EXPECT_EQ(path.extra, "make");
  EXPECT_TRUE(path.exists);
  const ModelPath missing = SplitModelPath("no:such:thing");
  EXPECT_EQ(missing.path, "no:such");
  EXPECT_EQ(missing.extra, "thing");
  EXPECT_FALSE(missing.exists);
}

TEST_F(ModelTypeTest, FollowsThePeersTable) {
  EXPECT_EQ(*InferModelType("m.onnx", {}), ModelType::kOnnx);
  EXPECT_EQ(*InferModelType("m.plan", {}), ModelType::kEngine);
  EXPECT_EQ(*InferModelType("m.py", {}), ModelType::kTrtNetworkScript);
  EXPECT_EQ(*InferModelType(root_.string(), {}), ModelType::kCheckpoint);
  EXPECT_EQ(*InferModelType("m.pb", {.given = std::nullopt, .tensorflow_runner = true}),
            ModelType::kFrozen);
  EXPECT_EQ(*InferModelType("m.pb", {.given = ModelType::kKeras}), ModelType::kKeras);
  for (const char* unknown : {"m.pb", "m.trt", "m.ONNX", "m", ".onnx"}) {
    EXPECT_EQ(InferModelType(unknown, {}).status().code(), StatusCode::kInvalidArgument) << unknown;
  }
}

TEST_F(ModelTypeTest, NamesGoBothWays) {
  for (const char* name :
       {"frozen", "keras", "ckpt", "onnx", "engine", "uff", "trt-network-script", "caffe"}) {
    ASSERT_TRUE(ModelTypeFromName(name)) << name;
    EXPECT_EQ(ModelTypeName(*ModelTypeFromName(name)), name);
  }
  EXPECT_FALSE(ModelTypeFromName("ONNX"));
}

}  // namespace
}  // namespace vernier
