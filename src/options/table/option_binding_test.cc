#include "options/table/option_binding.h"
#include "options/table/command_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "options/table/command_words.h"
#include "options/table/given_field.h"
#include "options/words/arg_parser.h"
#include "vernier/compare_options.h"
#include "vernier/run_plan.h"

namespace vernier {
namespace {

using testing::ElementsAre;
using testing::Pair;

struct BoundPlan {
  RunPlan plan;
  Status status;
};

BoundPlan BindWords(std::vector<std::string> words, const BindContext& context = {}) {
  words.insert(words.begin(), "m.onnx");
  const OptionTable table = RunOptionTable();
  const ParseResult parsed = ParseCommandLine(table, words);
  EXPECT_EQ(parsed.end, ParseEnd::kParsed) << parsed.error;
  BoundPlan bound;
  RunPlan& plan = bound.plan;
  bound.status =
      BindOptions(parsed.args, context,
                  {plan, plan.inputs, plan.save, plan.pictures, plan.execution, *plan.compare});
  return bound;
}

TEST(BindOptions, SetsFieldsByTheirTypes) {
  const RunPlan plan =
      BindWords({"--strict", "--seed", "7", "--timeout", "1.5", "--val-range", "[0,1]", "a:[2,3]"})
          .plan;
  EXPECT_TRUE(plan.strict);
  EXPECT_FALSE(plan.same_type);
  EXPECT_EQ(plan.inputs.seed, 7);
  EXPECT_EQ(plan.execution.timeout_s, 1.5);
  EXPECT_THAT(plan.inputs.range_words, ElementsAre("[0,1]", "a:[2,3]"));
}

TEST(BindOptions, TakesTheLastOccurrenceUnlessTheyAddUp) {
  const BoundPlan bound =
      BindWords({"--rtol", "no number", "y:1", "--rtol", "2", "--warm-up", "1", "--warm-up-runs",
                 "3", "--backend-dir", "a", "--backend-dir", "b"});
  EXPECT_TRUE(bound.status.ok()) << bound.status.message();
  EXPECT_EQ(bound.plan.compare->rtol.fallback, 2.0);
  EXPECT_THAT(bound.plan.compare->rtol.entries, ElementsAre());
  EXPECT_EQ(bound.plan.execution.warm_up, 3);
  EXPECT_THAT(bound.plan.execution.backend_dirs, ElementsAre("a", "b"));
}

TEST(BindOptions, ReadsValuesPerOutput) {
  const CompareOptions options = BindWords({"--atol", "1e-3", "y:2", "--check-error-stat", "max",
                                            "mean", "y:median", "--l2-threshold", "y:0.5"})
                                     .plan.compare;
  EXPECT_EQ(options.atol.fallback, 1e-3);
  EXPECT_THAT(options.atol.entries, ElementsAre(Pair("y", 2.0)));
  EXPECT_THAT(*options.check_error_stat.fallback, ElementsAre(ErrorStat::kMax, ErrorStat::kMean));
  EXPECT_THAT(options.check_error_stat.entries,
              ElementsAre(Pair("y", ElementsAre(ErrorStat::kMedian))));
  EXPECT_THAT(options.thresholds[CompareFunction::kL2].entries, ElementsAre(Pair("y", 0.5)));
}

TEST(BindOptions, NamesTheFlagAndTheValueThatCannotBeUsed) {
  EXPECT_EQ(BindWords({"--abs-tol", "-1"}).status.message(),
            "--abs-tol: expected a number >= 0, got -1");
  EXPECT_EQ(BindWords({"--error-quantile", "y:2"}).status.message(),
            "--error-quantile: expected a number from 0 to 1, got 2");
  EXPECT_EQ(BindWords({"--iterations", "-1"}).status.message(),
            "--iterations: expected a number >= 0, got '-1'");
  EXPECT_TRUE(BindWords({"--iterations", "-1"}, {.lenient = true}).status.ok());
  EXPECT_EQ(BindWords({"--pairs", "a:"}).status.message(),
            "--pairs: expected neighbours, first, all or A:B,..., got 'a:'");
}

// What a program gives is not read again from its text.
TEST(BindOptions, TakesNumbersOfProgramsAsTheyAre) {
  const OptionTable table = RunOptionTable();
  const auto given = [&](std::string_view flag, std::string text, KeyedValue value) {
    return GivenOption{table.Find(flag)->row, flag, {std::move(text)}, 0, {std::move(value)}};
  };
  ParsedArgs args;
  EXPECT_TRUE(AddOption(given("--rtol", "a: 1:0.5", {"a: 1", CastValue{0.5}}), args).ok());
  EXPECT_TRUE(AddOption(given("--seed", "7", {"", CastValue{WideInt{7}}}), args).ok());
  EXPECT_EQ(AddOption(given("--warm-up", "1.5", {"", CastValue{1.5}}), args).message(),
            "argument --warm-up: invalid int value: '1.5'");
  EXPECT_EQ(AddOption({table.Find("--atol")->row, "--atol", {}, 0}, args).message(),
            "argument --atol/--abs-tol: expected at least one argument");
  RunPlan plan;
  ASSERT_TRUE(BindOptions(args, {}, {plan.inputs, *plan.compare}).ok());
  EXPECT_THAT(plan.compare->rtol.entries, ElementsAre(Pair("a: 1", 0.5)));
  EXPECT_EQ(plan.inputs.seed, 7);
}

TEST(GivenField, IsAskedForWithoutTheNameOfAnOption) {
  const OptionTable table = RunOptionTable();
  const std::vector<std::string> words = {
      "m.onnx",        "--inputs",  "x:[1]",         "--inputs", "y:[2]",         "-vv", "-q",
      "--save-record", "kept.json", "--backend-dir", "a",        "--backend-dir", "b"};
  const ParsedArgs args = ParseCommandLine(table, words).args;
  EXPECT_EQ(FlagOf<&FeedWords::shapes>(args), "--inputs");
  EXPECT_THAT(ReadField<&FeedWords::shapes>(args), ElementsAre("y:[2]"));
  EXPECT_FALSE(IsGiven<&FeedWords::dims>(args));
  EXPECT_EQ(FlagOf<&FeedWords::dims>(args), "");
  EXPECT_EQ(ReadField<&InputPlan::seed>(args), InputPlan().seed);
  EXPECT_EQ(ReadField<&SavePlan::record>(args, {.output_dir = "out"}), "out/kept.json");
  EXPECT_THAT(ReadField<&ExecutionPlan::backend_dirs>(args), ElementsAre("a", "b"));
  EXPECT_EQ(FindGiven<&ModelPlan::path>(args)->values.front(), "m.onnx");
  EXPECT_EQ(ReadWords<LogWords>(args).louder, 1);
}

TEST(BindOptions, PutsResultsIntoTheFolderForThem) {
  const SavePlan save =
      BindWords({"--save-outputs", "--save-inputs", "sub/in.npz"}, {.output_dir = "out"}).plan.save;
  EXPECT_EQ(save.outputs, "out/outputs.json");
  EXPECT_EQ(save.inputs, "sub/in.npz");
}

}  // namespace
}  // namespace vernier
