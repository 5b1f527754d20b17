#include "model/edit/onnx_edit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "model/edit/onnx_save.h"
#include "model/onnx/onnx_test_model.h"

namespace vernier {
namespace {

namespace fs = std::filesystem;
using namespace testing_model;
using testing::ElementsAre;
using testing::IsEmpty;
using Views = std::vector<std::string_view>;

std::string Joined(const BytePieces& pieces) {
  const std::vector<std::byte> bytes = *ToBytes(pieces);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string MarkedBytes(const OnnxModel& model, const Views& names) {
  return Joined(*ApplyPatches(model.bytes(), EditOutputs(model, names).patches));
}

TEST(OnnxEditTest, ReplacesOutputsAndCopiesTheRest) {
  const std::string before = Field(2, "g") + Field(1, Node("Relu", {"x"}, {"y"})) +
                             Field(1, Node("Relu", {"y"}, {"z"})) + Field(11, Value("x"));
  const std::string after = Field(13, Value("y")) + Field(99, "unknown field");
  const OnnxModel model =
      *Parse(Model(before + Field(12, Value("z")) + after) + Field(6, "documentation"));
  EXPECT_EQ(MarkedBytes(model, {"y", "z"}),
            Model(before + Field(12, Value("y")) + Field(12, Value("z")) + after) +
                Field(6, "documentation"));
}

TEST(OnnxEditTest, LengthPrefixesGrowWithTheGraph) {
  std::string nodes;
  for (int i = 0; i < 40; ++i) {
    const std::string in = i == 0 ? "x" : "t" + std::to_string(i - 1);
    nodes += Field(1, Node("Relu", {in}, {"t" + std::to_string(i)}));
  }
  const OnnxModel model = *Parse(Model(nodes + Field(11, Value("x")) + Field(12, Value("t39"))));
  Views names;
  for (const OnnxNode& node : model.graph().nodes) names.push_back(model.graph().Outputs(node)[0]);
  const OnnxModel edited = *Parse(MarkedBytes(model, names));
  EXPECT_EQ(edited.Outputs().size(), 40u);
  EXPECT_EQ(FormatShape(edited.Outputs()[20].shape), "(-1, -1)");
  EXPECT_EQ(edited.Outputs()[20].dtype, DType::kFloat32);
}

TEST(OnnxEditTest, TheSameOutputsNeedNoPatch) {
  const OnnxModel model =
      *Parse(Model(Field(1, Node("Relu", {"x"}, {"y"})) + Field(12, Field(1, "y"))));
  EXPECT_THAT(EditOutputs(model, Views{"y"}).patches, IsEmpty());
}

TEST(OnnxEditTest, AddsOutputsToAGraphThatHasNone) {
  const OnnxModel model =
      *Parse(Model(Field(1, Node("Relu", {"x"}, {"y"})) + Field(11, Value("x"))));
  const OnnxModel edited = *Parse(MarkedBytes(model, {"y"}));
  EXPECT_EQ(edited.Outputs()[0].name, "y");
  EXPECT_EQ(edited.graph().nodes.size(), 1u);
}

TEST(OnnxEditTest, RemovesOutputsFromEveryPartOfTheGraph) {
  const OnnxModel model =
      *Parse(Model(Field(1, Node("Relu", {"x"}, {"y"})) + Field(12, Value("x"))) +
             Field(7, Field(12, Value("y"))));
  const OnnxModel edited = *Parse(MarkedBytes(model, {"y"}));
  ASSERT_EQ(edited.Outputs().size(), 1u);
  EXPECT_EQ(edited.Outputs()[0].name, "y");
}

TEST(OnnxEditTest, SaysWhichOutputsHaveNoType) {
  const OnnxModel model =
      *Parse(Model(Field(1, Node("Custom", {"x"}, {"y"}, Field(7, "mine"))) +
                   Field(1, Node("Shape", {"y"}, {"s"})) + Field(1, Node("Einsum", {"x"}, {"e"})) +
                   Field(11, Value("x"))));
  const OutputEdit edit = EditOutputs(model, Views{"y", "s", "e"});
  EXPECT_THAT(edit.untyped, ElementsAre("y"));
  EXPECT_THAT(edit.unranked, ElementsAre("e"));
  const OnnxModel edited = *Parse(Joined(*ApplyPatches(model.bytes(), edit.patches)));
  EXPECT_EQ(edited.graph().outputs[0].kind, OnnxValueKind::kUntyped);
  EXPECT_EQ(edited.Outputs()[1].dtype, DType::kInt64);
}

TEST(OnnxEditTest, TypesReachNodesThatAreOutOfOrder) {
  const OnnxModel model =
      *Parse(Model(Field(1, Node("Relu", {"b"}, {"a"})) +
                   Field(1, Node("Cast", {"x"}, {"b"}, Field(5, Field(1, "to") + Number(3, 11)))) +
                   Field(11, Value("x"))));
  const OnnxModel edited = *Parse(MarkedBytes(model, {"a"}));
  EXPECT_EQ(edited.Outputs()[0].dtype, DType::kFloat64);
}

TEST(OnnxEditTest, AMemfdHoldsTheBytesAndIsSealed) {
  const OnnxModel model =
      *Parse(Model(Field(1, Node("Relu", {"x"}, {"y"})) + Field(11, Value("x"))));
  const Result<BytePieces> pieces =
      ApplyPatches(model.bytes(), EditOutputs(model, Views{"y"}).patches);
  const Result<int> fd = ToMemfd(*pieces);
  ASSERT_TRUE(fd.ok()) << fd.status().message();
  std::string bytes(pieces->size(), '\0');
  EXPECT_EQ(::pread(*fd, bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
  EXPECT_EQ(bytes, Joined(*pieces));
  EXPECT_LT(::write(*fd, "x", 1), 0);
  ::close(*fd);
}

TEST(ApplyPatchesTest, RefusesAPlaceThatIsNoField) {
  const OnnxModel model = *Parse(Model(Field(2, "abc")));
  std::vector<WirePatch> patches(1);
  patches[0].place = model.graph().name.substr(1, 1);
  EXPECT_EQ(ApplyPatches(model.bytes(), patches).status().code(), StatusCode::kInternal);
}

class SaveOnnxTest : public testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::path(testing::TempDir()) / ("save." + std::to_string(getpid()));
    fs::remove_all(root_);
    fs::create_directories(root_ / "from");
    std::ofstream(root_ / "from" / "w.bin") << "0123456789abcdef";
  }
  void TearDown() override { fs::remove_all(root_); }

  OnnxModel External() const {
    return *Parse(Model(Field(5, ExternalTensor("w", 4, "w.bin", "", ""))),
                  (root_ / "from" / "m.onnx").string());
  }

  fs::path root_;
};

TEST_F(SaveOnnxTest, EmbedsExternalWeights) {
  const std::string path = root_ / "to" / "m.onnx";
  ASSERT_TRUE(SaveOnnx(External(), {}, path, {}).ok());
  const Result<OnnxModel> saved = OnnxModel::Open(path);
  ASSERT_TRUE(saved.ok());
  EXPECT_EQ(saved->graph().initializers[0].raw_data, "0123456789abcdef");
  EXPECT_FALSE(saved->graph().initializers[0].external);
}

TEST_F(SaveOnnxTest, RefusesAPathOutsideTheNewFolder) {
  for (const char* location : {"../w", "/w", "a/../../w"}) {
    const Status status = SaveOnnx(External(), {}, root_ / "to" / "m.onnx",
                                   {.source = {}, .external_path = location});
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << location;
  }
  EXPECT_EQ(SaveOnnx(External(), {}, root_ / "m.onnx",
                     {.source = {}, .external_path = "m.onnx", .size_threshold = 0})
                .code(),
            StatusCode::kInvalidArgument);
}

TEST_F(SaveOnnxTest, KeepsTheOldFileWhenTheWeightsAreMissing) {
  const fs::path path = root_ / "m.onnx";
  std::ofstream(path) << "old";
  fs::remove(root_ / "from" / "w.bin");
  EXPECT_EQ(SaveOnnx(External(), {}, path, {}).code(), StatusCode::kMalformed);
  std::ifstream file(path);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), "old");
}

std::string ContentsOf(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST_F(SaveOnnxTest, LeavesFilesAloneThatNobodyNamed) {
  // Too large to embed, into a folder where files of both names are somebody else's.
  fs::create_directories(root_ / "to");
  std::ofstream(root_ / "to" / "w.bin") << "another model's";
  std::ofstream(root_ / "to" / "m.onnx.data") << "somebody's";
  const std::string path = root_ / "to" / "m.onnx";
  for (int run = 0; run < 2; ++run) {  // again over what was written: no third file
    ASSERT_TRUE(SaveOnnx(External(), {}, path, {.size_threshold = 0, .largest_file = 1}).ok());
    EXPECT_EQ(ContentsOf(root_ / "to" / "w.bin"), "another model's");
    const Result<OnnxModel> saved = OnnxModel::Open(path);
    const Result<ExternalDataReport> report = CheckExternalData(*saved, {});
    ASSERT_TRUE(report.ok()) << report.status().message();
    EXPECT_EQ(report->slices[0].size, 16u);
    EXPECT_EQ(ContentsOf(root_ / "to" / "m.onnx.data"), "somebody's");
    EXPECT_EQ(report->files[0].location, "m.onnx_1.data");
  }
}

TEST_F(SaveOnnxTest, TakesOnlyTheWeightsThatAreNeeded) {
  std::ofstream(root_ / "from" / "w.bin", std::ios::app) << std::string(100'000, 'x');
  const OnnxModel model = *Parse(Model(Field(5, ExternalTensor("w", 4, "w.bin", "", "16"))),
                                 (root_ / "from" / "m.onnx").string());
  const std::string path = root_ / "to" / "m.onnx";
  ASSERT_TRUE(SaveOnnx(model, {}, path, {.size_threshold = 0, .largest_file = 1}).ok());
  EXPECT_EQ(ContentsOf(root_ / "to" / "m.onnx.data"), "0123456789abcdef");
}

TEST_F(SaveOnnxTest, DoesNotReplaceTheWeightsOfItsSource) {
  const SaveOnnxOptions named{.external_path = "w.bin", .size_threshold = 0};
  const Status status = SaveOnnx(External(), {}, root_ / "from" / "new.onnx", named);
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find("would be lost"), std::string::npos) << status.message();
  EXPECT_EQ(ContentsOf(root_ / "from" / "w.bin"), "0123456789abcdef");
}

TEST_F(SaveOnnxTest, KeepsWeightsThatAreTooLargeToEmbedWhereTheyLie) {
  constexpr uint64_t kElements = 500'000'000;  // a sparse file of 2 GB
  fs::resize_file(root_ / "from" / "w.bin", kElements * 4);
  const OnnxModel model = *Parse(Model(Field(5, ExternalTensor("w", kElements, "w.bin", "", ""))),
                                 (root_ / "from" / "m.onnx").string());
  // Into the same folder: nothing to copy.
  ASSERT_TRUE(SaveOnnx(model, {}, root_ / "from" / "new.onnx", {}).ok());
  const Result<OnnxModel> saved = OnnxModel::Open(root_ / "from" / "new.onnx");
  EXPECT_TRUE(CheckExternalData(*saved, {}).ok());
  EXPECT_TRUE(saved->graph().initializers[0].external);
}

}  // namespace
}  // namespace vernier
