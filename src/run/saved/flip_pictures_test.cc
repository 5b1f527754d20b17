#include "run/saved/flip_pictures.h"

#include <gmock/gmock.h>

#include <span>
#include <utility>
#include <vector>

namespace vernier {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::StartsWith;

RunPlan PlanOfFlips(int64_t worst_flips) {
  RunPlan plan;
  plan.decisions.decisions.push_back(*ParseDecision("top1"));
  plan.decisions.worst_flips = worst_flips;
  plan.save.record = "r.json";
  return plan;
}

// Images of 16 x 16 in one channel, and a number for each.
TensorMap FeedOfImages(int64_t images) {
  const std::vector<uint8_t> pixels(static_cast<size_t>(images * 256), 7);
  const std::vector<uint8_t> numbers(static_cast<size_t>(images));
  TensorMap feed;
  feed.push_back({"image", *Tensor::Copy(DType::kUint8, {images, 1, 16, 16},
                                         std::as_bytes(std::span(pixels)))});
  feed.push_back(
      {"size", *Tensor::Copy(DType::kUint8, {images}, std::as_bytes(std::span(numbers)))});
  return feed;
}

WorstFlip FlipOf(int64_t iteration, int64_t row, int64_t rows) {
  WorstFlip flip;
  flip.iteration = iteration;
  flip.row = row;
  flip.rows = rows;
  return flip;
}

RunRecord RecordOfFlips(std::vector<std::vector<WorstFlip>> decisions) {
  RunRecord run;
  PairRecord& pair = run.pairs.emplace_back();
  for (std::vector<WorstFlip>& worst : decisions)
    pair.decisions.emplace_back().worst = std::move(worst);
  return run;
}

// Every iteration's flips in turn, all of which stay among the worst.
FlipPictures KeptPictures(const RunPlan& plan, const RunRecord& run, int64_t images) {
  FlipPictures pictures(plan);
  std::vector<const WorstFlip*> worst;
  for (const DecisionRecord& decision : run.pairs[0].decisions) {
    for (const WorstFlip& flip : decision.worst) {
      worst.push_back(&flip);
      pictures.Keep(flip.iteration, pictures.ImagesOf(FeedOfImages(images)), worst);
    }
  }
  return pictures;
}

TEST(FlipPictures, ShowEachImageOnceWhateverFlipsOnIt) {
  RunRecord run = RecordOfFlips({{FlipOf(3, 1, 2), FlipOf(3, 0, 2)}, {FlipOf(3, 1, 2)}});
  ASSERT_TRUE(KeptPictures(PlanOfFlips(16), run, 2).AddTo(run).ok());
  ASSERT_EQ(run.flip_pictures.size(), 2U);
  EXPECT_EQ(run.flip_pictures[0].iteration, 3);
  EXPECT_EQ(run.flip_pictures[0].image, 1);
  EXPECT_EQ(run.flip_pictures[0].input, "image");
  EXPECT_EQ(run.flip_pictures[0].how, "uint8, NCHW, gray, values are 0 to 255");
  EXPECT_THAT(run.flip_pictures[0].png, StartsWith("iVBORw0KGgo"));
  const std::vector<DecisionRecord>& decisions = run.pairs[0].decisions;
  EXPECT_THAT(decisions[0].worst[0].pictures, ElementsAre(0));
  EXPECT_THAT(decisions[0].worst[1].pictures, ElementsAre(1));
  EXPECT_THAT(decisions[1].worst[0].pictures, ElementsAre(0));
}

TEST(FlipPictures, AreNoMoreThanAsked) {
  RunRecord run =
      RecordOfFlips({{FlipOf(0, 0, 1), FlipOf(1, 0, 1)}, {FlipOf(2, 0, 1), FlipOf(0, 0, 1)}});
  ASSERT_TRUE(KeptPictures(PlanOfFlips(2), run, 1).AddTo(run).ok());
  ASSERT_EQ(run.flip_pictures.size(), 2U);
  const std::vector<DecisionRecord>& decisions = run.pairs[0].decisions;
  EXPECT_THAT(decisions[0].worst[0].pictures, ElementsAre(0));
  EXPECT_THAT(decisions[1].worst[0].pictures, ElementsAre(1));
  EXPECT_THAT(decisions[0].worst[1].pictures, IsEmpty());
  EXPECT_THAT(decisions[1].worst[1].pictures, ElementsAre(0));
}

TEST(FlipPictures, AreNotShownWhereNobodyKnowsWhichImageItIs) {
  RunRecord run = RecordOfFlips({{FlipOf(0, 5, 6)}});
  ASSERT_TRUE(KeptPictures(PlanOfFlips(16), run, 2).AddTo(run).ok());
  EXPECT_THAT(run.flip_pictures, IsEmpty());
  // Of a single image every sample is.
  ASSERT_TRUE(KeptPictures(PlanOfFlips(16), run, 1).AddTo(run).ok());
  EXPECT_THAT(run.pairs[0].decisions[0].worst[0].pictures, ElementsAre(0));
}

TEST(FlipPictures, OfFlipsThatAreNoLongerTheWorstAreLetGo) {
  FlipPictures pictures(PlanOfFlips(16));
  const WorstFlip first = FlipOf(0, 0, 1), second = FlipOf(1, 0, 1);
  pictures.Keep(0, FeedOfImages(1), {&first});
  pictures.Keep(1, FeedOfImages(1), {&second});
  RunRecord run = RecordOfFlips({{second, first}});
  ASSERT_TRUE(pictures.AddTo(run).ok());
  ASSERT_EQ(run.flip_pictures.size(), 1U);
  EXPECT_EQ(run.flip_pictures[0].iteration, 1);
}

TEST(FlipPictures, AreWantedByPagesAndRecordsAlone) {
  RunPlan plan = PlanOfFlips(16);
  EXPECT_TRUE(FlipPictures(plan).wanted());
  EXPECT_EQ(FlipPictures(plan).ImagesOf(FeedOfImages(1)).size(), 1U);
  plan.save.record.clear();
  EXPECT_FALSE(FlipPictures(plan).wanted());
  EXPECT_THAT(FlipPictures(plan).ImagesOf(FeedOfImages(1)), IsEmpty());
  plan.save.reports = {{"r.html", ReportFormat::kHtml}};
  EXPECT_TRUE(FlipPictures(plan).wanted());
  plan.execution.sequential = true;
  EXPECT_FALSE(FlipPictures(plan).wanted());
}

}  // namespace
}  // namespace vernier
