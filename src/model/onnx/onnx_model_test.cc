#include "model/onnx/onnx_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "model/edit/onnx_edit.h"
#include "model/edit/onnx_outputs.h"
#include "model/onnx/onnx_order.h"
#include "model/onnx/onnx_test_model.h"
#include "util/log/no_log.h"

namespace vernier {
namespace {

namespace fs = std::filesystem;
using namespace testing_model;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string ReadFile(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<fs::path> TestModels() {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::recursive_directory_iterator(VERNIER_TEST_DATA_DIR "/models")) {
    if (entry.path().extension() == ".onnx") paths.push_back(entry.path());
  }
  return paths;
}

// A copy whose last byte is the last of its allocation, so that ASan sees any read beyond it.
Result<OnnxModel> ParseExact(std::string_view bytes) {
  const std::shared_ptr<std::byte[]> copy(new std::byte[bytes.size()]);
  std::memcpy(copy.get(), bytes.data(), bytes.size());
  return OnnxModel::FromBytes({copy.get(), bytes.size()}, copy, "m.onnx");
}

// Everything that reads a model; the result does not matter, only that it is well defined.
void Exercise(const OnnxModel& model) {
  model.RequiredInputs();
  model.Outputs();
  model.NodeCount();
  for (const OnnxNode& node : model.graph().nodes) model.Attributes(node);
  (void)TopologicalOrder(model);
  NoLog logger;
  const auto names = SelectOnnxOutputs(
      model, {.outputs = {{"*"}}, .by_type = std::nullopt, .exclude = std::nullopt}, logger);
  if (!names.ok()) return;
  const Result<BytePieces> edited = ApplyPatches(model.bytes(), EditOutputs(model, *names).patches);
  ASSERT_TRUE(edited.ok()) << edited.status().message();
  const Result<std::vector<std::byte>> bytes = ToBytes(*edited);
  const auto owner = std::make_shared<const std::vector<std::byte>>(*bytes);
  const Result<OnnxModel> again = OnnxModel::FromBytes(*owner, owner, "edited");
  ASSERT_TRUE(again.ok()) << again.status().message();
  EXPECT_EQ(again->graph().outputs.size(), names->size());
}

TEST(OnnxModel, AFileThatShrinksIsNotBelieved) {
  const fs::path path = fs::path(testing::TempDir()) / "vernier-shrinks.onnx";
  const std::string text = Model(Field(1, Node("Identity", {"x"}, {"y"})));
  std::ofstream(path, std::ios::binary) << text;
  const auto model = OnnxModel::Open(path.string());
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_TRUE(model->CheckIntact().ok());
  fs::resize_file(path, 3);
  EXPECT_EQ(model->CheckIntact().code(), StatusCode::kMalformed);
  EXPECT_THAT(model->CheckIntact().message(), HasSubstr("became shorter while it was read"));
  fs::remove(path);
}

TEST(OnnxModelTest, GivesNamesTypesAndShapesInTheFilesOrder) {
  const std::string then = Field(1, Node("Relu", {"outer"}, {"t"})) + Field(12, Value("t"));
  const std::string branch = Field(5, Field(1, "then_branch") + Field(6, then) + Number(20, 5));
  const std::string weight = Number(1, 3) + Number(2, 1) + Field(8, "w") + Field(9, "0123456789ab");
  const Result<OnnxModel> model = Parse(
      Model(Field(2, "net") + Field(1, Node("Add", {"x", "w"}, {"y"})) +
            Field(1, Node("If", {"c"}, {"z"}, branch)) + Field(5, weight) + Field(11, Value("x")) +
            Field(11, Value("w")) + Field(12, Value("z")) + Field(13, Value("y"))));
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_EQ(model->contents().ir_version, 8);
  EXPECT_EQ(model->opset(), 17);
  EXPECT_EQ(model->graph().name, "net");
  ASSERT_EQ(model->graph().nodes.size(), 2u);
  EXPECT_THAT(model->graph().Inputs(model->graph().nodes[0]), ElementsAre("x", "w"));
  EXPECT_THAT(model->graph().Outputs(model->graph().nodes[1]), ElementsAre("z"));
  EXPECT_EQ(model->NodeCount(), 3u);

  const OnnxSubgraph link = model->graph().Subgraphs(model->graph().nodes[1])[0];
  EXPECT_EQ(link.attribute, "then_branch");
  EXPECT_EQ(model->Subgraph(link).nodes[0].op_type, "Relu");

  // "w" has an initializer, so that it need not be fed.
  const std::vector<TensorInfo> inputs = model->RequiredInputs();
  ASSERT_EQ(inputs.size(), 1u);
  EXPECT_EQ(inputs[0].dtype, DType::kFloat32);
  EXPECT_EQ(FormatShape(inputs[0].shape), "('N', 3)");

  const OnnxTensor& tensor = model->graph().initializers[0];
  EXPECT_THAT(tensor.dims, ElementsAre(3));
  EXPECT_EQ(tensor.raw_data, "0123456789ab");
  EXPECT_EQ(tensor.raw_data.data() - model->bytes().data() > 0, true) << "a view, not a copy";
}

TEST(OnnxModelTest, PartsOfTheGraphMergeAsInProtobuf) {
  const std::string more = Field(7, Field(12, Value("y")) + Field(2, "second"));
  const Result<OnnxModel> model =
      Parse(Model(Field(1, Node("Relu", {"x"}, {"y"})) + Field(2, "first")) + more);
  ASSERT_TRUE(model.ok());
  EXPECT_EQ(model->graph().name, "second");
  EXPECT_EQ(model->graph().nodes.size(), 1u);
  EXPECT_EQ(model->Outputs().size(), 1u);
}

TEST(OnnxModelTest, PackedAndSinglePackedDimsAreTheSame) {
  const std::string packed = Field(5, Field(1, "\x02\x03") + Number(2, 1) + Field(8, "p"));
  const std::string single = Field(5, Number(1, 2) + Number(1, 3) + Number(2, 1) + Field(8, "s"));
  const Result<OnnxModel> model = Parse(Model(packed + single));
  ASSERT_TRUE(model.ok());
  EXPECT_THAT(model->graph().initializers[0].dims, ElementsAre(2, 3));
  EXPECT_THAT(model->graph().initializers[1].dims, ElementsAre(2, 3));
}

TEST(OnnxModelTest, UnknownTypesKeepTheirNumber) {
  const std::string value = Field(1, "x") + Field(2, Field(1, Number(1, 99)));
  const Result<OnnxModel> model = Parse(Model(Field(12, value)));
  ASSERT_TRUE(model.ok());
  EXPECT_EQ(model->graph().outputs[0].dtype, DType::kUndefined);
  EXPECT_EQ(model->graph().outputs[0].onnx_type, 99);
}

struct MalformedCase {
  const char* name;
  std::string bytes;
  const char* message;
};

class MalformedOnnx : public testing::TestWithParam<MalformedCase> {};

TEST_P(MalformedOnnx, IsRefusedInOneSentence) {
  const Result<OnnxModel> model = ParseExact(GetParam().bytes);
  ASSERT_FALSE(model.ok());
  EXPECT_EQ(model.status().code(), StatusCode::kMalformed);
  EXPECT_THAT(model.status().message(), HasSubstr("'m.onnx'"));
  EXPECT_THAT(model.status().message(), HasSubstr(GetParam().message));
  EXPECT_EQ(model.status().message().find('\n'), std::string::npos);
}

std::string Nested(int levels) {
  std::string graph = Field(2, "innermost");
  for (int i = 0; i < levels; ++i) graph = Field(1, Field(5, Field(6, graph)));
  return Model(graph);
}

using namespace std::string_literals;
INSTANTIATE_TEST_SUITE_P(
    Files, MalformedOnnx,
    testing::Values(
        MalformedCase{"LengthPastTheEnd", "\x08\x08\x3a\x7fxy"s,
                      "byte 3, ModelProto.graph: a length of 127 bytes where 2 are left"},
        MalformedCase{"LengthOf64Bits", "\x3a\x80\x80\x80\x80\x10"s, "byte 1, ModelProto.graph"},
        MalformedCase{"NegativeLength", "\x3a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"s,
                      "this is not a length"},
        MalformedCase{"ElevenByteNumber", "\x08"s + std::string(10, '\x80') + "\x01",
                      "byte 1, ModelProto.ir_version: a number is longer than ten bytes"},
        MalformedCase{"NumberCutShort", "\x08\x80"s, "the data ends inside a number"},
        MalformedCase{"FieldZero", "\x00\x00"s, "not a field of the protobuf format"},
        MalformedCase{"Group", "\x0b\x0c"s, "wire type 3"},
        MalformedCase{"WireTypeSeven", "\x0f"s, "wire type 7"},
        MalformedCase{"InNodes",
                      Model(Field(1,
                                  "\x0a\x05"
                                  "ab")),
                      "NodeProto.input"},
        MalformedCase{"InSkippedMessages", Model("") + Field(20, Field(1, Field(1, "\x0a\x05"))),
                      "NodeProto.input"},
        MalformedCase{"BadPackedInts", Model(Field(5, Field(1, "\x80"))), "TensorProto.dims"},
        MalformedCase{"NestedTooDeep", Nested(34), "nested more than 100 deep"},
        MalformedCase{"NoGraph", "\x08\x08"s, "it holds no graph"},
        MalformedCase{"Zip", "PK\x03\x04\x14\x00\x00\x00"s, "a zip archive"},
        MalformedCase{"Gzip", "\x1f\x8b\x08\x00"s, "gzip data"},
        MalformedCase{"Pickle", "\x80\x04\x95\x10\x00"s, "a Python pickle"},
        MalformedCase{"Engine", "ftrt\x00\x00\x00\x00"s, "--model-type engine"},
        MalformedCase{"LfsPointer", "version https://git-lfs.github.com/spec/v1\n"s,
                      "git lfs pull"},
        MalformedCase{"WebPage", "<!DOCTYPE html><html>"s, "a web page"},
        MalformedCase{"Empty", ""s, "is empty"}),
    [](const auto& info) { return info.param.name; });

TEST(OnnxModelTest, AHundredLevelsAreFine) { EXPECT_TRUE(Parse(Nested(33)).ok()); }

TEST(OnnxModelTest, NothingButARegularFileIsOpened) {
  const fs::path folder = fs::path(testing::TempDir()) / ("onnx_model." + std::to_string(getpid()));
  fs::create_directories(folder);
  const std::string pipe = folder / "pipe.onnx";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  for (const std::string& path :
       {folder.string(), pipe, std::string("/dev/zero"), (folder / "missing.onnx").string()}) {
    const Result<OnnxModel> model = OnnxModel::Open(path);
    ASSERT_FALSE(model.ok()) << path;
    EXPECT_EQ(model.status().code(), StatusCode::kMalformed);
    EXPECT_THAT(model.status().message(), HasSubstr(path));
  }
  fs::remove_all(folder);
}

TEST(OnnxModelTest, TruncationAtEveryByteIsDefined) {
  ASSERT_GE(TestModels().size(), 10u);
  for (const fs::path& path : TestModels()) {
    const std::string bytes = ReadFile(path);
    for (size_t size = 0; size < bytes.size(); ++size) {
      const Result<OnnxModel> model = ParseExact(std::string_view(bytes).substr(0, size));
      if (model.ok()) Exercise(*model);
    }
    EXPECT_TRUE(ParseExact(bytes).ok()) << path;
  }
}

TEST(OnnxModelTest, DamageIsDefined) {
  std::mt19937 random(7);
  int accepted = 0;
  for (const fs::path& path : TestModels()) {
    const std::string original = ReadFile(path);
    for (int round = 0; round < 3000; ++round) {
      std::string bytes = original;
      for (unsigned flips = 1 + random() % 4; flips > 0; --flips) {
        const size_t at = random() % bytes.size();
        bytes[at] = round % 2 == 0 ? static_cast<char>(bytes[at] ^ (1 << random() % 8))
                                   : static_cast<char>(random());
      }
      const Result<OnnxModel> model = ParseExact(bytes);
      if (!model.ok()) continue;
      ++accepted;
      Exercise(*model);
    }
  }
  EXPECT_GT(accepted, 1000) << "most flips hit names and weights";
}

TEST(TopologicalOrderTest, SortsAndSeesWhatBodiesCapture) {
  const std::string body = Field(1, Node("Relu", {"late"}, {"t"})) + Field(12, Value("t"));
  const std::string branch = Field(5, Field(1, "then_branch") + Field(6, body));
  const Result<OnnxModel> model = Parse(
      Model(Field(1, Node("If", {"c"}, {"z"}, branch)) + Field(1, Node("Abs", {"y"}, {"late"})) +
            Field(1, Node("Neg", {"x"}, {"y"})) + Field(1, Node("Exp", {"x"}, {"free"}))));
  const Result<std::vector<uint32_t>> order = TopologicalOrder(*model);
  ASSERT_TRUE(order.ok());
  EXPECT_THAT(*order, ElementsAre(2, 1, 0, 3));
}

TEST(TopologicalOrderTest, NamesANodeOfACycle) {
  const Result<OnnxModel> model =
      Parse(Model(Field(1, Node("Neg", {"x"}, {"a"})) + Field(1, Node("Add", {"a", "c"}, {"b"})) +
                  Field(1, Node("Abs", {"b"}, {"c"}, Field(3, "back")))));
  const Result<std::vector<uint32_t>> order = TopologicalOrder(*model);
  ASSERT_FALSE(order.ok());
  EXPECT_EQ(order.status().code(), StatusCode::kMalformed);
  EXPECT_THAT(order.status().message(), HasSubstr("node 1 (Add)"));
}

}  // namespace
}  // namespace vernier
