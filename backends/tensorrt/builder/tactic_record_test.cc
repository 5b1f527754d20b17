#include "tensorrt/builder/tactic_record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace vernier::trt {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// As Polygraphy writes it (file-formats of Polygraphy 0.53).
constexpr char kPolygraphyFile[] = R"({
    "replay": {
        "conv \"1\"": {
            "implementation": 2147483661,
            "tactic": -42,
            "inputs": [
                {
                    "dtype": "DataType.FLOAT",
                    "strides": [1, 2],
                    "vectorized_dim": -1,
                    "components_per_element": 1,
                    "polygraphy_class": "TensorInfo"
                }
            ],
            "outputs": [
                {"dtype": "DataType.HALF", "strides": [], "vectorized_dim": null,
                 "components_per_element": null, "polygraphy_class": "TensorInfo"}
            ],
            "polygraphy_class": "Algorithm"
        }
    },
    "polygraphy_class": "TacticReplayData"
})";

TEST(TacticRecord, ReadsPolygraphyFile) {
  const Result<TacticRecord> record = ParseTactics(kPolygraphyFile);
  ASSERT_TRUE(record.ok()) << record.status().message();
  ASSERT_EQ(record->size(), 1u);
  const auto& [layer, tactic] = *record->begin();
  EXPECT_EQ(layer, "conv \"1\"");
  EXPECT_EQ(tactic.implementation, 2147483661);
  EXPECT_EQ(tactic.tactic, -42);
  ASSERT_EQ(tactic.inputs.size(), 1u);
  EXPECT_EQ(tactic.inputs[0].dtype, "DataType.FLOAT");
  EXPECT_THAT(tactic.inputs[0].strides, ElementsAre(1, 2));
  EXPECT_EQ(tactic.inputs[0].vectorized_dim, -1);
  EXPECT_EQ(tactic.outputs[0].components_per_element, std::nullopt);
}

TEST(TacticRecord, WhatIsWrittenIsReadBack) {
  const TacticRecord record = *ParseTactics(kPolygraphyFile);
  const Result<TacticRecord> again = ParseTactics(FormatTactics(record));
  ASSERT_TRUE(again.ok()) << again.status().message();
  EXPECT_TRUE(Matches(again->at("conv \"1\""), record.at("conv \"1\"")));
  EXPECT_TRUE(ParseTactics(FormatTactics({})).ok());
}

TEST(TacticRecord, WhatAFileDoesNotSayIsNotCompared) {
  const Tactic recorded = ParseTactics(kPolygraphyFile)->at("conv \"1\"");
  Tactic offered = recorded;
  offered.outputs[0].vectorized_dim = 1;
  EXPECT_TRUE(Matches(recorded, offered));
  offered.inputs[0].vectorized_dim = 0;
  EXPECT_FALSE(Matches(recorded, offered));
  offered = recorded;
  offered.tactic = 0;
  EXPECT_FALSE(Matches(recorded, offered));
}

TEST(TacticRecord, OtherFilesAreRefused) {
  for (const char* text : {"", "{", "[]", "{\"replay\": 3}", "{\"other\": {}}",
                           "{\"replay\": {\"a\": {\"tactic\": \"x\"}}}"}) {
    EXPECT_EQ(ParseTactics(text).status().code(), StatusCode::kMalformed) << text;
  }
}

TEST(TacticRecord, IsDescribedAsPolygraphyDoes) {
  EXPECT_THAT(Describe(ParseTactics(kPolygraphyFile)->at("conv \"1\"")),
              HasSubstr("(Implementation: 2147483661, Tactic: -42) | Inputs: "
                        "(TensorInfo(DataType.FLOAT, (1, 2), -1, 1),)"));
}

}  // namespace
}  // namespace vernier::trt
