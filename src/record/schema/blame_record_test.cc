#include "vernier/blame_record.h"
#include "core/test_values.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

namespace vernier {
namespace {

BlameStepRecord ExampleStep() {
  const DivergenceRecord divergence{1, 2, 12, 281, 17, 0.5, 0.25, "near tie"};
  return {1, 12, "y", 3.5, 40, "NaN", true, 7, 1, 0.75, 6, 1, divergence};
}

BlameRecord Example() {
  BlameRecord record;
  record.culprits.push_back({"conv1", "Conv", {"y"}, kInfinity, 12.5, "its own error is 12.5"});
  record.culprits.push_back({"relu1", "Relu", {"z"}, 3, std::nullopt, "fusion or interaction"});
  record.unexposed.push_back({"mask", "only in the reference's graph"});
  record.disturbance.measured = true;
  record.disturbance.changed = true;
  record.disturbance.shown_at = 2;
  record.disturbance.shown_by = {"p", "q"};
  record.resume_key = "key";
  record.within_bounds = "No layer by itself exceeds its error bound, but ...";
  record.at_step = ExampleStep();
  record.on_flips = BlameFlipsRecord{
      {DecisionRecord()}, {31, 7}, {"y", "top1", 31, 2, 0.5}, {{"conv1", "Conv", -0.25, 1.5}}};
  record.on_flips->decisions[0].kind = "top1";
  NonFiniteRecord first;
  first.output = "y";
  first.operands.push_back({"x", {}});
  first.operands.back().values.nan_count = 1;
  record.first_nonfinite = first;
  BlameLayerRecord layer;
  layer.node = "conv1";
  layer.op_type = "Conv";
  layer.inputs = {"x"};
  layer.total_error = kInfinity;
  layer.own_error = 12.5;
  BlameTensorRecord tensor;
  tensor.name = "y";
  tensor.shape = {1, 3};
  tensor.total_error = kInfinity;
  tensor.own_error = 12.5;
  tensor.candidate.nan_count = 2;
  layer.outputs.push_back(tensor);
  record.layers.push_back(layer);
  return record;
}

TEST(BlameRecord, HasTheKeysThatProgramsRead) {
  const auto json = nlohmann::json::parse(ToJson(Example()));
  EXPECT_EQ(json["schema_version"], 1);
  ASSERT_EQ(json["culprits"].size(), 2U);
  EXPECT_EQ(json["culprits"][0]["node"], "conv1");
  EXPECT_EQ(json["culprits"][0]["op_type"], "Conv");
  EXPECT_EQ(json["culprits"][0]["outputs"][0], "y");
  EXPECT_EQ(json["culprits"][0]["total_error"], "inf");
  EXPECT_EQ(json["culprits"][0]["own_error"], 12.5);
  EXPECT_TRUE(json["culprits"][1]["own_error"].is_null());
  EXPECT_EQ(json["first_nonfinite"]["output"], "y");
  EXPECT_EQ(json["unexposed"][0]["name"], "mask");
  EXPECT_EQ(json["disturbed"], true);
}

TEST(BlameRecord, WhatShowedADisturbanceComesBack) {
  const auto record = BlameFromJson(ToJson(Example()));
  ASSERT_TRUE(record.ok()) << record.status().message();
  EXPECT_EQ(record->disturbance.shown_at, 2);
  EXPECT_EQ(record->disturbance.shown_by, (std::vector<std::string>{"p", "q"}));
  auto earlier = nlohmann::json::parse(ToJson(Example()));
  earlier["disturbance"].erase("shown_at");
  earlier["disturbance"].erase("shown_by");
  const auto read = BlameFromJson(earlier.dump());
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_FALSE(read->disturbance.shown_at);
}

TEST(BlameRecord, FlipsComeBackAndEarlierRecordsHaveNone) {
  const auto record = BlameFromJson(ToJson(Example()));
  ASSERT_TRUE(record.ok()) << record.status().message();
  ASSERT_TRUE(record->on_flips);
  EXPECT_EQ(record->on_flips->iterations, (std::vector<int64_t>{31, 7}));
  ASSERT_EQ(record->on_flips->decisions.size(), 1U);
  EXPECT_EQ(record->on_flips->decisions[0].kind, "top1");
  EXPECT_EQ(record->on_flips->margin_of.margin, 0.5);
  ASSERT_EQ(record->on_flips->margins.size(), 1U);
  EXPECT_EQ(record->on_flips->margins[0].eaten, 1.5);
  auto earlier = nlohmann::json::parse(ToJson(Example()));
  earlier.erase("on_flips");
  const auto read = BlameFromJson(earlier.dump());
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_FALSE(read->on_flips);
}

TEST(BlameRecord, PairsOfTwoFormatsComeBack) {
  BlameRecord two = Example();
  two.tensor_pairs.push_back({"conv1_out", "conv1/BiasAdd:0", "name", 3e-7});
  two.tensor_pairs.push_back({"y", "scores", "output", kInfinity});
  const auto record = BlameFromJson(ToJson(two));
  ASSERT_TRUE(record.ok()) << record.status().message();
  ASSERT_EQ(record->tensor_pairs.size(), 2U);
  EXPECT_EQ(record->tensor_pairs[0].reference, "conv1/BiasAdd:0");
  EXPECT_EQ(record->tensor_pairs[0].how, "name");
  EXPECT_EQ(record->tensor_pairs[1].error, kInfinity);
  auto earlier = nlohmann::json::parse(ToJson(two));
  earlier.erase("tensor_pairs");
  ASSERT_TRUE(BlameFromJson(earlier.dump()).ok());
}

TEST(BlameRecord, LayersComeBackAsTheyWere) {
  const auto record = BlameFromJson(ToJson(Example()));
  ASSERT_TRUE(record.ok()) << record.status().message();
  EXPECT_EQ(record->resume_key, "key");
  ASSERT_EQ(record->unexposed.size(), 1U);
  ASSERT_TRUE(record->first_nonfinite);
  EXPECT_EQ(record->first_nonfinite->operands.at(0).values.nan_count, 1);
  ASSERT_EQ(record->layers.size(), 1U);
  const BlameLayerRecord& layer = record->layers.front();
  EXPECT_EQ(layer.node, "conv1");
  EXPECT_TRUE(std::isinf(layer.total_error));
  EXPECT_EQ(layer.own_error, 12.5);
  EXPECT_EQ(layer.in_place_error, std::nullopt);
  ASSERT_EQ(layer.outputs.size(), 1U);
  EXPECT_EQ(layer.outputs[0].shape, (std::vector<int64_t>{1, 3}));
  EXPECT_EQ(layer.outputs[0].candidate.nan_count, 2);
}

TEST(BlameRecord, AnEarlierLayerGivesItsOutputsItsConditionNumber) {
  BlameRecord record = Example();
  record.layers[0].condition = record.layers[0].outputs[0].condition = 30;
  const auto read = BlameFromJson(ToJson(record));
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(read->layers[0].outputs[0].condition, 30);
  auto earlier = nlohmann::json::parse(ToJson(record));
  earlier["layers"][0]["outputs"][0].erase("condition");
  const auto old = BlameFromJson(earlier.dump());
  ASSERT_TRUE(old.ok()) << old.status().message();
  EXPECT_EQ(old->layers[0].outputs[0].condition, 30);
}

TEST(BlameRecord, TheConditionNumbersOfOutputsComeBack) {
  BlameRecord record = Example();
  record.output_conditions = {{"y", 20, 30}, {"state", 17, 1}};
  const auto read = BlameFromJson(ToJson(record));
  ASSERT_TRUE(read.ok()) << read.status().message();
  ASSERT_EQ(read->output_conditions.size(), 2U);
  EXPECT_EQ(read->output_conditions[1].name, "state");
  EXPECT_EQ(read->output_conditions[1].error, 17);
  EXPECT_EQ(read->output_conditions[1].condition, 1);
  auto earlier = nlohmann::json::parse(ToJson(record));
  earlier.erase("output_conditions");
  const auto old = BlameFromJson(earlier.dump());
  ASSERT_TRUE(old.ok()) << old.status().message();
  EXPECT_TRUE(old->output_conditions.empty());
}

TEST(BlameRecord, ErrorBoundsWereCalledBars) {
  BlameRecord example = Example();
  BlameTensorRecord& output = example.layers[0].outputs[0];
  output.total_bound = 0.5;
  output.own_bound = 0.25;
  output.bound_why = "float32";
  const std::string text = ToJson(example);
  auto earlier = nlohmann::ordered_json::parse(text);
  auto& tensor = earlier["layers"][0]["outputs"][0];
  for (const auto& [key, former] : {std::pair("total_bound", "total_bar"),
                                    {"own_bound", "own_bar"},
                                    {"bound_why", "bar_why"}}) {
    ASSERT_TRUE(tensor.contains(key)) << key;
    tensor[former] = tensor[key];
    tensor.erase(key);
  }
  const auto record = BlameFromJson(earlier.dump());
  ASSERT_TRUE(record.ok()) << record.status().message();
  EXPECT_EQ(ToJson(*record), text);
}

TEST(BlameRecord, IsWrittenAsItWasRead) {
  const std::string text = ToJson(Example());
  const auto record = BlameFromJson(text);
  ASSERT_TRUE(record.ok()) << record.status().message();
  EXPECT_EQ(ToJson(*record), text);
}

TEST(BlameRecord, EarlierRecordsLackWhatCameLater) {
  auto earlier = nlohmann::json::parse(ToJson(Example()));
  for (const char* key : {"condition", "fused", "fused_error", "evidence"}) {
    earlier["layers"][0].erase(key);
  }
  earlier["layers"][0]["outputs"][0].erase("reference_dtype");
  for (const char* key :
       {"fused_away", "condition", "quantises_alone", "within_bounds", "iterations"}) {
    earlier.erase(key);
  }
  const auto record = BlameFromJson(earlier.dump());
  ASSERT_TRUE(record.ok()) << record.status().message();
  EXPECT_EQ(record->layers.at(0).condition, 1);
}

// An error that is not there must not read as 0.
TEST(BlameRecord, AnErrorThatIsAbsentIsNamed) {
  auto json = nlohmann::json::parse(ToJson(Example()));
  json["layers"][0]["total_error"] = nullptr;
  EXPECT_EQ(BlameFromJson(json.dump()).status().message(),
            "field 'layers[0].total_error': expected a number");
  json["layers"][0].erase("total_error");
  EXPECT_EQ(BlameFromJson(json.dump()).status().message(),
            "field 'layers[0].total_error': expected to be there");
}

TEST(BlameRecord, DamagedFilesAreRefused) {
  EXPECT_FALSE(BlameFromJson("{").ok());
  EXPECT_FALSE(BlameFromJson(R"({"schema_version": 99, "layers": []})").ok());
  EXPECT_FALSE(BlameFromJson(R"({"schema_version": 1, "layers": [{"node": "a"}]})").ok());
}

}  // namespace
}  // namespace vernier
