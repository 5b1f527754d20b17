#include "model/edit/onnx_outputs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/onnx/onnx_test_model.h"
#include "util/log/recording_logger.h"

namespace vernier {
namespace {

using namespace testing_model;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;
using Words = std::vector<std::string>;

class OnnxOutputsTest : public testing::Test {
 protected:
  OnnxOutputsTest()
      : model_(*Parse(Model(Field(1, Node("Constant", {}, {"k"})) +
                            Field(1, Node("Conv", {"x"}, {"conv_1", ""})) +
                            Field(1, Node("Relu", {"conv_1"}, {"relu[0]"})) +
                            Field(1, Node("Conv", {"relu[0]"}, {"conv_2"})) +
                            Field(11, Value("x")) + Field(12, Value("conv_2"))))) {}

  Result<std::vector<std::string_view>> Select(std::optional<Words> outputs,
                                               std::optional<Words> by_type = std::nullopt,
                                               std::optional<Words> exclude = std::nullopt,
                                               bool skips_unknown_types = false) {
    return SelectOnnxOutputs(model_, {outputs, by_type, exclude, skips_unknown_types}, logger_);
  }

  OnnxModel model_;
  RecordingLogger logger_;
};

TEST_F(OnnxOutputsTest, AllMeansEveryNodesOutputsButConstants) {
  for (const Words& all : {Words{"*"}, Words{"mark", "all"}}) {
    EXPECT_THAT(*Select(all), ElementsAre("conv_1", "relu[0]", "conv_2"));
  }
}

TEST_F(OnnxOutputsTest, NamesKeepTheirOrderAndCountOnce) {
  EXPECT_THAT(*Select(Words{"conv_2", "x", "conv_2"}), ElementsAre("conv_2", "x"));
}

TEST_F(OnnxOutputsTest, PatternsComeInTheFilesOrder) {
  EXPECT_THAT(*Select(Words{"relu*", "conv_?"}), ElementsAre("relu[0]", "conv_1", "conv_2"));
}

TEST_F(OnnxOutputsTest, AnExistingNameIsNoPattern) {
  EXPECT_THAT(*Select(Words{"relu[0]"}), ElementsAre("relu[0]"));
}

TEST_F(OnnxOutputsTest, TypesReplaceNamesAndExclusionComesLast) {
  EXPECT_THAT(*Select(Words{"relu[0]"}, Words{"CONV"}), ElementsAre("conv_1", "conv_2"));
  EXPECT_THAT(*Select(std::nullopt, Words{"conv"}, Words{"*_1"}), ElementsAre("conv_2"));
}

TEST_F(OnnxOutputsTest, WithoutOptionsTheModelsOwn) {
  EXPECT_THAT(*Select(std::nullopt), ElementsAre("conv_2"));
}

TEST_F(OnnxOutputsTest, UnknownNamesFailInPolygraphyWords) {
  const Status status = Select(Words{"nope", "conv_1"}).status();
  EXPECT_EQ(status.code(), StatusCode::kNotFound);
  EXPECT_THAT(status.message(),
              StartsWith("The following outputs were not found in the model: {'nope'}.\n"));
  EXPECT_EQ(Select(Words{"k"}).status().code(), StatusCode::kNotFound) << "a Constant's output";
  EXPECT_EQ(Select(std::nullopt, std::nullopt, Words{"nope"}).status().code(),
            StatusCode::kNotFound);
}

TEST_F(OnnxOutputsTest, PatternsWithoutMatchesWarnAndSelectNothing) {
  const Status status = Select(Words{"z*"}).status();
  EXPECT_EQ(status.code(), StatusCode::kNotFound);
  EXPECT_THAT(status.message(), StartsWith("No outputs were selected."));
  EXPECT_THAT(logger_.Texts(Severity::kExtraVerbose),
              ElementsAre("No tensors matched wildcard pattern: 'z*'"));
}

TEST_F(OnnxOutputsTest, ExcludingEverythingIsAnError) {
  EXPECT_EQ(Select(std::nullopt, std::nullopt, Words{"*"}).status().code(), StatusCode::kNotFound);
}

TEST_F(OnnxOutputsTest, UnknownTypesAreNotFound) {
  const Status status = Select(std::nullopt, Words{"Conv", "Rely"}).status();
  EXPECT_EQ(status.code(), StatusCode::kNotFound);
  EXPECT_THAT(status.message(), HasSubstr("'Rely' were found in the model. Did you mean one of"));
}

TEST_F(OnnxOutputsTest, UnknownTypesSuggestAndGoOnAsInPolygraphy) {
  EXPECT_THAT(*Select(std::nullopt, Words{"Rely"}, std::nullopt, true), ElementsAre("conv_2"));
  EXPECT_THAT(logger_.Texts(Severity::kExtraVerbose),
              ElementsAre(HasSubstr("Did you mean one of: ['Relu']?")));
  logger_.lines.clear();
  EXPECT_TRUE(Select(std::nullopt, Words{"zzz"}, std::nullopt, true).ok());
  EXPECT_THAT(logger_.Texts(Severity::kExtraVerbose),
              ElementsAre(HasSubstr("Available op types: ['Constant', 'Conv', 'Relu']")));
}

}  // namespace
}  // namespace vernier
