#include "decide/gates/worst_iterations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace vernier {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

WorstFlip FlipIn(int64_t iteration, Flip kind) {
  WorstFlip flip;
  flip.iteration = iteration;
  flip.sample.flip = kind;
  flip.sample.first = "invalid";  // on one side
  return flip;
}

DecisionRecord WithFlips(std::vector<WorstFlip> worst) {
  DecisionRecord decision;
  decision.worst = std::move(worst);
  return decision;
}

TEST(WorstIterations, ClearFlipsComeFirstAndNoIterationTwice) {
  const std::vector<DecisionRecord> decisions = {
      WithFlips({FlipIn(7, Flip::kClear), FlipIn(7, Flip::kClear), FlipIn(2, Flip::kNearTie)}),
      WithFlips({FlipIn(5, Flip::kInvalid), FlipIn(1, Flip::kNearTie), FlipIn(9, Flip::kNearTie)})};
  EXPECT_THAT(WorstIterationsOf(decisions, 10), ElementsAre(7, 5, 1, 2, 9));
  EXPECT_THAT(WorstIterationsOf(decisions, 3), ElementsAre(7, 5, 1));
}

TEST(WorstIterations, NanOnOneSideComesBehindClearFlipsAndOnBothNever) {
  WorstFlip both = FlipIn(4, Flip::kInvalid);
  both.sample.second = "invalid";
  const std::vector<DecisionRecord> decisions = {
      WithFlips({both, FlipIn(5, Flip::kInvalid), FlipIn(7, Flip::kClear)})};
  EXPECT_THAT(WorstIterationsOf(decisions, 10), ElementsAre(7, 5));
  const std::vector<DecisionRecord> broken = {WithFlips({both})};
  EXPECT_THAT(WorstIterationsOf(broken, 10), IsEmpty());
}

TEST(WorstIterations, NothingFlipsOrNothingIsWanted) {
  const std::vector<DecisionRecord> none = {WithFlips({})};
  EXPECT_THAT(WorstIterationsOf(none, 4), IsEmpty());
  EXPECT_THAT(WorstIterationsOf({}, 4), IsEmpty());
  const std::vector<DecisionRecord> one = {WithFlips({FlipIn(3, Flip::kClear)})};
  EXPECT_THAT(WorstIterationsOf(one, 0), IsEmpty());
}

}  // namespace
}  // namespace vernier
