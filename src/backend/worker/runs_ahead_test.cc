// Runs that a worker was sent before they were asked for, and the answers that came too early.
#include "backend/worker/runs_ahead.h"

#include <gtest/gtest.h>

namespace vernier {
namespace {

Frame AnswerOf(uint32_t type) {
  Frame frame;
  frame.type = type;
  return frame;
}

TEST(RunsAhead, AreAskedForInTheOrderInWhichTheyWereSent) {
  RunsAhead ahead;
  EXPECT_FALSE(ahead.IsNextOf(1));
  ahead.Add(1);
  ahead.Add(2);
  EXPECT_EQ(ahead.size(), 2u);
  EXPECT_TRUE(ahead.IsNextOf(1));
  EXPECT_FALSE(ahead.IsNextOf(2));
  EXPECT_FALSE(ahead.TakeNext().has_value());
  EXPECT_TRUE(ahead.IsNextOf(2));
  EXPECT_EQ(ahead.size(), 1u);
}

TEST(RunsAhead, AnswersThatCameEarlyBelongToTheFirst) {
  RunsAhead ahead;
  for (int i = 0; i < 3; ++i) ahead.Add(1);
  ahead.Keep(AnswerOf(10));
  ahead.Keep(AnswerOf(11));
  EXPECT_EQ(ahead.unanswered(), 1u);
  EXPECT_EQ(ahead.TakeNext()->type, 10u);
  ahead.Add(1);
  EXPECT_EQ(ahead.unanswered(), 2u);
  EXPECT_EQ(ahead.TakeNext()->type, 11u);
  EXPECT_FALSE(ahead.TakeNext().has_value());
  ahead.Keep(AnswerOf(13));
  EXPECT_EQ(ahead.unanswered(), 0u);
  EXPECT_EQ(ahead.TakeNext()->type, 13u);
}

}  // namespace
}  // namespace vernier
