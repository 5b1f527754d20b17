#include "run/size_search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace vernier {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<TensorInfo> Inputs() {
  return {{"x", DType::kFloat32, std::vector<Dim>{{-1, "batch"}, {-1, "length"}}},
          {"h", DType::kFloat32, std::vector<Dim>{{2, {}}, {-1, "batch"}}}};
}

Result<TensorMap> DrawSized(const RunPlan& sized) {
  TensorMap feed;
  for (const TensorInfo& input : Inputs()) {
    Dims dims;
    for (size_t axis = 0; axis < input.shape->size(); ++axis) {
      const int64_t fixed = (*input.shape)[axis].value;
      const auto found = FindDimSize(sized.inputs.found_dims, input, axis);
      dims.push_back(fixed >= 0 ? fixed : found.value_or(1));
    }
    const std::vector<std::byte> bytes(static_cast<size_t>(*ElementCount(dims)) * 4);
    VERNIER_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Copy(DType::kFloat32, dims, bytes));
    feed.push_back({input.name, std::move(tensor)});
  }
  return feed;
}

TEST(SizeSearch, InnerDimensionsComeFirstThenEachThenAll) {
  const auto candidates = SizeCandidates({{"batch", "length"}, {"batch"}});
  ASSERT_GE(candidates.size(), 4u);
  EXPECT_THAT(candidates[0], ElementsAre(DimSize{"length", 2}));
  EXPECT_THAT(candidates[1], ElementsAre(DimSize{"batch", 2}));
  EXPECT_THAT(candidates[2], ElementsAre(DimSize{"batch", 2}, DimSize{"length", 2}));
  EXPECT_THAT(candidates[3], ElementsAre(DimSize{"length", 3}));
}

TEST(SizeSearch, TheSmallestThatRunsIsTaken) {
  const auto runs = [](const TensorMap& feed) -> Result<bool> {
    if (feed[0].tensor.dims()[1] >= 40) return true;
    return BackendError("too short");
  };
  const Result<FoundSizes> found =
      FindSizes(RunPlan(), Inputs(), {DrawSized, runs}, SizeOne::kRefused);
  ASSERT_TRUE(found.ok());
  EXPECT_THAT(found->dims, ElementsAre(DimSize{"length", 48}));
  EXPECT_THAT(found->note, HasSubstr("it ran with x (1, 48), h (2, 1) ('length' = 48)"));
}

TEST(SizeSearch, EmptyOutputsAreTakenWhereNothingElseIsThere) {
  const auto full_from = [](int64_t least) {
    return [least](const TensorMap& feed) -> Result<bool> {
      const int64_t length = feed[0].tensor.dims()[1];
      if (length >= 4) return length >= least;
      return BackendError("too short");
    };
  };
  Result<FoundSizes> found =
      FindSizes(RunPlan(), Inputs(), {DrawSized, full_from(8)}, SizeOne::kRefused);
  ASSERT_TRUE(found.ok());
  EXPECT_THAT(found->dims, ElementsAre(DimSize{"length", 8}));
  EXPECT_THAT(found->note, HasSubstr("it ran with x (1, 8), h (2, 1) ('length' = 8)"));
  found = FindSizes(RunPlan(), Inputs(), {DrawSized, full_from(1 << 20)}, SizeOne::kRefused);
  ASSERT_TRUE(found.ok());
  EXPECT_THAT(found->dims, ElementsAre(DimSize{"length", 4}));
  EXPECT_THAT(found->note, HasSubstr("('length' = 4)"));
}

TEST(SizeSearch, WhereOneRunsOnlyFullOutputsAreBetter) {
  const auto full_from = [](int64_t least) {
    return [least](const TensorMap& feed) -> Result<bool> {
      return feed[0].tensor.dims()[1] >= least;
    };
  };
  EXPECT_EQ(WhyNotSizeOne(false), SizeOne::kMakesEmpty);
  EXPECT_EQ(WhyNotSizeOne(true), std::nullopt);
  EXPECT_EQ(WhyNotSizeOne(BackendError("too short")), SizeOne::kRefused);
  EXPECT_EQ(WhyNotSizeOne(Cancelled("interrupted")), std::nullopt);
  Result<FoundSizes> found =
      FindSizes(RunPlan(), Inputs(), {DrawSized, full_from(3)}, SizeOne::kMakesEmpty);
  ASSERT_TRUE(found.ok());
  EXPECT_THAT(found->dims, ElementsAre(DimSize{"length", 3}));
  EXPECT_THAT(found->note, HasSubstr("size 1 an output is empty; none is with x (1, 3)"));
  found = FindSizes(RunPlan(), Inputs(), {DrawSized, full_from(1 << 20)}, SizeOne::kMakesEmpty);
  ASSERT_TRUE(found.ok());
  EXPECT_TRUE(found->dims.empty());
  EXPECT_EQ(found->note, "");
}

TEST(SizeSearch, WhereNoneRunsNoneIsFound) {
  const auto never = [](const TensorMap&) { return BackendError("never"); };
  const Result<FoundSizes> none =
      FindSizes(RunPlan(), Inputs(), {DrawSized, never}, SizeOne::kRefused);
  EXPECT_TRUE(none->dims.empty());
  EXPECT_GT(none->tried, 10);
  const auto gone = [](const TensorMap&) { return Unavailable("gone"); };
  EXPECT_EQ(FindSizes(RunPlan(), Inputs(), {DrawSized, gone}, SizeOne::kRefused)->tried, 0);
  const auto stopped = [](const TensorMap&) { return Cancelled("interrupted"); };
  EXPECT_FALSE(FindSizes(RunPlan(), Inputs(), {DrawSized, stopped}, SizeOne::kRefused).ok());
}

TEST(SizeSearch, OnlySizesThatNobodyGaveAreGuessed) {
  RunPlan plan;
  EXPECT_TRUE(SizesAreGuessed(plan, Inputs()));
  plan.inputs.dims = {{"length", 3}};
  EXPECT_TRUE(SizesAreGuessed(plan, Inputs()));
  plan.inputs.dims = {{"length", 3}, {"batch", 1}};
  EXPECT_FALSE(SizesAreGuessed(plan, Inputs()));
  plan.inputs.dims.clear();
  plan.inputs.shape_words = {"x:[1,5]"};
  EXPECT_FALSE(SizesAreGuessed(plan, Inputs()));  // h has the same batch
  plan.inputs.shape_words = {"h:[2,1]"};
  EXPECT_TRUE(SizesAreGuessed(plan, Inputs()));
  plan.lenient = true;
  EXPECT_FALSE(SizesAreGuessed(plan, Inputs()));
  plan.lenient = false;
  plan.inputs.load_paths = {"inputs.json"};
  EXPECT_FALSE(SizesAreGuessed(plan, Inputs()));
}

}  // namespace
}  // namespace vernier
