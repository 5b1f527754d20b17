#include "report/files/accuracy_file.h"
#include "vernier/compare_options.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>

namespace vernier {
namespace {

std::string TestFile(std::string_view name) {
  return testing::TempDir() + "vernier-" + std::to_string(::getpid()) + "-" + std::string(name);
}

SavedSimple Simple(std::vector<ErrorStat> checked, double max, double mean) {
  SavedSimple simple;
  simple.checked = std::move(checked);
  simple.atol = simple.rtol = 0.5;
  simple.statistics[static_cast<size_t>(ErrorStat::kMax)] = {max, max};
  simple.statistics[static_cast<size_t>(ErrorStat::kMean)] = {mean, mean};
  simple.statistics[static_cast<size_t>(ErrorStat::kMedian)] = {mean, mean};
  return simple;
}

AccuracyResults OneFunction(std::vector<SavedIteration> iterations) {
  SavedFunction function;
  function.pairs.push_back({"first", "second", std::move(iterations)});
  return {{function}};
}

AccuracyResults WrittenAndRead(const AccuracyResults& results) {
  const std::string path = TestFile("accuracy.json");
  EXPECT_TRUE(WriteAccuracyResults(results, path).ok());
  Result<AccuracyResults> read = ReadAccuracyResults(path);
  EXPECT_TRUE(read.ok()) << read.status().message();
  std::filesystem::remove(path);
  return read.ok() ? *std::move(read) : AccuracyResults();
}

TEST(AccuracyFile, KeepsMeasuresAndVerdicts) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  SavedSimple elemwise = Simple({ErrorStat::kElemwise}, 0.25, nan);
  elemwise.elemwise_passed = true;
  const AccuracyResults read = WrittenAndRead(OneFunction(
      {{{"y", elemwise}, {"z", Simple({ErrorStat::kMax}, 0.75, 0.1)}}, {{"y", false}}}));
  const SavedPair& pair = read.functions.at(0).pairs.at(0);
  EXPECT_EQ(pair.first, "first");
  EXPECT_EQ(pair.second, "second");
  const auto& y = std::get<SavedSimple>(pair.iterations.at(0).at(0).result);
  EXPECT_EQ(y.statistics[static_cast<size_t>(ErrorStat::kMax)][0], 0.25);
  EXPECT_TRUE(std::isnan(*y.statistics[static_cast<size_t>(ErrorStat::kMean)][1]));
  EXPECT_EQ(y.statistics[static_cast<size_t>(ErrorStat::kQuantile)][0], std::nullopt);
  EXPECT_TRUE(Passed(y));
  EXPECT_FALSE(Passed(pair.iterations[0][1].result));
  EXPECT_FALSE(std::get<bool>(pair.iterations[1][0].result));
  EXPECT_EQ(CountPassed(pair).passed, 0);
  EXPECT_EQ(CountPassed(pair).total, 2);
}

// The file has room for one statistic: it must be one that fails.
TEST(AccuracyFile, TellsOfTheStatisticThatFails) {
  const auto read = WrittenAndRead(
      OneFunction({{{"y", Simple({ErrorStat::kMax, ErrorStat::kMean}, 0.75, 0.1)}}}));
  EXPECT_FALSE(read.passed());
}

TEST(AccuracyFile, KeepsOurOwnMeasures) {
  const auto read = WrittenAndRead(
      OneFunction({{{"y", SavedMetric{CompareFunction::kRmse, 0.5, 0.25}}, {"strings", false}}}));
  EXPECT_EQ(read.functions.at(0).function(), CompareFunction::kRmse);
  const SavedIteration& iteration = read.functions[0].pairs.at(0).iterations.at(0);
  EXPECT_EQ(std::get<SavedMetric>(iteration.at(0).result).value, 0.5);
  EXPECT_EQ(std::get<SavedMetric>(iteration[0].result).threshold, 0.25);
  EXPECT_FALSE(std::get<bool>(iteration.at(1).result));
}

TEST(AccuracyFile, RefusesOtherFiles) {
  const std::string path = TestFile("other.json");
  for (const char* text :
       {R"({"lst": [], "polygraphy_class": "RunResults"})", "[]", "{",
        R"({"lst": [{"lst": [[["a"], []]], "aggregation": "per_sample"}],
            "polygraphy_class": "AccuracyResults"})",
        R"({"lst": [{"lst": [[["a", "b"], [{"y": {"polygraphy_class": "L2Result"}}]]],
            "aggregation": "per_sample"}], "polygraphy_class": "AccuracyResults"})"}) {
    std::ofstream(path) << text;
    const auto read = ReadAccuracyResults(path);
    ASSERT_FALSE(read.ok()) << text;
    EXPECT_EQ(read.status().code(), StatusCode::kMalformed);
    EXPECT_NE(read.status().message().find(path), std::string::npos) << read.status().message();
  }
  std::filesystem::remove(path);
}

