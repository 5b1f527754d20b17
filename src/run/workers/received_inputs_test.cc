#include "run/workers/received_inputs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace vernier {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

TEST(ReceivedInputsTest, AHashHasSixteenDigits) {
  EXPECT_EQ(HexadecimalHash(0x1f), "000000000000001f");
}

TEST(ReceivedInputsTest, NothingCountsUnlessItWasAskedFor) {
  ReceivedInputs received;
  received.Add({{"x", 7}}, 0);
  EXPECT_THAT(received.last(), ElementsAre(Pair("x", 7)));
  EXPECT_FALSE(received.All().has_value());
  received.TakeOver({{"x", 8}});
  EXPECT_THAT(received.last(), IsEmpty());
}

TEST(ReceivedInputsTest, WarmUpsDoNotCount) {
  ReceivedInputs received;
  received.Count(true);
  received.Add({{"x", 6}}, -1);
  EXPECT_FALSE(received.All().has_value());
  received.Add({{"x", 7}}, 0);
  received.Add({{"x", 8}}, 1);
  EXPECT_EQ(received.All()->iterations, 2);
  EXPECT_THAT(received.All()->first, ElementsAre(Pair("x", HexadecimalHash(7))));
}

TEST(ReceivedInputsTest, WhatIsForgottenIsAsIfItHadNotBeen) {
  ReceivedInputs received, other;
  received.Count(true);
  other.Count(true);
  received.Add({{"x", 6}}, 0);
  received.Forget();
  for (ReceivedInputs* const both : {&received, &other}) both->Add({{"x", 7}}, 0);
  EXPECT_EQ(received.All()->all, other.All()->all);
  EXPECT_EQ(received.All()->first, other.All()->first);
}

}  // namespace
}  // namespace vernier
