// What the rules find in small models that each break one of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "lint/findings.h"
#include "lint/lint.h"
#include "lint/rules.h"
#include "model/onnx/onnx_test_model.h"

namespace vernier {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing_model::Field;
using testing_model::Number;
using testing_model::Value;

constexpr uint64_t kInt64Type = 7;

std::string NamedNode(std::string_view op, std::string_view name,
                      std::initializer_list<std::string_view> inputs,
                      std::initializer_list<std::string_view> outputs, std::string_view more = {}) {
  return Field(1, testing_model::Node(op, inputs, outputs, Field(3, name) + std::string(more)));
}

std::string Input(std::string_view name) { return Field(11, Value(name)); }
std::string Output(std::string_view name) { return Field(12, Value(name)); }

std::string ShapedInput(std::string_view name, std::initializer_list<uint64_t> dims,
                        uint64_t type = 1) {
  std::string shape;
  for (const uint64_t size : dims) shape += Field(1, Number(1, size));
  return Field(11, Field(1, name) + Field(2, Field(1, Number(1, type) + Field(2, shape))));
}

std::string FloatWeight(std::string_view name, uint64_t size, const std::vector<float>& values) {
  const std::string_view raw(reinterpret_cast<const char*>(values.data()),
                             values.size() * sizeof(float));
  return Field(5, Number(1, size) + Number(2, 1) + Field(8, name) + Field(9, raw));
}

// A graph with a name; what is wrong with it is in its parts.
OnnxModel GraphOf(const std::string& parts) {
  return *testing_model::Parse(testing_model::Model(Field(2, "graph") + parts));
}

std::vector<LintFinding> Lint(const OnnxModel& model, const std::vector<std::string>& skip = {}) {
  Findings findings(model, skip);
  LintModel(model, {}, findings);
  return std::move(findings).Take();
}

std::vector<LintFinding> LintGraph(const std::string& parts) { return Lint(GraphOf(parts)); }

std::vector<std::string> RulesOf(const std::vector<LintFinding>& findings) {
  std::vector<std::string> rules;
  for (const LintFinding& finding : findings) rules.emplace_back(finding.rule);
  return rules;
}

const std::string kRelu = NamedNode("Relu", "relu", {"x"}, {"y"});

TEST(LintRules, FindNothingInAFaultlessModel) {
  EXPECT_THAT(RulesOf(LintGraph(kRelu + Input("x") + Output("y"))), IsEmpty());
}

TEST(LintRules, AGraphNeedsAName) {
  const OnnxModel nameless =
      *testing_model::Parse(testing_model::Model(kRelu + Input("x") + Output("y")));
  EXPECT_THAT(RulesOf(Lint(nameless)), ElementsAre("graph-name"));
}

TEST(LintRules, ATensorThatNothingMakesIsNamedWithItsReader) {
  const auto found =
      LintGraph(NamedNode("Add", "sum", {"x", "lost"}, {"y"}) + Input("x") + Output("y"));
  ASSERT_THAT(RulesOf(found), ElementsAre("dangling-input"));
  EXPECT_EQ(found[0].level, LintLevel::kException);
  EXPECT_THAT(found[0].nodes, ElementsAre("sum"));
  EXPECT_THAT(found[0].message, HasSubstr("'lost'"));
}

TEST(LintRules, AnOutputThatNothingMakesIsAnException) {
  EXPECT_THAT(RulesOf(LintGraph(kRelu + Input("x") + Output("y") + Output("lost"))),
              Contains("dangling-output"));
}

TEST(LintRules, NodesThatStandBeforeWhatTheyReadAreNotSorted) {
  const auto rules =
      RulesOf(LintGraph(NamedNode("Relu", "second", {"t"}, {"y"}) +
                        NamedNode("Relu", "first", {"x"}, {"t"}) + Input("x") + Output("y")));
  EXPECT_THAT(rules, ElementsAre("not-sorted"));
}

TEST(LintRules, ACycleNamesItsNodes) {
  const auto found = LintGraph(NamedNode("Add", "a", {"x", "t"}, {"s"}) +
                               NamedNode("Relu", "b", {"s"}, {"t"}) + Input("x") + Output("t"));
  const auto cycle =
      std::find_if(found.begin(), found.end(), [](const auto& f) { return f.rule == "cycle"; });
  ASSERT_NE(cycle, found.end());
  EXPECT_THAT(cycle->nodes, ElementsAre("a", "b"));
}

TEST(LintRules, TwoNodesMustNotMakeOneTensor) {
  EXPECT_THAT(
      RulesOf(LintGraph(kRelu + NamedNode("Exp", "exp", {"x"}, {"y"}) + Input("x") + Output("y"))),
      Contains("duplicate-value"));
}

TEST(LintRules, NodesThatShareANameAreAnException) {
  const auto found = LintGraph(NamedNode("Relu", "same", {"x"}, {"t"}) +
                               NamedNode("Relu", "same", {"t"}, {"y"}) + Input("x") + Output("y"));
  ASSERT_THAT(RulesOf(found), ElementsAre("duplicate-node-name"));
  EXPECT_THAT(found[0].message, HasSubstr("[0, 1]"));
}

TEST(LintRules, WhatNoOutputDependsOnIsAWarning) {
  const auto found = LintGraph(kRelu + NamedNode("Exp", "idle", {"z"}, {"t"}) + Input("x") +
                               Input("z") + FloatWeight("w", 1, {1}) + Output("y"));
  EXPECT_THAT(RulesOf(found),
              testing::UnorderedElementsAre("unused-node", "unused-input", "unused-weight"));
  for (const LintFinding& finding : found) EXPECT_EQ(finding.level, LintLevel::kWarning);
}

TEST(LintRules, AnOperatorThatOnnxDoesNotHaveIsAnException) {
  EXPECT_THAT(RulesOf(LintGraph(NamedNode("Rellu", "n", {"x"}, {"y"}) + Input("x") + Output("y"))),
              ElementsAre("unknown-operator"));
}

TEST(LintRules, AnOperatorOfALaterOpsetSaysWhenItCame) {
  const auto found = LintGraph(NamedNode("Gelu", "n", {"x"}, {"y"}) + Input("x") + Output("y"));
  ASSERT_THAT(RulesOf(found),
              testing::AnyOf(ElementsAre("operator-version"), ElementsAre("runtime-operator")));
}

TEST(LintRules, TooManyInputsAreAnException) {
  const auto found =
      LintGraph(NamedNode("Relu", "n", {"x", "x"}, {"y"}) + Input("x") + Output("y"));
  ASSERT_THAT(RulesOf(found), ElementsAre("operator-inputs"));
  EXPECT_EQ(found[0].op, "Relu");
}

TEST(LintRules, AnAttributeThatTheOperatorDoesNotHaveIsAnException) {
  const std::string attribute = Field(5, Field(1, "slope") + Number(3, 1) + Number(20, 2));
  EXPECT_THAT(RulesOf(LintGraph(NamedNode("Relu", "n", {"x"}, {"y"}, attribute) + Input("x") +
                                Output("y"))),
              ElementsAre("attribute"));
}

TEST(LintRules, TypesThatAnOperatorCannotTakeTogetherAreAnException) {
  const auto rules = RulesOf(LintGraph(NamedNode("Add", "n", {"x", "i"}, {"y"}) + Input("x") +
                                       ShapedInput("i", {1}, kInt64Type) + Output("y")));
  EXPECT_THAT(rules, Contains("type-mismatch"));
}

TEST(LintRules, ShapesThatAnOperatorCannotTakeTogetherAreAnException) {
  const auto rules =
      RulesOf(LintGraph(NamedNode("MatMul", "n", {"a", "b"}, {"y"}) + ShapedInput("a", {2, 3}) +
                        ShapedInput("b", {2, 3}) + Output("y")));
  EXPECT_THAT(rules, Contains("shape-mismatch"));
}

// y = x + w
std::string SumWith(const std::string& weight) {
  return NamedNode("Add", "sum", {"x", "w"}, {"y"}) + Input("x") + weight + Output("y");
}

TEST(LintRules, AWeightHasAsManyBytesAsItsShapeNeeds) {
  EXPECT_THAT(RulesOf(LintGraph(SumWith(FloatWeight("w", 3, {1, 2})))), ElementsAre("weight-size"));
}

TEST(LintRules, WeightsThatAreNoNumbersAreCounted) {
  const auto found =
      LintGraph(SumWith(FloatWeight("w", 3, {1, std::numeric_limits<float>::quiet_NaN(), 2})));
  ASSERT_THAT(RulesOf(found), ElementsAre("non-finite-weight"));
  EXPECT_THAT(found[0].message, HasSubstr("1 NaN"));
}

TEST(LintRules, WeightsBeyondFloat16NameTheLargest) {
  const auto found = LintGraph(SumWith(FloatWeight("w", 3, {1, -70000, 1e-9F})));
  ASSERT_THAT(RulesOf(found), ElementsAre("float16-overflow", "float16-underflow"));
  EXPECT_THAT(found[0].message, HasSubstr("70000"));
  EXPECT_EQ(found[1].level, LintLevel::kInfo);
}

TEST(LintRules, ThatAreSkippedLeaveNoFinding) {
  const OnnxModel model = GraphOf(SumWith(FloatWeight("w", 3, {1, -70000, 1e-9F})));
  EXPECT_THAT(RulesOf(Lint(model, {"float16-overflow"})), ElementsAre("float16-underflow"));
}

TEST(LintRules, ThatDoNotExistCannotBeSkipped) {
  std::vector<std::string> names = {"float16-overflow"};
  EXPECT_TRUE(CheckRuleNames(names).ok());
  names.emplace_back("overflow");
  const Status status = CheckRuleNames(names);
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(),
              HasSubstr("--skip: 'overflow' is not a rule; did you mean 'float16-overflow'?"));
  names.back() = "xyz";
  EXPECT_THAT(CheckRuleNames(names).message(), HasSubstr("dangling-input, "));
}