// Reevaluate

CompareOptions MaxWithin(double tolerance) {
  CompareOptions options;
  options.atol.fallback = options.rtol.fallback = tolerance;
  options.check_error_stat.fallback = std::vector<ErrorStat>{ErrorStat::kMax};
  return options;
}

TEST(Reevaluate, HoldsMeasuresAgainstNewThresholds) {
  const auto saved = OneFunction({{{"y", Simple({ErrorStat::kMax}, 0.75, 0.1)}}});
  EXPECT_FALSE(Reevaluate(saved, MaxWithin(0.7))->results.passed());
  EXPECT_TRUE(Reevaluate(saved, MaxWithin(0.75))->results.passed());
}

TEST(Reevaluate, AveragesOverIterations) {
  const auto saved = OneFunction(
      {{{"y", Simple({ErrorStat::kMax}, 1.0, 0.1)}}, {{"y", Simple({ErrorStat::kMax}, 0.0, 0.1)}}});
  CompareOptions options = MaxWithin(0.6);
  EXPECT_FALSE(Reevaluate(saved, options)->results.passed());
  options.check_average = true;
  EXPECT_TRUE(Reevaluate(saved, options)->results.passed());
  const auto with_bare =
      OneFunction({{{"y", Simple({ErrorStat::kMax}, 1.0, 0.1)}}, {{"y", false}}});
  EXPECT_FALSE(Reevaluate(with_bare, options).ok());
}

TEST(Reevaluate, RefusesWhatCannotBeJudged) {
  const auto saved = OneFunction({{{"y", Simple({ErrorStat::kMax}, 0.75, 0.1)}}});
  const auto error = [&](const CompareOptions& options) {
    return Reevaluate(saved, options).status().message();
  };
  EXPECT_NE(error({}).find("Cannot re-threshold an 'elemwise'"), std::string::npos);
  CompareOptions quantile = MaxWithin(1);
  quantile.check_error_stat.fallback = std::vector<ErrorStat>{ErrorStat::kQuantile};
  EXPECT_NE(error(quantile).find("do not contain a 'quantile' statistic"), std::string::npos);
  CompareOptions l2;
  l2.functions = {CompareFunction::kL2};
  EXPECT_NE(error(l2).find("(metric fields: ['l2_norm'])"), std::string::npos);
}

TEST(Reevaluate, NamesWhatWasNotAskedFor) {
  AccuracyResults saved = OneFunction({{{"y", SavedMetric{CompareFunction::kL2, 1.0, 2.0}}}});
  saved.functions.push_back(OneFunction({{{"y", true}}}).functions[0]);
  CompareOptions options;
  options.functions = {CompareFunction::kL2, CompareFunction::kIndices};
  const auto judged = Reevaluate(saved, options);
  ASSERT_TRUE(judged.ok());
  EXPECT_FALSE(judged->results.passed());  // 1 is above the default of 1e-5
  EXPECT_EQ(judged->ignored, std::vector<std::string>{"[]"});
  EXPECT_EQ(judged->skipped, std::vector{CompareFunction::kIndices});
}

TEST(AccuracyResults, WithoutVerdictsHaveCheckedNothing) {
  EXPECT_FALSE(AccuracyResults().checked_something());
  EXPECT_FALSE(OneFunction({{}}).checked_something());
  EXPECT_TRUE(OneFunction({{{"y", false}}}).checked_something());
}

}  // namespace
}  // namespace vernier
