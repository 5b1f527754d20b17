#include "io/bytes/text_encoding.h"

#include <gtest/gtest.h>

namespace vernier {
namespace {

std::string ThereAndBack(const std::string& text) {
  std::string again;
  for (size_t position = 0; position < text.size();) {
    AppendCodePoint(again, NextCodePoint(text, position));
  }
  return again;
}

TEST(TextEncoding, KeepsAnyBytes) {
  for (int a = 0; a < 256; ++a) {
    for (int b = 0; b < 256; ++b) {
      const std::string text{'x', static_cast<char>(a), static_cast<char>(b), '\x80', 'y'};
      ASSERT_EQ(ThereAndBack(text), text) << a << " " << b;
    }
  }
}

TEST(TextEncoding, KeepsEveryCodePoint) {
  for (char32_t c = 0; c <= 0x10ffff; ++c) {
    std::string text;
    AppendCodePoint(text, c);
    size_t position = 0;
    ASSERT_EQ(NextCodePoint(text, position), c);
    ASSERT_EQ(position, text.size());
  }
}

TEST(TextEncoding, TellsValidUtf8) {
  EXPECT_EQ(ValidUtf8Prefix("a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"), 10u);
  for (const char* bad : {"a\xff", "a\xc0\x80", "a\xe0\x80\x80", "a\xed\xa0\x80",
                          "a\xf4\x90\x80\x80", "a\xe2\x82", "a\x80", "a\xf0\x9f\x98"}) {
    EXPECT_EQ(ValidUtf8Prefix(bad), 1u) << bad;
  }
}

}  // namespace
}  // namespace vernier
