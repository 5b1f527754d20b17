#include "util/process/program_output.h"

#include <gtest/gtest.h>

#include <string>

namespace vernier {
namespace {

TEST(ProgramOutput, KeepsBothStreamsAndTheExitCode) {
  const auto output = RunProgram({"/bin/sh", "-c", "echo said; echo complained >&2; exit 3"}, 30);
  ASSERT_TRUE(output.ok());
  EXPECT_EQ(output->out, "said\n");
  EXPECT_EQ(output->err, "complained\n");
  EXPECT_EQ(output->exit_code, 3);
}

TEST(ProgramOutput, MoreThanAPipeHoldsArrives) {
  const auto output = RunProgram({"/bin/sh", "-c", "head -c 300000 /dev/zero"}, 30);
  ASSERT_TRUE(output.ok());
  EXPECT_EQ(output->out.size(), 300000u);
}

TEST(ProgramOutput, ASignalIsToldAsShellsDo) {
  const auto output = RunProgram({"/bin/sh", "-c", "kill -SEGV $$"}, 30);
  ASSERT_TRUE(output.ok());
  EXPECT_EQ(output->exit_code, 128 + 11);
}

TEST(ProgramOutput, WhatHangsIsKilledWithItsChildren) {
  const auto output = RunProgram({"/bin/sh", "-c", "sleep 1000 & sleep 1000"}, 0.3);
  ASSERT_FALSE(output.ok());
  EXPECT_EQ(output.status().code(), StatusCode::kBackend);
  EXPECT_NE(output.status().message().find("did not end within"), std::string::npos);
}

TEST(ProgramOutput, WhatIsNotThereIsTold) {
  const auto output = RunProgram({"/nowhere/program"}, 1);
  ASSERT_FALSE(output.ok());
  EXPECT_NE(output.status().message().find("'/nowhere/program'"), std::string::npos);
}

}  // namespace
}  // namespace vernier
