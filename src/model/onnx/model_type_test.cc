#include "model/onnx/model_type.h"

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

TEST_F(ModelTypeTest, FollowsPolygraphyTable) {
  EXPECT_EQ(*InferModelType("m.onnx", {}), ModelType::kOnnx);
  EXPECT_EQ(*InferModelType("m.plan", {}), ModelType::kEngine);
  EXPECT_EQ(*InferModelType("m.py", {}), ModelType::kTrtNetworkScript);
  EXPECT_EQ(*InferModelType(root_.string(), {}), ModelType::kCheckpoint);
  EXPECT_EQ(*InferModelType("m.pb", {.given = std::nullopt, .tensorflow_runner = true}),
            ModelType::kFrozen);
  EXPECT_EQ(*InferModelType("m.pb", {.given = ModelType::kKeras}), ModelType::kKeras);
  for (const char* unknown : {"m.bin", "m", ".onnx"}) {
    EXPECT_EQ(InferModelType(unknown, {}).status().code(), StatusCode::kInvalidArgument) << unknown;
  }
}

TEST_F(ModelTypeTest, KnowsMoreExtensionsThanPolygraphy) {
  EXPECT_EQ(*InferModelType("m.ONNX", {}), ModelType::kOnnx);
  EXPECT_EQ(*InferModelType("m.pb", {}), ModelType::kFrozen);
  EXPECT_EQ(*InferModelType("m.trt", {}), ModelType::kEngine);
  EXPECT_EQ(*InferModelType("m.keras", {}), ModelType::kKeras);
  EXPECT_EQ(*InferModelType("m.caffemodel", {}), ModelType::kCaffe);
}

TEST_F(ModelTypeTest, LooksAtTheContentWhereTheNameDoesNotTell) {
  const auto write = [&](const char* name, std::string_view bytes) {
    const std::string path = (root_ / name).string();
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  };
  // A name and a layer of Caffe's, as which TensorFlow's graphs begin, too.
  EXPECT_EQ(*InferModelType(write("m.caffemodel", "\x0a\x03net\xa2\x06\x02\x0a\x00"), {}),
            ModelType::kCaffe);
  const std::string onnx = write("model.pb", "\x08\x08\x12\x04test");
  EXPECT_EQ(*InferModelType(onnx, {}), ModelType::kOnnx);
  EXPECT_EQ(*InferModelType(onnx, {.given = std::nullopt, .tensorflow_runner = true}),
            ModelType::kOnnx);
  const std::string frozen = write("graph.pb", "\x0a\x10\x0a\x01x");
  EXPECT_EQ(*InferModelType(frozen, {}), ModelType::kFrozen);
  EXPECT_EQ(*InferModelType(write("plan", "ftrt...."), {}), ModelType::kEngine);
  EXPECT_EQ(InferModelType(write("text", "\x08"), {}).status().code(),
            StatusCode::kInvalidArgument);
}

struct Content {
  const char* name;
  std::string bytes;
  std::optional<ModelType> type;
};

TEST_F(ModelTypeTest, WhatTheNameDoesNotTellTheContentDoes) {
  const std::string graph("\x0a\x05\x0a\x01x\x12\x00", 7);
  const std::string onnx("\x08\x08\x12\x01p\x3a\x00", 7);
  const std::string saved("\x08\x01\x12\x00", 4);
  const Content cases[] = {
      {"graph.pb", graph, ModelType::kFrozen},
      {"onnx.pb", onnx, ModelType::kOnnx},
      {"saved_model.pb", saved, ModelType::kSavedModel},
      {"engine.bin", "ftrt....", ModelType::kEngine},
      {"keras.bin", "\x89HDF\r\n\x1a\n", ModelType::kKeras},
      {"cut.pb", onnx.substr(0, 4), ModelType::kOnnx},
      {"empty.bin", "", std::nullopt},
      {"text.bin", "garbage", std::nullopt},
      // The name is believed first.
      {"m.engine", onnx, ModelType::kEngine},
  };
  for (const Content& content : cases) {
    const fs::path path = root_ / content.name;
    std::ofstream(path, std::ios::binary) << content.bytes;
    const Result<ModelType> type = InferModelType(path.string(), {});
    ASSERT_EQ(type.ok(), content.type.has_value()) << content.name;
    if (type.ok()) {
      EXPECT_EQ(*type, *content.type) << content.name;
    }
  }
  fs::create_directories(root_ / "saved");
  std::ofstream(root_ / "saved/saved_model.pb") << saved;
  EXPECT_EQ(*InferModelType((root_ / "saved").string(), {}), ModelType::kSavedModel);
}

TEST_F(ModelTypeTest, NamesGoBothWays) {
  for (const char* name : {"frozen", "keras", "ckpt", "saved-model", "onnx", "engine", "uff",
                           "trt-network-script", "caffe"}) {
    ASSERT_TRUE(ModelTypeFromName(name)) << name;
    EXPECT_EQ(ModelTypeName(*ModelTypeFromName(name)), name);
  }
  EXPECT_FALSE(ModelTypeFromName("ONNX"));
}

}  // namespace
}  // namespace vernier
