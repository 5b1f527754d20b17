#include "util/text/cast_grammar.h"

#include <gtest/gtest.h>

namespace vernier {
namespace {

TEST(CastGrammar, ReadsWordsAsPolygraphy) {
  const std::pair<const char*, const char*> cases[] = {
      {"1", "1"},
      {" -5 ", "-5"},
      {"1_000", "1000"},
      {"0.0", "0.0"},
      {"1e-3", "0.001"},
      {"inf", "inf"},
      {"-inf", "-inf"},
      {"nan", "nan"},
      {"word", "'word'"},
      {"'\"word\"'", "'word'"},
      {"1,5", "'1,5'"},
      {"", "''"},
      {"[]", "['']"},
      {"[1,]", "[1, '']"},
      {"0,1]", "[0, 1]"},
      {"[[0,1", "[0, 1]"},
      {"[a, 2.5]", "['a', 2.5]"},
      {"[0,[1]]", "[0, [1]]"},
      {"18446744073709551615", "18446744073709551615"},
      {"-170141183460469231731687303715884105728", "-170141183460469231731687303715884105728"},
  };
  for (const auto& [word, repr] : cases) {
    EXPECT_EQ(FormatCastValue(ParseCastValue(word)), repr) << word;
  }
}

TEST(CastGrammar, EndsDeepNestingInAString) {
  std::string word;
  for (int i = 0; i < 100000; ++i) word += "[ ";
  EXPECT_NE(FormatCastValue(ParseCastValue(word)).find('\''), std::string::npos);
}

TEST(CastGrammar, SplitsAtTheLastColon) {
  const std::vector<std::string> words = {"input:0:1e-3", "0.5", "out:0", "input:0:2"};
  const auto values = ParseKeyedValues(words);
  ASSERT_TRUE(values.ok());
  ASSERT_EQ(values->size(), 3u);
  EXPECT_EQ((*values)[0].key, "input:0");
  EXPECT_EQ(AsDouble((*values)[0].value), 2.0);
  EXPECT_EQ((*values)[1].key, "");
  EXPECT_EQ((*values)[2].key, "out");
  EXPECT_EQ(AsInt64((*values)[2].value), 0);
}

TEST(CastGrammar, RefusesEmptyKeysWhereTheyHaveNoMeaning) {
  const std::vector<std::string> words = {"5"};
  EXPECT_EQ(ParseKeyedValues(words, {.allow_empty_key = false}).status().message(),
            "Could not parse argument: 5. Expected an argument in the format: `key:value`.");
}

TEST(CastGrammar, ReadsBareWordsAsKeysWhereAsked) {
  const std::vector<std::string> words = {"script.py"};
  const auto values = ParseKeyedValues(words, {.bare_word_is_value = false});
  EXPECT_EQ((*values)[0].key, "script.py");
}

TEST(ByteCounts, ReadPolygraphyGrammar) {
  const std::pair<const char*, int64_t> cases[] = {
      {"16", 16},   {"1e9", 1000000000}, {"2M", 2097152},      {"2.3m", 2411724}, {"4.3K", 4403},
      {"7k", 7168}, {"1G", 1073741824},  {"2.5g", 2684354560}, {"4kK", 4096},     {"-1", -1},
  };
  for (const auto& [word, count] : cases) {
    const auto parsed = ParseByteCount(word);
    ASSERT_TRUE(parsed.ok()) << word;
    EXPECT_EQ(*parsed, count) << word;
  }
}

TEST(ByteCounts, RefuseEverythingElse) {
  for (const char* word :
       {"hi", "4.5x", "2.3.4", "", "K", "inf", "nan", "1e300", "9223372036854775808"}) {
    EXPECT_EQ(ParseByteCount(word).status().code(), StatusCode::kInvalidArgument) << word;
  }
}

}  // namespace
}  // namespace vernier
