#include "cli/repeated_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cli/command_options.h"

namespace vernier {
namespace {

using testing::HasSubstr;

Status Check(std::vector<std::string> words) {
  words.insert(words.begin(), {"m.onnx", "--onnxrt"});
  const OptionTable table = RunOptionTable();
  const ParseResult parsed = ParseCommandLine(table, words);
  EXPECT_EQ(parsed.end, ParseEnd::kParsed) << parsed.error;
  return CheckRepeatedWords(parsed.args);
}

TEST(RepeatedWords, AListThatReplacesAnotherIsRefused) {
  const Status status = Check({"--input-shapes", "x:[1]", "--input-shapes", "y:[2]"});
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(),
            "--input-shapes: it was given twice, and 'x:[1]' of the first would not be used; give "
            "all its values at once");
  EXPECT_FALSE(Check({"--load-inputs", "a.json", "--load-inputs", "b.json"}).ok());
}

TEST(RepeatedWords, OneThatHoldsAllOfItIsNot) {
  EXPECT_TRUE(Check({"--atol", "y:1", "--atol", "z:1", "y:1"}).ok());
  EXPECT_TRUE(Check({"--trt-min-shapes", "x:[1]", "--trt-min-shapes", "x:[2]"}).ok());
  EXPECT_TRUE(Check({"--seed", "1", "--seed", "2", "-v", "-v"}).ok());
}

TEST(RepeatedWords, OneValueForAName) {
  EXPECT_THAT(Check({"--atol", "y:1", "z:2", "y:3"}).message(),
              HasSubstr("expected one value for 'y', got another in 'y:3'"));
  EXPECT_THAT(Check({"--rtol", "1", "2"}).message(),
              HasSubstr("expected one value for what is not named, got another in '2'"));
  EXPECT_FALSE(Check({"--val-range", "x:[0,1]", "x:[0,2]"}).ok());
  EXPECT_TRUE(Check({"--input-shapes", "x:[1]", "x:[2]"}).ok());
  EXPECT_TRUE(Check({"--check-error-stat", "y:max", "y:mean"}).ok());
  EXPECT_TRUE(Check({"--val-range", "[0,1]", "x:[0,2]"}).ok());
}

}  // namespace
}  // namespace vernier
