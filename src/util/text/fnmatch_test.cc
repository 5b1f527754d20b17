#include "util/text/fnmatch.h"

#include <gtest/gtest.h>

#include <string>

namespace vernier {
namespace {

struct PatternCase {
  const char* name;
  const char* pattern;
  const char* text;
  bool matches;
};

class FnmatchTest : public testing::TestWithParam<PatternCase> {};

TEST_P(FnmatchTest, IsPythons) {
  EXPECT_EQ(MatchesPattern(GetParam().text, GetParam().pattern), GetParam().matches);
}

INSTANTIATE_TEST_SUITE_P(Patterns, FnmatchTest,
                         testing::Values(PatternCase{"Literal", "conv_1", "conv_1", true},
                                         PatternCase{"WholeText", "conv", "conv_1", false},
                                         PatternCase{"CaseMatters", "Conv", "conv", false},
                                         PatternCase{"StarIsEmptyToo", "a*b", "ab", true},
                                         PatternCase{"StarBacktracks", "*ab*abc", "abxababc", true},
                                         PatternCase{"StarCrossesSlashes", "a*c", "a/b/c", true},
                                         PatternCase{"QuestionMarkIsOne", "a?c", "ac", false},
                                         PatternCase{"QuestionMarkIsACodePoint", "a?c",
                                                     "a\xc3\xa9"
                                                     "c",
                                                     true},
                                         PatternCase{"Set", "x[abc]", "xb", true},
                                         PatternCase{"Range", "x[a-c]", "xb", true},
                                         PatternCase{"BackwardRange", "x[c-a]", "xb", false},
                                         PatternCase{"NegatedBackwardRange", "x[!c-a]", "xb", true},
                                         PatternCase{"Negated", "x[!a]", "xa", false},
                                         PatternCase{"ClosingBracketFirst", "x[]]", "x]", true},
                                         PatternCase{"NeverClosed", "x[a", "x[a", true},
                                         PatternCase{"CaretIsNoNegation", "x[^a]", "xa", true},
                                         PatternCase{"BackslashIsItself", "a\\*", "a\\b", true},
                                         PatternCase{"EmptyPattern", "", "", true},
                                         PatternCase{"EmptyPatternOnly", "", "a", false}),
                         [](const auto& info) { return info.param.name; });

TEST(FnmatchTimeTest, ManyStarsAreNotExponential) {
  std::string pattern;
  for (int i = 0; i < 50; ++i) pattern += "*a";
  EXPECT_FALSE(MatchesPattern(std::string(2000, 'a') + "b", pattern));
}

}  // namespace
}  // namespace vernier
