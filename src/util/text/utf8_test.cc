#include "util/text/utf8.h"

#include <gtest/gtest.h>

#include <string>

namespace vernier {
namespace {

const std::string kLost = "\xef\xbf\xbd";

TEST(Utf8, ValidTextStaysAsItIs) {
  for (const std::string text : {"", "conv1", "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"}) {
    EXPECT_EQ(ReplaceInvalidUtf8(text), text);
  }
}

TEST(Utf8, BytesThatAreNoCharactersAreReplaced) {
  EXPECT_EQ(ReplaceInvalidUtf8("caf\xe9 1"), "caf" + kLost + " 1");
  EXPECT_EQ(ReplaceInvalidUtf8("\xe2\x82"), kLost + kLost);
  // Overlong, and a surrogate.
  EXPECT_EQ(ReplaceInvalidUtf8("\xc0\xaf"), kLost + kLost);
  EXPECT_EQ(ReplaceInvalidUtf8("\xed\xa0\x80"), kLost + kLost + kLost);
}

}  // namespace
}  // namespace vernier