// "bad" reads what nothing makes; "behind" waits for it, "idle" and "good" do not.
OnnxModel PartlyBroken() {
  return GraphOf(NamedNode("Relu", "good", {"x"}, {"g"}) +
                 NamedNode("Add", "bad", {"g", "lost"}, {"b"}) +
                 NamedNode("Relu", "behind", {"b"}, {"y"}) +
                 NamedNode("Relu", "idle", {"x"}, {"i"}) + Input("x") + Output("y") + Output("g"));
}

TEST(LintReport, NodesThatWaitForAFailingOneHaveNotPassed) {
  const OnnxModel model = PartlyBroken();
  Findings findings(model, {});
  LintModel(model, {}, findings);
  const LintRecord record = MakeLintRecord(model, std::move(findings), {});
  EXPECT_FALSE(record.valid());
  EXPECT_THAT(record.failing, ElementsAre("bad"));
  EXPECT_THAT(record.passing, ElementsAre("good"));
  EXPECT_THAT(record.not_run, ElementsAre("good", "bad", "behind", "idle"));
}

TEST(LintReport, OfAFaultyModelOnlyWhatRanHasPassed) {
  const OnnxModel model = PartlyBroken();
  Findings findings(model, {});
  LintModel(model, {}, findings);
  const LintRecord record =
      MakeLintRecord(model, std::move(findings),
                     {LintRun::kNotRun, LintRun::kNotRun, LintRun::kNotRun, LintRun::kPassed});
  EXPECT_THAT(record.passing, ElementsAre("idle"));
  EXPECT_THAT(record.not_run, Not(Contains("idle")));
}

TEST(LintReport, SaysInPolygraphysWordsWhyAFileCannotBeRead) {
  const LintRecord record = UnreadableRecord(Malformed("'m.onnx' ends too early"));
  EXPECT_FALSE(record.valid());
  const std::string json = ToJson(record);
  EXPECT_THAT(json, HasSubstr("\"lint_entries\""));
  EXPECT_THAT(json, HasSubstr("'m.onnx' ends too early"));
  EXPECT_THAT(json, HasSubstr("\"unreadable\""));
}

}  // namespace
}  // namespace vernier
