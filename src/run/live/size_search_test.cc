#include "run/live/size_search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "util/log/no_log.h"

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

using Infer = std::function<Result<bool>(const TensorMap&)>;

// One runner, which is asked for sizes of 1 first.
Result<FoundSizes> Search(const Infer& infer) {
  NoLog unheard;
  return FindSizes(RunPlan(), Inputs(),
                   {DrawSized, {{"a", infer, infer(*DrawSized(RunPlan()))}}, unheard});
}

TEST(SizeSearch, InnerDimensionsComeFirstThenEachThenAll) {
  const auto candidates = SizeCandidates({{"batch", "length"}, {"batch"}});
  ASSERT_GE(candidates.size(), 4u);
  EXPECT_THAT(candidates[0], ElementsAre(DimSize{"length", 2}));
  EXPECT_THAT(candidates[1], ElementsAre(DimSize{"batch", 2}));
  EXPECT_THAT(candidates[2], ElementsAre(DimSize{"batch", 2}, DimSize{"length", 2}));
  EXPECT_THAT(candidates[3], ElementsAre(DimSize{"length", 3}));
}

TEST(SizeSearch, SizesOfWeightsAreTriedInTheirOrder) {
  const std::vector<int64_t> own = {3, 7};
  std::vector<int64_t> sizes;
  for (const auto& dims : SizeCandidates({{"n"}, {}}, own)) sizes.push_back(dims.front().size);
  sizes.resize(5);
  EXPECT_THAT(sizes, ElementsAre(2, 3, 4, 7, 8));
}

TEST(SizeSearch, TheSmallestThatRunsIsTaken) {
  const auto runs = [](const TensorMap& feed) -> Result<bool> {
    if (feed[0].tensor.dims()[1] >= 40) return true;
    return BackendError("too short");
  };
  const Result<FoundSizes> found = Search(runs);
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
  Result<FoundSizes> found = Search(full_from(8));
  ASSERT_TRUE(found.ok());
  EXPECT_THAT(found->dims, ElementsAre(DimSize{"length", 8}));
  EXPECT_THAT(found->note, HasSubstr("it ran with x (1, 8), h (2, 1) ('length' = 8)"));
  found = Search(full_from(1 << 20));
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
  Result<FoundSizes> found = Search(full_from(3));
  ASSERT_TRUE(found.ok());
  EXPECT_THAT(found->dims, ElementsAre(DimSize{"length", 3}));
  EXPECT_THAT(found->note, HasSubstr("size 1 an output is empty; none is with x (1, 3)"));
  found = Search(full_from(1 << 20));
  ASSERT_TRUE(found.ok());
  EXPECT_TRUE(found->dims.empty());
  EXPECT_EQ(found->note, "");
}

TEST(SizeSearch, WhereNoneRunsNoneIsFound) {
  const auto never = [](const TensorMap&) { return BackendError("the shape"); };
  const Result<FoundSizes> none = Search(never);
  EXPECT_TRUE(none->dims.empty());
  EXPECT_GT(none->tried, 10);
  const auto gone = [](const TensorMap&) { return Unavailable("gone"); };
  EXPECT_EQ(Search(gone)->tried, 0);
  const auto stopped = [](const TensorMap&) { return Cancelled("interrupted"); };
  EXPECT_FALSE(Search(stopped).ok());
}

TEST(SizeSearch, WhoRefusesOneIsNamed) {
  const auto from = [](int64_t least) -> Infer {
    return [least](const TensorMap& feed) -> Result<bool> {
      if (feed[0].tensor.dims()[1] >= least) return true;
      return BackendError("too short\nmore");
    };
  };
  NoLog unheard;
  const Result<FoundSizes> found =
      FindSizes(RunPlan(), Inputs(),
                {DrawSized,
                 {{"a", from(1), true}, {"b", from(3), BackendError("too short\nmore")}},
                 unheard});
  ASSERT_TRUE(found.ok());
  EXPECT_TRUE(found->some_refused);
  EXPECT_THAT(found->dims, ElementsAre(DimSize{"length", 3}));
  EXPECT_THAT(found->note, HasSubstr("the model ran in a and failed in b: too short; it ran with"));
  EXPECT_FALSE(Search(from(3))->some_refused);
  EXPECT_THAT(
      Search(from(3))->note,
      HasSubstr("With free dimensions of size 1 the model failed in a: too short; it ran with"));
}

TEST(SizeSearch, AFailureThatTheSameFeedDoesNotRepeatIsNoMatterOfSizes) {
  int64_t asked = 0;
  const Result<FoundSizes> found = Search([&](const TensorMap&) -> Result<bool> {
    if (asked++ > 0) return true;
    return BackendError("CUDA error: illegal memory access");
  });
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(asked, 2);
  EXPECT_TRUE(found->dims.empty());
  EXPECT_EQ(found->unsteady.code(), StatusCode::kBackend);
  EXPECT_THAT(found->note, HasSubstr("a failed, and ran with the same feed once more"));
}

TEST(SizeSearch, TheSameWordsThatAreNotOfShapesEndIt) {
  const auto tried = [](const std::string& words) {
    return Search([&](const TensorMap&) { return BackendError(words); })->tried;
  };
  EXPECT_EQ(tried("license server not reachable"), 3);
  EXPECT_EQ(tried("no device\nTraceback (most recent call last):\n  f['x'].shape"), 3);
  EXPECT_GT(tried("Pad node: too short"), 10);
  const auto alike = [](const std::string& at_one) {
    return Search([&](const TensorMap& feed) {
             const bool one = feed[0].tensor.element_count() == 1;
             return BackendError(one ? at_one : "license server not reachable");
           })
        ->tried_for_note();
  };
  EXPECT_EQ(alike("license server not reachable"), -1);
  EXPECT_EQ(alike("too short"), 3);
}

TEST(SizeSearch, FeedsOfManyBytesAreLeftOut) {
  int64_t largest = 0;
  const std::vector<TensorInfo> inputs = {
      {"x", DType::kFloat32, std::vector<Dim>{{-1, "h"}, {-1, "w"}, {1024, {}}}}};
  const auto draw = [&](const RunPlan& sized) -> Result<TensorMap> {
    int64_t bytes = 4 * 1024;
    for (size_t axis : {0u, 1u}) {
      bytes *= FindDimSize(sized.inputs.found_dims, inputs[0], axis).value_or(1);
    }
    largest = std::max(largest, bytes);
    return DrawSized(RunPlan());
  };
  const auto never = [](const TensorMap&) { return BackendError("the shape"); };
  NoLog unheard;
  ASSERT_TRUE(FindSizes(RunPlan(), inputs, {draw, {{"a", never, BackendError("")}}, unheard}).ok());
  EXPECT_GT(largest, 1 << 20);
  EXPECT_LE(largest, 1 << 28);
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
