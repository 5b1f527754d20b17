#include "util/text/visible_text.h"

#include <gtest/gtest.h>

namespace vernier {
namespace {

TEST(VisibleLine, StaysOneLine) {
  EXPECT_EQ(VisibleLine("a\nb\r\x1b[31m\tc"), "a\\x0ab\\x0d\\x1b[31m\tc");
  EXPECT_EQ(VisibleLine("caf\xe9 \u00e9\u202e"), "caf\\xe9 \u00e9\\u202e");
}

}  // namespace
}  // namespace vernier
