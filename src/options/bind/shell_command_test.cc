#include "options/bind/shell_command.h"

#include <gtest/gtest.h>

#include "util/text/shell_words.h"
#include "util/text/split_words.h"

namespace vernier {
namespace {

TEST(QuoteForShellTest, LeavesPlainWordsAlone) {
  for (const char* word : {"--atol", "out:1e-3", "m.onnx", "a/b_c-d.e", "x=1", "@f", "50%"}) {
    EXPECT_EQ(QuoteForShell(word), word);
  }
}

TEST(JoinForShellTest, IsReadBackAsTheSameWords) {
  const std::vector<std::string> words = {
      "vernier", "",     "a b",   "*",           "it's", "\"q\"", "$HOME",
      "`x`",     "a\nb", "[0,1]", "back\\slash", "~",    "#",     "fp16='trt --fp16'"};
  const Result<std::vector<std::string>> read = SplitWords(JoinForShell(words));
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(*read, words);
}

TEST(ReproCommandTest, LeavesTheScriptOut) {
  Invocation invocation;
  for (const char* flag : {"--gen-script", "--gen"}) {
    invocation.words = {"vernier", "run", "m.onnx", flag, "x.sh", "--onnxrt"};
    EXPECT_TRUE(ReproCommand(invocation).ends_with("&& vernier run m.onnx --onnxrt"));
  }
  invocation.words = {"vernier", "run", "--gen-script=x.sh", "m 1.onnx"};
  EXPECT_TRUE(ReproCommand(invocation).ends_with("&& vernier run 'm 1.onnx'"));
}

TEST(ReproCommandTest, WhatNoTerminalShowsIsEscaped) {
  Invocation invocation;
  invocation.words = {"vernier", "run", "m\xff.onnx", "a\nb'\\", "\xc3\xa4.onnx"};
  EXPECT_TRUE(ReproCommand(invocation)
                  .ends_with("&& vernier run $'m\\xff.onnx' $'a\\x0ab\\'\\\\' '\xc3\xa4.onnx'"));
}

}  // namespace
}  // namespace vernier
