#include "run/lanes/received_bytes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace vernier {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(ReceivedBytes, TheSameBytesAreNoDifference) {
  ReceivedBytes bytes;
  EXPECT_THAT(bytes.Compare("a", 0, {{"x", 1}, {"z", 2}}), IsEmpty());
  EXPECT_THAT(bytes.Compare("b", 0, {{"x", 1}, {"z", 2}}), IsEmpty());
}

TEST(ReceivedBytes, OtherBytesAreNamed) {
  ReceivedBytes bytes;
  EXPECT_THAT(bytes.Compare("a", 3, {{"x", 1}, {"z", 2}}), IsEmpty());
  EXPECT_THAT(bytes.Compare("b", 3, {{"x", 1}, {"z", 7}}),
              ElementsAre("b received other bytes for input 'z' than a in iteration 3, though both "
                          "were sent the same"));
}

TEST(ReceivedBytes, IterationsAreComparedByThemselves) {
  ReceivedBytes bytes;
  EXPECT_THAT(bytes.Compare("a", 0, {{"x", 1}}), IsEmpty());
  EXPECT_THAT(bytes.Compare("a", 1, {{"x", 5}}), IsEmpty());
  EXPECT_THAT(bytes.Compare("b", 1, {{"x", 5}}), IsEmpty());
}

TEST(ReceivedBytes, WhoTellsNothingIsNotTheFirst) {
  ReceivedBytes bytes;
  EXPECT_THAT(bytes.Compare("a", 0, {}), IsEmpty());
  EXPECT_THAT(bytes.Compare("b", 0, {{"x", 1}}), IsEmpty());
  EXPECT_EQ(bytes.Compare("c", 0, {{"x", 2}}).size(), 1u);
}

}  // namespace
}  // namespace vernier
