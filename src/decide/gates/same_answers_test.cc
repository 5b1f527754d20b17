#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "decide/gates/decision_fold.h"

namespace vernier {
namespace {

// Why agreement of samples whose reference decided so shows nothing.
std::string VacuousOf(const std::string& kind, const std::vector<std::string>& decided) {
  DecisionFold fold("y", kind, 0);
  for (const std::string& text : decided) {
    DecisionSample sample;
    sample.first = sample.second = text;
    sample.first_margin = sample.second_margin = 1;
    fold.Add(0, 0, {sample});
  }
  return fold.Record().vacuous;
}

TEST(DecisionFold, AgreementAboutAnswersThatNeverVaryShowsNothing) {
  constexpr const char* kWhy = "the reference decides the same in all 3 samples";
  for (const char* const kind : {"top1", "top1,axis=1", "rank=2", "argmax", "sign"}) {
    EXPECT_EQ(VacuousOf(kind, {"2", "2", "2"}), kWhy) << kind;
    EXPECT_EQ(VacuousOf(kind, {"2", "2", "3"}), "") << kind;
    EXPECT_EQ(VacuousOf(kind, {"2"}), "") << kind << ": a single sample says nothing of others";
  }
  EXPECT_EQ(VacuousOf("regression=1", {"1", "1", "1"}), "");
}

TEST(DecisionFold, WhatATextDoesNotShowMayVary) {
  EXPECT_EQ(VacuousOf("top70", {"0 1 +68 more", "0 1 +68 more"}), "");
  EXPECT_EQ(VacuousOf("top1", {"invalid", "invalid"}), "");
  EXPECT_EQ(VacuousOf("argmax", {"0:5 1:7", "0:5 1:7"}), "") << "elsewhere, perhaps";
  EXPECT_EQ(VacuousOf("argmax", {"4:12", "4:20"}),
            "the reference decides the same in all 2 samples");
}

TEST(DecisionFold, TheReferenceIsWhatCounts) {
  DecisionFold fold("y", "top1", 0);
  DecisionSample sample;
  sample.first = "2";
  for (const char* const other : {"2", "3"}) {
    sample.second = other;
    sample.flip = sample.first == other ? Flip::kNone : Flip::kClear;
    sample.first_margin = 1;
    fold.Add(0, 0, {sample});
  }
  EXPECT_NE(fold.Record().vacuous, "");
}

}  // namespace
}  // namespace vernier
