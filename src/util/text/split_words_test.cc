#include "util/text/split_words.h"

#include <gtest/gtest.h>

namespace vernier {
namespace {

struct SplitCase {
  const char* text;
  std::vector<std::string> words;
};

// Expected values are those of Python's shlex.split.
TEST(SplitWords, FollowsAPosixShell) {
  const SplitCase cases[] = {
      {"", {}},
      {"  ", {}},
      {"trt --fp16", {"trt", "--fp16"}},
      {" a\t b\n", {"a", "b"}},
      {"'a b' \"c d\"", {"a b", "c d"}},
      {"a'b'\"c\"", {"abc"}},
      {"mark\\ all", {"mark all"}},
      {"'' \"\"", {"", ""}},
      {"'a\\b' \"a\\b\" \"a\\\"b\"", {"a\\b", "a\\b", "a\"b"}},
      {"x:[1,2] 'it'\\''s'", {"x:[1,2]", "it's"}},
  };
  for (const SplitCase& c : cases) EXPECT_EQ(*SplitWords(c.text), c.words) << c.text;
}

TEST(SplitWords, RefusesOpenQuotes) {
  for (const char* text : {"'a", "\"a", "a\\", "\"a\\"}) {
    EXPECT_EQ(SplitWords(text).status().code(), StatusCode::kInvalidArgument) << text;
  }
}

}  // namespace
}  // namespace vernier
