#include "backend/worker/stderr_relay.h"

#include <stdlib.h>
#include <unistd.h>

#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace vernier {
namespace {

TEST(LastLines, AreTheLastOnesInOrder) {
  EXPECT_EQ(LastLines("a\nb\nc\n", 2, 80), "b\nc");
  EXPECT_EQ(LastLines("a\nb\nc", 5, 80), "a\nb\nc");
  EXPECT_EQ(LastLines("", 5, 80), "");
  EXPECT_EQ(LastLines("\n\n", 5, 80), "");
  EXPECT_EQ(LastLines("\n\na\n\nb\n\n\n", 9, 80), "a\n\nb");
}

TEST(LastLines, AreFitForAMessage) {
  EXPECT_EQ(LastLines("12345678\n", 5, 3), "...678");
  EXPECT_EQ(LastLines("a\tb\x1b[31m\n", 5, 80), "a b?[31m");
  EXPECT_EQ(LastLines("10 %\r50 %\r100 %\r\nend\r\n", 5, 80), "100 %\nend");
  EXPECT_EQ(LastLines("caf\xc3\xa9 \xff\xc3", 5, 80), "caf\xc3\xa9 ??");
  // A character that was cut in two.
  EXPECT_EQ(LastLines("\xc3\xa9z", 5, 2), "...?z");
}

TEST(StderrRelay, PassesOnAndRemembersTheEnd) {
  ::testing::internal::CaptureStderr();
  Result<std::unique_ptr<StderrRelay>> relay = StderrRelay::Start();
  ASSERT_TRUE(relay.ok());
  const std::string flood(300'000, 'f');
  for (std::string_view text : {std::string_view(flood), std::string_view("\nlast words\n")}) {
    while (!text.empty()) {
      const ssize_t count = ::write((*relay)->write_end(), text.data(), text.size());
      ASSERT_GT(count, 0);
      text.remove_prefix(static_cast<size_t>(count));
    }
  }
  // The other end is still open, as where a process was left behind.
  const std::string last = (*relay)->Stop();
  EXPECT_TRUE(last.ends_with("f\nlast words")) << last;
  EXPECT_EQ((*relay)->Stop(), last);
  const std::string passed = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(passed.size(), flood.size() + 12);
  EXPECT_TRUE(passed.ends_with("f\nlast words\n"));
}

TEST(StderrRelay, KeepsWhatNobodyWantsToSeeForWhoeverAsks) {
  ::testing::internal::CaptureStderr();
  Result<std::unique_ptr<StderrRelay>> relay = StderrRelay::Start(RelayRule::kKeep);
  ASSERT_TRUE(relay.ok());
  const auto say = [&](std::string_view text) {
    return ::write((*relay)->write_end(), text.data(), text.size());
  };
  ASSERT_EQ(say("\x1b[0;93mone\x1b[m\ntwo\n"), 18);
  EXPECT_EQ((*relay)->TakeKept(), "one\ntwo");
  EXPECT_EQ((*relay)->TakeKept(), "");
  ASSERT_EQ(say("three\n"), 6);
  EXPECT_EQ((*relay)->Stop(), "three");
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

TEST(StderrRelay, PassesNoEscapeCodesOnWhereThereIsNoTerminal) {
  ::testing::internal::CaptureStderr();
  Result<std::unique_ptr<StderrRelay>> relay = StderrRelay::Start(RelayRule::kPassOnPlainly);
  ASSERT_TRUE(relay.ok());
  ASSERT_EQ(::write((*relay)->write_end(), "\x1b[0;93mone\x1b[m\n", 14), 14);
  EXPECT_EQ((*relay)->TakeKept(), "");
  EXPECT_EQ((*relay)->Stop(), "one");
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "one\n");
}

// A name that a framework quotes may hold line breaks, and may come in pieces.
TEST(StderrRelay, CommandsNoWorkflow) {
  ::setenv("GITHUB_ACTIONS", "true", 1);
  ::testing::internal::CaptureStderr();
  {
    Result<std::unique_ptr<StderrRelay>> relay = StderrRelay::Start();
    ASSERT_TRUE(relay.ok());
    for (const std::string_view piece : {"node 'a\n", " :", ":error::x'\n::deb", "ug::y\nend"}) {
      ASSERT_EQ(::write((*relay)->write_end(), piece.data(), piece.size()),
                static_cast<ssize_t>(piece.size()));
    }
    EXPECT_EQ((*relay)->Stop(), "node 'a\n ::error::x'\n::debug::y\nend");
  }
  ::unsetenv("GITHUB_ACTIONS");
  EXPECT_EQ(::testing::internal::GetCapturedStderr(),
            "node 'a\n \\x3a:error::x'\n\\x3a:debug::y\nend");
}

}  // namespace
}  // namespace vernier
