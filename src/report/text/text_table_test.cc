#include "report/text/text_table.h"

#include <gtest/gtest.h>

namespace vernier {
namespace {

TEST(FormatTable, NumbersStandToTheRightAndLinesEndWithoutBlanks) {
  EXPECT_EQ(FormatTable({{"name", "size", "note"}, {"a", "10", ""}, {"long name"}},
                        {.indent = 1, .gap = 2, .first_number = 1, .end_number = 2}),
            " name       size  note\n"
            " a            10\n"
            " long name\n");
}

TEST(FormatTable, WidthsAreThoseOfCharacters) {
  EXPECT_EQ(FormatTable({{"größe", "1"}, {"y", "2"}, {"κ = 2.5", "3"}}),
            "  größe    1\n"
            "  y        2\n"
            "  κ = 2.5  3\n");
}

TEST(FormatTable, NoRowsAreNoText) { EXPECT_EQ(FormatTable({}), ""); }

}  // namespace
}  // namespace vernier
