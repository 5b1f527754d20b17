#include "options/words/repeated_words.h"
#include "options/table/command_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace vernier {
namespace {

using testing::HasSubstr;

Status CheckRepeats(std::vector<std::string> words) {
  words.insert(words.begin(), {"m.onnx", "--onnxrt"});
  const OptionTable table = RunOptionTable();
  const ParseResult parsed = ParseCommandLine(table, words);
  EXPECT_EQ(parsed.end, ParseEnd::kParsed) << parsed.error;
  return CheckRepeatedWords(parsed.args);
}

TEST(RepeatedWords, AListThatReplacesAnotherIsRefused) {
  const Status status = CheckRepeats({"--input-shapes", "x:[1]", "--input-shapes", "y:[2]"});
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(),
            "--input-shapes: it was given twice, and 'x:[1]' of the first would not be used; give "
            "all its values at once");
  EXPECT_FALSE(CheckRepeats({"--load-inputs", "a.json", "--load-inputs", "b.json"}).ok());
}

TEST(RepeatedWords, OneThatHoldsAllOfItIsNot) {
  EXPECT_TRUE(CheckRepeats({"--atol", "y:1", "--atol", "z:1", "y:1"}).ok());
  EXPECT_TRUE(CheckRepeats({"--trt-min-shapes", "x:[1]", "--trt-min-shapes", "x:[2]"}).ok());
  EXPECT_TRUE(CheckRepeats({"--seed", "1", "--seed", "2", "-v", "-v"}).ok());
}

TEST(RepeatedWords, APlaceThatReplacesAnotherIsRefused) {
  EXPECT_EQ(CheckRepeats({"--save-outputs", "a.npz", "--save-outputs", "b.npz"}).message(),
            "--save-outputs: it was given twice, and 'a.npz' of the first would not be used; give "
            "it once");
  EXPECT_FALSE(CheckRepeats({"--save-record", "a.json", "--save-record", "b.json"}).ok());
  EXPECT_TRUE(CheckRepeats({"--save-record", "a.json", "--save-record", "a.json"}).ok());
  EXPECT_FALSE(CheckRepeats({"--calibration-cache", "a", "--calibration-cache", "b"}).ok());
  EXPECT_FALSE(CheckRepeats({"--bundle", "a", "--bundle", "b"}).ok());
  EXPECT_TRUE(CheckRepeats({"--report", "a.md", "--report", "b.md"}).ok());
}

TEST(RepeatedWords, AGateThatReplacesAnotherIsRefused) {
  EXPECT_EQ(CheckRepeats({"--max-clear-flips", "0", "--max-clear-flips", "99"}).message(),
            "--max-clear-flips: it was given twice, and '0' of the first would not be used; give "
            "it once");
  EXPECT_FALSE(CheckRepeats({"--judge", "both", "--judge", "elements"}).ok());
  EXPECT_TRUE(CheckRepeats({"--near-tie", "1", "--near-tie", "1"}).ok());
}

TEST(RepeatedWords, AValueThatReplacesAnotherIsReported) {
  const std::vector<std::string> words = {
      "m.onnx", "--onnxrt", "--seed", "1", "--iterations", "3", "--seed", "2", "--iterations", "3"};
  const OptionTable table = RunOptionTable();
  EXPECT_THAT(RepeatedValueWarnings(ParseCommandLine(table, words).args),
              testing::ElementsAre("--seed: given twice; 2 counts"));
}

TEST(RepeatedWords, OneValueForAName) {
  EXPECT_THAT(CheckRepeats({"--atol", "y:1", "z:2", "y:3"}).message(),
              HasSubstr("--atol: 'y:3' is a second value for 'y'; give one"));
  EXPECT_THAT(CheckRepeats({"--rtol", "1", "2"}).message(),
              HasSubstr("--rtol: '2' is a second value without a name; give one, or NAME:VALUE"));
  EXPECT_FALSE(CheckRepeats({"--val-range", "x:[0,1]", "x:[0,2]"}).ok());
  EXPECT_TRUE(CheckRepeats({"--input-shapes", "x:[1]", "x:[2]"}).ok());
  EXPECT_TRUE(CheckRepeats({"--check-error-stat", "y:max", "y:mean"}).ok());
  EXPECT_TRUE(CheckRepeats({"--val-range", "[0,1]", "x:[0,2]"}).ok());
}

}  // namespace
}  // namespace vernier
