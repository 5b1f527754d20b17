#include "run/workers/skipped_outputs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "run/workers/fake_workers.h"

namespace vernier {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing_workers::Floats;

std::vector<std::string> NamesOf(const std::vector<SkippedOutput>& outputs) {
  std::vector<std::string> names;
  for (const SkippedOutput& output : outputs) names.push_back(output.name);
  return names;
}

TEST(SkippedOutputsTest, WhatAModelDoesNotExposeIsNotLost) {
  SkippedOutputs skipped;
  skipped.Begin({{"boxes", "a sequence"}});
  EXPECT_THAT(NamesOf(skipped.all()), ElementsAre("boxes"));
  EXPECT_THAT(skipped.lost(), IsEmpty());
}

TEST(SkippedOutputsTest, EachIsNamedOnce) {
  SkippedOutputs skipped;
  skipped.Begin({{"boxes", "a sequence"}});
  for (int i = 0; i < 2; ++i) skipped.Add({}, {{"boxes", "a sequence"}, {"scores", "a map"}});
  EXPECT_THAT(NamesOf(skipped.all()), ElementsAre("boxes", "scores"));
  EXPECT_THAT(NamesOf(skipped.lost()), ElementsAre("boxes", "scores"));
}

TEST(SkippedOutputsTest, AnOptionalThatHeldATensorIsThere) {
  SkippedOutputs skipped;
  skipped.Begin({{"maybe", "an optional"}});
  skipped.Add({{"maybe", Floats({1}, {1})}}, {});
  EXPECT_THAT(skipped.all(), IsEmpty());
}

}  // namespace
}  // namespace vernier
