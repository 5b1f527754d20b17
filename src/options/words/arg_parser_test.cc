#include "options/words/arg_parser.h"
#include "options/table/command_options.h"

#include <gtest/gtest.h>

#include <fstream>

#include "util/text/split_words.h"

namespace vernier {
namespace {

using Words = std::vector<std::string>;

ParseResult ParseRun(const Words& words) {
  static const OptionTable table = RunOptionTable();
  return ParseCommandLine(table, words);
}

Words List(const ParsedArgs& args, std::string_view dest) {
  const auto list = args.List(dest);
  return {list.begin(), list.end()};
}

struct UsageCase {
  const char* name;
  Words words;
  const char* error;
};

class UsageErrors : public testing::TestWithParam<UsageCase> {};

TEST_P(UsageErrors, AreWordedAsArgparseWordsThem) {
  const ParseResult result = ParseRun(GetParam().words);
  EXPECT_EQ(result.end, ParseEnd::kUsageError);
  EXPECT_EQ(result.error, GetParam().error);
}

INSTANTIATE_TEST_SUITE_P(
    Each, UsageErrors,
    testing::Values(
        UsageCase{"BadInt", {"--seed", "x"}, "argument --seed: invalid int value: 'x'"},
        UsageCase{"FloatForInt", {"--seed=1.0"}, "argument --seed: invalid int value: '1.0'"},
        UsageCase{
            "QuoteInValue", {"--seed", "it's"}, "argument --seed: invalid int value: \"it's\""},
        UsageCase{"BadFloat", {"--quantile", "y"}, "argument --quantile: invalid float value: 'y'"},
        UsageCase{"BadChoice",
                  {"--precision-constraints", "all"},
                  "argument --precision-constraints: invalid choice: 'all' (choose from 'prefer', "
                  "'obey', 'none')"},
        UsageCase{"OneBadChoiceOfMany",
                  {"--log-format", "timestamp", "color"},
                  "argument --log-format: invalid choice: 'color' (choose from 'timestamp', "
                  "'line-info', 'no-colors'); did you mean 'no-colors'?"},
        UsageCase{"MissingValue", {"--seed"}, "argument --seed: expected one argument"},
        UsageCase{
            "FlagInPlaceOfValue", {"--seed", "--trt"}, "argument --seed: expected one argument"},
        UsageCase{"DashesInPlaceOfValue",
                  {"--seed", "--", "5"},
                  "argument --seed: expected one argument"},
        UsageCase{"EmptyList",
                  {"--rtol", "--trt"},
                  "argument --rtol/--rel-tol: expected at least one argument"},
        UsageCase{"ScientificNegative",
                  {"--rtol", "-1e5"},
                  "argument --rtol/--rel-tol: expected at least one argument"},
        UsageCase{"AliasesAreRivals",
                  {"--iter", "3"},
                  "ambiguous option: --iter could match --iterations, --iters"},
        UsageCase{"AmbiguityBeatsEarlierErrors",
                  {"--seed", "x", "--iter=3"},
                  "ambiguous option: --iter=3 could match --iterations, --iters"},
        UsageCase{
            "ValueForASwitch", {"--fp16=1"}, "argument --fp16: ignored explicit argument '1'"},
        UsageCase{
            "EmptyValueForASwitch", {"--fp16="}, "argument --fp16: ignored explicit argument ''"},
        UsageCase{"UnknownLetterAmongSwitches",
                  {"-vx"},
                  "argument -v/--verbose: ignored explicit argument 'x'"},
        UsageCase{"Exclusive",
                  {"--load-inputs", "a", "--data-loader-script", "b"},
                  "argument --data-loader-script: not allowed with argument "
                  "--load-inputs/--load-input-data"},
        UsageCase{"ExclusiveThroughOurAlias",
                  {"--data-loader-script", "b", "--input-file", "a"},
                  "argument --input-file: not allowed with argument --data-loader-script"},
        UsageCase{"Fp32AfterFp16",
                  {"--fp16", "--fp32"},
                  "argument --fp32: not allowed with argument --fp16"},
        UsageCase{"Fp16AfterFp32",
                  {"--fp32", "--fp16"},
                  "argument --fp16: not allowed with argument --fp32"}),
    [](const auto& info) { return info.param.name; });

struct ListCase {
  const char* name;
  Words words;
  const char* dest;
  Words values;
  Words unknown;
};

class Values : public testing::TestWithParam<ListCase> {};

TEST_P(Values, AreTheWordsThatArgparseTakes) {
  const ParseResult result = ParseRun(GetParam().words);
  ASSERT_EQ(result.end, ParseEnd::kParsed) << result.error;
  EXPECT_EQ(List(result.args, GetParam().dest), GetParam().values);
  EXPECT_EQ(result.unknown, GetParam().unknown);
}

INSTANTIATE_TEST_SUITE_P(
    Each, Values,
    testing::Values(
        ListCase{"GreedyListTakesTheModel", {"--inputs", "x:[2]", "m"}, "model_file", {}, {}},
        ListCase{"ModelBeforeTheList", {"m", "--inputs", "x:[2]"}, "model_file", {"m"}, {}},
        ListCase{"ModelAfterARunner", {"--trt", "m", "--seed", "1"}, "model_file", {"m"}, {}},
        ListCase{"OneModelOnly", {"m", "n", "--trt", "o"}, "model_file", {"m"}, {"n", "o"}},
        ListCase{"LastListReplaces", {"--rtol", "1", "2", "--rtol", "3"}, "rtol", {"3"}, {}},
        ListCase{"EqualsEndsAList", {"--rtol=1", "m"}, "rtol", {"1"}, {}},
        ListCase{"EqualsKeepsLaterEquals", {"--rtol=a=b"}, "rtol", {"a=b"}, {}},
        ListCase{"Abbreviation", {"--save-acc", "f"}, "save_accuracy_results_path", {"f"}, {}},
        ListCase{"AbbreviationWithEquals", {"--see=4"}, "seed", {"4"}, {}},
        ListCase{"ExactNameIsNeverAmbiguous", {"--compare", "l2"}, "compare", {"l2"}, {}},
        ListCase{"NegativeNumber", {"--seed", "-5"}, "seed", {"-5"}, {}},
        ListCase{"NegativeFraction", {"--rtol", "-.5", "-2.5"}, "rtol", {"-.5", "-2.5"}, {}},
        ListCase{"NegativeModel", {"-5"}, "model_file", {"-5"}, {}},
        ListCase{"DashIsAValue", {"--gen", "-"}, "gen_script", {"-"}, {}},
        ListCase{"WordWithBlankIsAValue", {"--rtol", "-a b"}, "rtol", {"-a b"}, {}},
        ListCase{"EmptyWordIsAValue", {"--rtol", ""}, "rtol", {""}, {}},
        ListCase{"DashesThenModel", {"--trt", "--", "--seed"}, "model_file", {"--seed"}, {}},
        ListCase{"DashesTwice", {"--", "--"}, "model_file", {"--"}, {}},
        ListCase{
            "DashesAfterTheModel", {"m", "--trt", "--", "n"}, "model_file", {"m"}, {"--", "n"}},
        ListCase{"DashesAsValueVanish", {"--seed=--"}, "seed", {}, {}},
        ListCase{"UnknownFlagThenModel", {"--wat", "m"}, "model_file", {"m"}, {"--wat"}},
        ListCase{
            "UnknownFlagWithValue", {"m", "--wat=1", "2"}, "model_file", {"m"}, {"--wat=1", "2"}},
        ListCase{"EmptyStarList", {"--tactic-sources", "--trt"}, "tactic_sources", {}, {}}),
    [](const auto& info) { return info.param.name; });

TEST(ParseCommandLine, CountsRepeatedAndCombinedSwitches) {
  const ParseResult result = ParseRun({"-vvq", "--verbose", "-v"});
  EXPECT_EQ(result.args.Count("verbose"), 4);
  EXPECT_EQ(result.args.Count("quiet"), 1);
  EXPECT_EQ(result.args.Count("silent"), 0);
}

TEST(ParseCommandLine, KeepsRunnersInOrderWithTheirValues) {
  const ParseResult result =
      ParseRun({"--onnxrt", "m", "--runner", "b=trt --fp16", "--tf", "--onnxrt"});
  ASSERT_EQ(result.end, ParseEnd::kParsed) << result.error;
  const auto runners = result.args.Runners();
  ASSERT_EQ(runners.size(), 4u);
  EXPECT_EQ(runners[0].kind, "onnxrt");
  EXPECT_EQ(runners[1].kind, "runner");
  EXPECT_EQ(runners[1].value, "b=trt --fp16");
  EXPECT_EQ(runners[1].position, 2u);
  EXPECT_EQ(runners[2].kind, "tf");
  EXPECT_EQ(runners[3].kind, "onnxrt");
}

TEST(ParseCommandLine, KeepsEveryOccurrenceOfAppendingFlags) {
  const ParseResult result = ParseRun(
      {"--trt-min-shapes", "x:[1]", "y:[1]", "--trt-min", "x:[2]", "--save-external-data"});
  const auto profiles = result.args.Occurrences("trt_min_shapes");
  ASSERT_EQ(profiles.size(), 2u);
  EXPECT_EQ(profiles[0].size(), 2u);
  EXPECT_EQ(profiles[1][0], "x:[2]");
  EXPECT_TRUE(result.args.IsBare("external_data_path"));
  EXPECT_FALSE(result.args.Value("external_data_path"));
}

TEST(ParseCommandLine, GivesBareFlagsTheirConstant) {
  const ParseResult result = ParseRun({"--save-inputs", "--save-outputs", "--save-input-blob"});
  ASSERT_EQ(result.end, ParseEnd::kParsed) << result.error;
  EXPECT_TRUE(result.args.IsBare("save_inputs_path"));
  EXPECT_EQ(result.args.Value("save_inputs_path"), "inputs.json");
  EXPECT_EQ(result.args.Value("save_outputs_path"), "outputs.json");
  EXPECT_EQ(result.args.Value("save_input_blob_path"), ".");
}

TEST(ParseCommandLine, ReadsNumbers) {
  const ParseResult result =
      ParseRun({"--seed", " 1_000 ", "--quantile", "1e-3", "--iterations", "99999999999999999999"});
  ASSERT_EQ(result.end, ParseEnd::kParsed) << result.error;
  EXPECT_EQ(*result.args.Int("seed"), 1000);
  EXPECT_EQ(*result.args.Int("warm_up"), std::nullopt);
  EXPECT_EQ(result.args.Float("quantile"), 1e-3);
  const auto too_large = result.args.Int("iterations");
  EXPECT_EQ(too_large.status().code(), StatusCode::kInvalidArgument);
  EXPECT_NE(too_large.status().message().find("--iterations"), std::string::npos);
}

TEST(ParseCommandLine, SharesADestBetweenOurNameAndPolygraphy) {
  const ParseResult result = ParseRun({"--warm-up", "1", "--warm-up-runs", "2"});
  EXPECT_EQ(*result.args.Int("warm_up"), 2);
  EXPECT_EQ(result.args.Flag("warm_up"), "--warm-up-runs");
}

TEST(ParseCommandLine, StopsAtHelpUnlessAnErrorCameFirst) {
  EXPECT_EQ(ParseRun({"--help", "--seed", "x"}).end, ParseEnd::kHelp);
  EXPECT_EQ(ParseRun({"-vh"}).end, ParseEnd::kHelp);
  EXPECT_EQ(ParseRun({"--seed", "x", "--help"}).end, ParseEnd::kUsageError);
}

TEST(ParseCommandLine, ResolvesAbbreviationsAmongPolygraphyFlagsFirst) {
  // Exact names of ours work although Polygraphy would call them ambiguous or something else.
  EXPECT_EQ(ParseRun({"--onnx"}).args.Runners().at(0).kind, "onnxref");
  EXPECT_TRUE(ParseRun({"--strict"}).args.Has("strict"));
  // --warm-up-runs, --reference and --workspace are no rivals of Polygraphy's flags.
  EXPECT_EQ(ParseRun({"--warm", "1"}).args.Flag("warm_up"), "--warm-up");
  EXPECT_TRUE(ParseRun({"--ref"}).args.Has("refittable"));
  // Where Polygraphy knows nothing, ours may be shortened, and may be ambiguous.
  EXPECT_EQ(ParseRun({"--output-d", "d"}).args.Value("output_dir"), "d");
  EXPECT_EQ(ParseRun({"--output-", "d"}).error,
            "ambiguous option: --output- could match --output-file, --output-dir");
}

struct PositionalCase {
  const char* name;
  Words words;
  Words first;
  Words second;
  Words unknown;
};

class Positionals : public testing::TestWithParam<PositionalCase> {};

// Two positionals, "first" of exactly one word and "second" of any number, as argparse would fill
// them: "second" is matched, empty, as soon as "first" is.
TEST_P(Positionals, AreFilledAsArgparseFillsThem) {
  static constexpr OptionRow rows[] = {
      {.dest = "first", .arity = Arity::kOne, .help = "h"},
      {.dest = "second", .arity = Arity::kStar, .help = "h"},
      {.flags = {"--flag"}, .dest = "flag", .help = "h"},
  };
  const OptionTable table({OptionGroup{"t", "a", rows}});
  const ParseResult result = ParseCommandLine(table, GetParam().words);
  EXPECT_EQ(List(result.args, "first"), GetParam().first);
  EXPECT_EQ(List(result.args, "second"), GetParam().second);
  EXPECT_EQ(result.unknown, GetParam().unknown);
}

INSTANTIATE_TEST_SUITE_P(
    Each, Positionals,
    testing::Values(PositionalCase{"Together", {"a", "b", "c"}, {"a"}, {"b", "c"}, {}},
                    PositionalCase{"Split", {"a", "--flag", "b"}, {"a"}, {}, {"b"}},
                    PositionalCase{"AfterFlag", {"--flag", "a", "b"}, {"a"}, {"b"}, {}},
                    PositionalCase{"Dashes", {"a", "--", "--flag"}, {"a"}, {"--flag"}, {}}),
    [](const auto& info) { return info.param.name; });

TEST(FoundingCommandLines, AllParseWithoutUnknownWords) {
  std::ifstream file(std::string(VERNIER_CLI_ORACLE_DIR) + "/seed_commands.txt");
  ASSERT_TRUE(file) << "no seed_commands.txt";
  int runs = 0;
  for (std::string line; std::getline(file, line);) {
    Words words = *SplitWords(line);
    const bool is_run = words.front() == "run";
    words.erase(words.begin());
    if (!is_run) continue;  // `convert` has a table of its own
    ++runs;
    const ParseResult result = ParseRun(words);
    EXPECT_EQ(result.end, ParseEnd::kParsed) << line << "\n" << result.error;
    EXPECT_EQ(result.unknown, Words()) << line;
    EXPECT_TRUE(result.args.Has("model_file")) << line;
  }
  EXPECT_GE(runs, 35);
}

}  // namespace
}  // namespace vernier
