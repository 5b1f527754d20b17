#include "util/log/workflow_commands.h"

#include <gtest/gtest.h>

namespace vernier {
namespace {

struct CommandCase {
  const char* line;
  const char* broken;
};

class Commands : public testing::TestWithParam<CommandCase> {};

TEST_P(Commands, AreNoneAnyMore) {
  EXPECT_EQ(WithoutWorkflowCommands(GetParam().line), GetParam().broken);
}

INSTANTIATE_TEST_SUITE_P(
    Lines, Commands,
    testing::Values(CommandCase{"::error::x", "\\x3a:error::x"},
                    CommandCase{"a\n \t::stop-commands::t\nb", "a\n \t\\x3a:stop-commands::t\nb"},
                    CommandCase{"\u2003\u00a0::debug::", "\u2003\u00a0\\x3a:debug::"},
                    CommandCase{"x ##[error]y ##[set-env z", "x ##\\x5berror]y ##\\x5bset-env z"},
                    // What only looks alike stays: C++ names, and a colon by itself.
                    CommandCase{"a::b", "a::b"}, CommandCase{" : ::x", " : ::x"},
                    CommandCase{"a\r::debug::", "a\r\\x3a:debug::"}, CommandCase{"", ""},
                    CommandCase{"\n", "\n"}));

}  // namespace
}  // namespace vernier
