#include "report/text/findings_text.h"

#include <gtest/gtest.h>

#include <limits>

namespace vernier {
namespace {

OutputRecord FailedOutput(std::string name) {
  OutputRecord output;
  output.name = std::move(name);
  output.compared = 1;
  output.elements = 400;
  output.mismatches = 3;
  output.worst_times_tolerance = 12.5;
  output.tolerances_checked = true;
  ElementRecord& element = output.figures.worst.emplace_back();
  element.index = {1, 2};
  element.first = 0.5;
  element.second = 0.25;
  element.absolute_error = 0.25;
  element.relative_error = 1;
  element.times_tolerance = 12.5;
  return output;
}

RunRecord WithOutputs(std::vector<OutputRecord> outputs) {
  RunRecord record;
  PairRecord pair;
  pair.first = "left";
  pair.second = "right";
  pair.outputs = std::move(outputs);
  record.pairs.push_back(std::move(pair));
  return record;
}

TEST(Findings, TellOfElementsOutOfTolerance) {
  const std::string text = FormatFindings(WithOutputs({FailedOutput("y")}), false);
  EXPECT_EQ(text,
            "  output 'y':\n"
            "    3 of 400 elements (0.75 %) out of tolerance, the worst 12.5 times over\n"
            "    worst at (1, 2): 0.5 against 0.25, absolute error 0.25, relative error 1\n");
}

// What --tolerance auto fails an output by may be its root mean square error.
TEST(Findings, TellOfTheWorstElementWithAnErrorBound) {
  OutputRecord output = FailedOutput("y");
  output.worst_times_tolerance = 99;
  output.bound.emplace().times_over = 99;
  const std::string text = FormatFindings(WithOutputs({output}), false);
  EXPECT_NE(text.find("out of tolerance, the worst 12.5 times over\n"), std::string::npos) << text;
  output.figures.worst.clear();
  const std::string unknown = FormatFindings(WithOutputs({output}), false);
  EXPECT_NE(unknown.find("(0.75 %) out of tolerance\n"), std::string::npos) << unknown;
}

TEST(Findings, NameNotFiniteValuesOfEachSide) {
  OutputRecord output = FailedOutput("y");
  output.worst_times_tolerance = std::numeric_limits<double>::infinity();
  output.figures.worst.clear();
  output.figures.first.emplace();
  output.figures.second.emplace();
  output.figures.second->nan_count = 2;
  output.figures.second->first_nan = {{0, 7}};
  output.figures.second->infinite_count = 1;
  output.figures.second->first_infinite = {{3, 3}};
  const std::string text = FormatFindings(WithOutputs({output}), false);
  EXPECT_NE(text.find("right holds 2 NaN (the first at (0, 7)) and 1 infinity (the first at (3, "
                      "3))\n"),
            std::string::npos)
      << text;
  EXPECT_EQ(text.find("left holds"), std::string::npos);
  EXPECT_NE(text.find("the worst infinitely far\n"), std::string::npos) << text;
}

TEST(Findings, ShowStringsAsTheyAre) {
  OutputRecord output = FailedOutput("y");
  output.figures.worst[0].first_text = "cat";
  output.figures.worst[0].second_text = std::string(50, 'd');
  const std::string text = FormatFindings(WithOutputs({output}), false);
  EXPECT_NE(text.find("worst at (1, 2): 'cat' against '" + std::string(40, 'd') + "...'\n"),
            std::string::npos)
      << text;
}

TEST(Findings, TellOfElementsThatWereExcused) {
  OutputRecord output = FailedOutput("y");
  output.passed = 1;
  output.allowed_share = 0.01;
  output.allowed_excess = 20;
  const std::string text = FormatFindings(WithOutputs({output}), false);
  EXPECT_NE(text.find("; allowed: 1 %, 20 times over\n"), std::string::npos) << text;
}

TEST(Findings, ShowAFewOutputsOrAll) {
  std::vector<OutputRecord> outputs;
  for (int i = 0; i < 7; ++i) outputs.push_back(FailedOutput("y" + std::to_string(i)));
  const std::string few = FormatFindings(WithOutputs(outputs), false);
  EXPECT_EQ(few.find("'y5'"), std::string::npos);
  EXPECT_NE(few.find("and 2 more outputs"), std::string::npos) << few;
  EXPECT_NE(FormatFindings(WithOutputs(outputs), true).find("'y6'"), std::string::npos);
}

TEST(Findings, AreSilentAboutWhatPasses) {
  OutputRecord output = FailedOutput("y");
  output.passed = 1;
  output.mismatches = 0;
  EXPECT_EQ(FormatFindings(WithOutputs({output}), false), "");
}

TEST(Findings, NameTheMeasureThatIsOverItsBound) {
  RunRecord record;
  PairRecord& pair = record.pairs.emplace_back();
  OutputRecord& output = pair.outputs.emplace_back();
  output.name = "y";
  output.compared = 1;
  BoundRecord& bound = output.bound.emplace();
  bound.bound = 2e-6;
  bound.rms = 1e-6;
  bound.gain = -1e-6;
  bound.gain_bound = 8e-7;
  bound.times_over = 1.25;
  EXPECT_NE(FormatFindings(record, false)
                .find("1.25 times over its error bound, by the gain: 1e-06 against 8e-07\n"),
            std::string::npos);
  bound.times_over = 3;
  EXPECT_NE(FormatFindings(record, false).find("3 times over its error bound, by single elements"),
            std::string::npos);
  bound.clean_bound = 1e-5;
  EXPECT_NE(FormatFindings(record, false).find("or those that choices and flipped steps leave"),
            std::string::npos);
}

}  // namespace
}  // namespace vernier
