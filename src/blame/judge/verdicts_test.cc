#include "blame/judge/verdicts.h"
#include "core/test_values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "blame/judge/layer_for_test.h"

namespace vernier {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> CulpritsOf(BlameRecord& record) {
  MarkCulprits({"c_out"}, record);
  std::vector<std::string> names;
  for (const BlameCulprit& culprit : record.culprits) names.push_back(culprit.node);
  return names;
}

TEST(MarkCulprits, NobodyBelowTheBound) {
  BlameRecord record;
  record.layers = {LayerForTest("a", "x", 0.5, 0.9), LayerForTest("b", "a_out", 0.9, 0.2)};
  EXPECT_THAT(CulpritsOf(record), IsEmpty());
  EXPECT_EQ(record.first_divergence, "");
}

// Of a short type a bound is known to a factor only.
TEST(MarkCulprits, StepsOfFloat16AreNotCounted) {
  for (const bool is_short : {true, false}) {
    BlameRecord record;
    record.layers = {LayerForTest("a", "x", 2.7, 2.2), LayerForTest("b", "a_out", 0.5, 3.1)};
    for (BlameLayerRecord& layer : record.layers) {
      layer.outputs[0].dtype = is_short ? "float16" : "float32";
    }
    EXPECT_EQ(CulpritsOf(record).empty(), is_short);
    record.layers = {LayerForTest("a", "x", 3.2, 3.1), LayerForTest("b", "a_out", 0.5, 9.5)};
    record.layers[0].outputs[0].dtype = is_short ? "bfloat16" : "float32";
    EXPECT_THAT(CulpritsOf(record), ElementsAre("b", "a"));
  }
}

TEST(MarkCulprits, NobodyForWhatTheConditionNumberExplains) {
  BlameRecord record;
  record.layers = {LayerForTest("a", "x", 0.5, 0.2), LayerForTest("c", "a_out", 30, 0.2)};
  EXPECT_THAT(CulpritsOf(record), ElementsAre("c"));
  record.output_conditions = {{"c_out", 30, 29}};
  EXPECT_THAT(CulpritsOf(record), ElementsAre("c"));
  record.output_conditions = {{"c_out", 30, 31}};
  EXPECT_THAT(CulpritsOf(record), IsEmpty());
  record.output_conditions = {{"c_out", 30, 31}, {"d_out", 9, 10}};
  EXPECT_THAT(CulpritsOf(record), IsEmpty());
  // An output's number is no excuse for another's error.
  record.output_conditions = {{"c_out", 30, 31}, {"d_out", 17, 1}};
  EXPECT_THAT(CulpritsOf(record), ElementsAre("c"));
  record.output_conditions = {{"c_out", 30, 31}};
  // It is no excuse for an error that a layer makes.
  record.layers[1] = LayerForTest("c", "a_out", 30, 5);
  EXPECT_THAT(CulpritsOf(record), ElementsAre("c"));
}

TEST(MarkCulprits, TheMakerOfAnErrorAndNotItsHeirs) {
  BlameRecord record;
  record.layers = {LayerForTest("a", "x", 0.5, 0.1), LayerForTest("b", "a_out", 20, 30),
                   LayerForTest("c", "b_out", 500, 0.3)};
  EXPECT_THAT(CulpritsOf(record), ElementsAre("b"));
  EXPECT_EQ(record.first_divergence, "b");
  EXPECT_EQ(record.output_error, 500);
}

// What the total error does not show may be rounding up to three times its bound; a weight that is
// another one is not.
TEST(MarkCulprits, AWeightThatIsAnotherExplainsASmallOwnError) {
  BlameRecord record;
  record.layers = {LayerForTest("a", "x", 0.2, 0.1), LayerForTest("b", "a_out", 0.3, 2.8)};
  EXPECT_THAT(CulpritsOf(record), IsEmpty());
  EXPECT_THAT(DescribeDoubt(record),
              HasSubstr("the own error of layer 'b' (MatMul) is 2.8 times the "
                        "error bound, and its total error is within"));
  const std::string why = "its weight 'w' is not that of the reference";
  MarkCulprits({"c_out"}, record, {{"b", why}});
  ASSERT_EQ(record.culprits.size(), 1U);
  EXPECT_EQ(record.culprits[0].node, "b");
  EXPECT_THAT(record.culprits[0].why, HasSubstr("2.8 times the error bound, and " + why));
  EXPECT_EQ(DescribeDoubt(record), "");
  // An error within the bound is none, and a quantised copy has other weights anyway.
  record.layers[1] = LayerForTest("b", "a_out", 0.3, 0.9);
  MarkCulprits({"c_out"}, record, {{"b", why}});
  EXPECT_THAT(record.culprits, IsEmpty());
  EXPECT_EQ(DescribeDoubt(record), "");
  record.layers[1] = LayerForTest("b", "a_out", 0.3, 2.8);
  record.quantises_alone = true;
  MarkCulprits({"c_out"}, record, {{"b", why}});
  EXPECT_THAT(record.culprits, IsEmpty());
}

TEST(MarkCulprits, RanksByOwnError) {
  BlameRecord record;
  record.layers = {LayerForTest("a", "x", 5, 4), LayerForTest("b", "a_out", kInfinity, kInfinity),
                   LayerForTest("c", "b_out", 9, 6)};
  EXPECT_THAT(CulpritsOf(record), ElementsAre("b", "c", "a"));
}

TEST(MarkCulprits, AnErrorThatIsClearlyItsOwnAlsoWhereTheTotalBoundIsWide) {
  BlameRecord record;
  record.layers = {LayerForTest("a", "x", 0.9, 2), LayerForTest("b", "x", 0.9, 4)};
  EXPECT_THAT(CulpritsOf(record), ElementsAre("b"));
}

TEST(MarkCulprits, FusionWhereTheNodeAloneIsRight) {
  BlameRecord record;
  record.layers = {LayerForTest("a", "x", 0.5, 0.1), LayerForTest("b", "a_out", 40, 0.2),
                   LayerForTest("c", "b_out", 40, 0.2)};
  record.layers[1].in_place_error = 38;
  record.layers[2].in_place_error = 0.4;
  EXPECT_THAT(CulpritsOf(record), ElementsAre("b"));
  EXPECT_THAT(record.culprits[0].why, HasSubstr("fusion or interaction"));
}

TEST(MarkCulprits, NodesThatAreRightOneByOneAndWrongAsTheyAreFused) {
  BlameRecord record;
  record.layers = {LayerForTest("a", "x", 0.5, 0.1), LayerForTest("b", "a_out", 40, 0.2),
                   LayerForTest("c", "b_out", 40, 0.2)};
  record.layers[1].fused = {"a", "b"};
  record.layers[1].fused_error = 38;
  EXPECT_THAT(CulpritsOf(record), ElementsAre("b"));
  EXPECT_THAT(record.culprits[0].why, HasSubstr("fusion or interaction: a + b"));
  EXPECT_EQ(record.culprits[0].own_error, 0.2);
}

TEST(MarkCulprits, ANodeThatIsWrongAloneAndNotItsGroup) {
  BlameRecord record;
  record.layers = {LayerForTest("a", "x", 40, 38), LayerForTest("b", "a_out", 40, 0.2)};
  record.layers[1].fused = {"a", "b"};
  record.layers[1].fused_error = 38;
  EXPECT_THAT(CulpritsOf(record), ElementsAre("a"));
}

// The group's error is that of the node in it which is wrong.
TEST(MarkCulprits, AGroupWithAFaultyNodeRanksNoOther) {
  BlameRecord record;
  record.layers = {LayerForTest("a", "x", 40, 80), LayerForTest("b", "a_out", 40, 3.2)};
  record.layers[1].fused = {"a", "b"};
  record.layers[1].fused_error = 115;
  EXPECT_THAT(CulpritsOf(record), ElementsAre("a", "b"));
}

TEST(MarkCulprits, SaysThatNoSingleLayerMakesTheErrorOfTheOutputs) {
  BlameRecord record;
  record.layers = {LayerForTest("a", "x", 0.9, 0.8), LayerForTest("b", "a_out", 1.2, 0.9),
                   LayerForTest("c", "b_out", 1.5, 0.9)};
  EXPECT_THAT(CulpritsOf(record), ElementsAre("b"));
  EXPECT_THAT(record.culprits[0].why, HasSubstr("no single layer"));
}

TEST(MarkCulprits, BetweenFloatTypesOnlyWhatIsClearlyTooLarge) {
  BlameRecord record;
  record.layers = {LayerForTest("a", "x", 2.9, 2.8), LayerForTest("c", "a_out", 1.5, 0.9)};
  record.layers[0].outputs[0].dtype = "float16";
  record.layers[0].outputs[0].reference_dtype = "float32";
  EXPECT_THAT(CulpritsOf(record), IsEmpty());
  record.layers[0].own_error = 3.1;
  EXPECT_THAT(CulpritsOf(record), ElementsAre("a"));
}

TEST(MarkCulprits, IndicesOfAnotherWidthExcuseNothing) {
  BlameRecord record;
  record.layers = {LayerForTest("a", "x", 2.9, 2.8)};
  record.layers[0].outputs.emplace_back().dtype = "int32";
  record.layers[0].outputs[1].reference_dtype = "int64";
  EXPECT_THAT(CulpritsOf(record), ElementsAre("a"));
}

TEST(MarkCulprits, NanOnBothSidesThatReachesTheOutput) {
  BlameRecord record;
  record.layers = {LayerForTest("a", "x", 0, 0), LayerForTest("c", "a_out", 0, 0)};
  record.layers[1].outputs[0].candidate.nan_count = 3;
  record.first_nonfinite.emplace();
  record.first_nonfinite->node = "a";
  EXPECT_THAT(CulpritsOf(record), ElementsAre("a"));
  EXPECT_THAT(record.culprits[0].why, HasSubstr("from finite inputs"));
  BlameOperand& constant = record.first_nonfinite->operands.emplace_back();
  constant.name = "k";
  constant.values.nan_count = 1;
  EXPECT_THAT(CulpritsOf(record), ElementsAre("a"));
  EXPECT_THAT(record.culprits[0].why, HasSubstr("its constant 'k' holds values that are not"));
}

TEST(MarkCulprits, OutputsThatDifferOnlyWithoutProbesAreNoPass) {
  BlameRecord record;
  record.layers = {LayerForTest("a", "x", 0.1, 0.1), LayerForTest("c", "a_out", 0.1, 0.1)};
  record.disturbance.measured = true;
  record.disturbance.plain_error = 7;
  EXPECT_THAT(CulpritsOf(record), ElementsAre("c"));
  EXPECT_TRUE(record.disturbance.changed);
  EXPECT_THAT(record.culprits[0].why, HasSubstr("reference"));
}

TEST(MarkCulprits, DoesNotAccuseTheReferenceWhereTheCandidatesProbesCure) {
  BlameRecord record;
  record.layers = {LayerForTest("a", "x", 0.1, 0.1), LayerForTest("c", "a_out", 0.1, 0.1)};
  record.disturbance.measured = true;
  record.disturbance.plain_error = 7;
  record.disturbance.effect = "cures";
  record.disturbance.finding = "No small set";
  EXPECT_THAT(CulpritsOf(record), ElementsAre("c"));
  EXPECT_EQ(record.culprits[0].why, "No small set");
}

TEST(MarkCulprits, WithQuantisersOfOneSideAnErrorThatCameInIsNoSign) {
  for (const bool alone : {true, false}) {
    BlameRecord record;
    record.quantises_alone = alone;
    record.layers = {LayerForTest("a", "x", 9, 9), LayerForTest("b", "a_out", 5, 2)};
    EXPECT_EQ(CulpritsOf(record).size(), alone ? 1U : 2U);
    // Where nothing came in, it is one.
    record.layers = {LayerForTest("a", "x", 0.5, 0.5), LayerForTest("b", "a_out", 2, 2)};
    EXPECT_THAT(CulpritsOf(record), ElementsAre("b"));
  }
}

TEST(MarkCulprits, WhatIsRandomWhereOutputsDoNotRepeatThemselves) {
  BlameRecord record;
  record.layers = {LayerForTest("a", "x", 0.1, 0.1), LayerForTest("c", "a_out", 0.1, 0.1)};
  record.output_conditions = {{"c_out", 1e5, 0, false}};
  record.random_nodes = {"a"};
  EXPECT_THAT(CulpritsOf(record), ElementsAre("a"));
  EXPECT_THAT(record.culprits[0].why, HasSubstr("it is random"));
  record.random_nodes.clear();
  EXPECT_THAT(CulpritsOf(record), ElementsAre("c"));
  EXPECT_THAT(record.culprits[0].why, HasSubstr("no node of the model is random"));
}

TEST(MarkCulprits, EvidenceIsTold) {
  BlameRecord record;
  record.layers = {LayerForTest("a", "x", 9, 9)};
  record.layers[0].evidence = "q clips 43 % of its values";
  ASSERT_THAT(CulpritsOf(record), ElementsAre("a"));
  EXPECT_THAT(record.culprits[0].why, HasSubstr("; q clips 43 %"));
}

TEST(MarkCulprits, TheRegionThatProbesCureComesFirst) {
  BlameRecord record;
  record.layers = {LayerForTest("a", "x", 0.1, 0.1), LayerForTest("b", "a_out", 0.1, 0.1)};
  record.disturbance.plain_error = 50;
  record.disturbance.probes = {"a_out"};
  record.disturbance.region = {"a", "b"};
  EXPECT_THAT(CulpritsOf(record), ElementsAre("a"));
  EXPECT_EQ(record.culprits[0].op_type, "MatMul+MatMul");
  EXPECT_EQ(record.culprits[0].total_error, 50);
}

TEST(MarkCulprits, ALargeRegionNamesSomeOperators) {
  BlameRecord record;
  std::string from = "x";
  for (int i = 0; i < 20; ++i) {
    const std::string name = "n" + std::to_string(i);
    record.layers.push_back(LayerForTest(name, from, 0.1, 0.1));
    record.disturbance.region.push_back(name);
    from = name + "_out";
  }
  record.disturbance.plain_error = 50;
  EXPECT_THAT(CulpritsOf(record), ElementsAre("n0"));
  std::string eight = "MatMul";
  for (int i = 1; i < 8; ++i) eight += "+MatMul";
  EXPECT_EQ(record.culprits[0].op_type, eight + " and 12 more");
  EXPECT_TRUE(record.culprits[0].why.starts_with(kFusedTogether));
}

}  // namespace
}  // namespace vernier
