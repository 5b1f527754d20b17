#include "util/text/escape_codes.h"

#include <gtest/gtest.h>

namespace vernier {
namespace {

std::string StrippedOf(std::string_view text) { return EscapeFilter().Strip(text); }

TEST(EscapeFilter, TakesCodesOut) {
  EXPECT_EQ(StrippedOf("\x1b[0;93m2026 [W:onnxruntime:, a.cc:1] b\x1b[m\n"),
            "2026 [W:onnxruntime:, a.cc:1] b\n");
  EXPECT_EQ(StrippedOf("\x1b]0;a title\x07text\x1b]8;;x\x1b\\link"), "textlink");
  EXPECT_EQ(StrippedOf("\x1b(Ba\x1b=b\x1b[2Kc"), "abc");
  EXPECT_EQ(StrippedOf("50 %\r100 %\ta\n"), "50 %\r100 %\ta\n");
  EXPECT_EQ(StrippedOf("caf\xc3\xa9 [0m"), "caf\xc3\xa9 [0m");
}

TEST(EscapeFilter, TakesThemOutInPieces) {
  const std::string_view text = "a\x1b[1;31mb\x1b]0;t\x1b\\c\x1b[0md";
  for (size_t cut = 0; cut <= text.size(); ++cut) {
    EscapeFilter filter;
    const std::string first = filter.Strip(text.substr(0, cut));
    EXPECT_EQ(first + filter.Strip(text.substr(cut)), "abcd") << cut;
  }
}

TEST(EscapeFilter, ABrokenOneEndsWithItsLine) {
  EXPECT_EQ(StrippedOf("\x1b[1;\nnext"), "\nnext");
  EXPECT_EQ(StrippedOf("\x1b]0;title\nnext"), "\nnext");
  EXPECT_EQ(StrippedOf("\x1b\nnext"), "\nnext");
}

}  // namespace
}  // namespace vernier
