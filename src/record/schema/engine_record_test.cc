#include "record/schema/engine_record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace vernier {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

// As TensorRT 8.5's plug-in writes it: each layer is the inspector's own JSON, as text.
constexpr std::string_view kReport = R"({"name":"net",
"refittable":true,
"device_memory_bytes":512,
"tensors":[{"name":"x","input":true,"dtype":"float32","shape":[-1,16]},
 {"name":"y","input":false,"dtype":"float16","shape":[-1]}],
"profiles":[{"shapes":[{"min":[1,16],"opt":[2,16],"max":[4,16]},
 {}]}],
"layers_repeat":true,
"detailed":true,
"layers":["{\"Name\": \"conv + relu\",\"LayerType\": \"CaskConvolution\",\"Inputs\": [{\"Name\": \"x\",\"Location\": \"Device\",\"Dimensions\": [1,16,8,8],\"Format\/Datatype\": \"Row major linear FP32\"}],\"Outputs\": [{\"Name\": \"y\",\"Dimensions\": [1,32],\"Datatype\": \"Half\",\"Format\": \"Row major\"}],\"TacticValue\": \"0x1\"}",
 "\"a name alone\"",
 "no JSON"],
"config":[{"setting":"Flags","value":"[FP16]"},
 {"setting":"TF32","value":"not allowed"}],
"precisions":[{"layer":"conv + relu","asked":"float32","got":"float16"}]}
)";

TEST(EngineRecord, IsReadFromThePlugInsReport) {
  const Result<EngineRecord> engine = EngineFromReport(kReport);
  ASSERT_TRUE(engine.ok()) << engine.status().message();
  EXPECT_EQ(engine->name, "net");
  EXPECT_TRUE(engine->refittable);
  EXPECT_EQ(engine->device_memory_bytes, 512);
  ASSERT_EQ(engine->tensors.size(), 2u);
  EXPECT_TRUE(engine->tensors[0].input);
  EXPECT_THAT(engine->tensors[0].shape, ElementsAre(-1, 16));
  ASSERT_EQ(engine->profiles.size(), 1u);
  EXPECT_THAT(engine->profiles[0].shapes[0].opt, ElementsAre(2, 16));
  EXPECT_THAT(engine->profiles[0].shapes[1].opt, ElementsAre());
  EXPECT_THAT(engine->build.config,
              ElementsAre(Pair("Flags", "[FP16]"), Pair("TF32", "not allowed")));
  ASSERT_EQ(engine->build.layers.size(), 1u);
  EXPECT_EQ(engine->build.layers[0].asked, "float32");
  EXPECT_EQ(engine->build.layers[0].got, "float16");
}

TEST(EngineRecord, LayersAreReadFromEitherFormOfTheInspectorsJson) {
  const Result<EngineRecord> engine = EngineFromReport(kReport);
  ASSERT_TRUE(engine.ok()) << engine.status().message();
  ASSERT_EQ(engine->layers.size(), 3u);
  const EngineLayer& layer = engine->layers[0];
  EXPECT_EQ(layer.name, "conv + relu");
  EXPECT_EQ(layer.type, "CaskConvolution");
  EXPECT_EQ(layer.origin, "Unknown");
  EXPECT_EQ(layer.tactic, "0x1");
  EXPECT_EQ(layer.inputs[0].dtype, "float32");
  EXPECT_EQ(layer.inputs[0].format, "Row major linear FP32");
  EXPECT_THAT(layer.inputs[0].shape, ElementsAre(1, 16, 8, 8));
  EXPECT_EQ(layer.outputs[0].dtype, "float16");
  EXPECT_EQ(layer.outputs[0].format, "Half Row major");
  EXPECT_EQ(engine->layers[1].name, "a name alone");
  EXPECT_EQ(engine->layers[1].type, "Unknown");
  EXPECT_EQ(engine->layers[2].name, "no JSON");
}

TEST(EngineRecord, WhatIsNoReportIsRefused) {
  for (const std::string_view text : {"", "[]", "{\"tensors\":3}", "{\"name\":[]}"}) {
    const Result<EngineRecord> engine = EngineFromReport(text);
    ASSERT_FALSE(engine.ok()) << text;
    EXPECT_EQ(engine.status().code(), StatusCode::kMalformed);
    EXPECT_THAT(engine.status().message(), HasSubstr("the report of an engine"));
  }
}

TEST(EngineRecord, ARunsRecordKeepsHowTheEngineWasBuilt) {
  RunRecord record;
  RunnerRecord& runner = record.runners.emplace_back();
  runner.name = "trt";
  runner.engine.emplace();
  runner.engine->config = {{"TF32", "allowed"}};
  runner.engine->layers = {{"conv", "", "float16"}};
  const std::string json = ToJson(record);
  EXPECT_THAT(json, HasSubstr("\"setting\": \"TF32\""));
  const Result<RunRecord> read = ReadRecord(json, "it");
  ASSERT_TRUE(read.ok()) << read.status().message();
  ASSERT_TRUE(read->runners[0].engine.has_value());
  EXPECT_THAT(read->runners[0].engine->config, ElementsAre(Pair("TF32", "allowed")));
  EXPECT_EQ(read->runners[0].engine->layers[0].got, "float16");
}

}  // namespace
}  // namespace vernier
