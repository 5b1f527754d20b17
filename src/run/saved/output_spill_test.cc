#include "run/saved/output_spill.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace vernier {
namespace {

using testing::ElementsAre;

IterationResult SpilledResult(std::string runner, std::vector<int32_t> values) {
  const Dims dims = {static_cast<int64_t>(values.size())};
  return {std::move(runner),
          0.5,
          {{"y", *Tensor::Copy(DType::kInt32, dims, std::as_bytes(std::span(values)))}}};
}

TEST(OutputSpill, GivesBackIterationByIteration) {
  const auto spill = OutputSpill::Create(2);
  ASSERT_TRUE(spill.ok());
  ASSERT_TRUE((*spill)->Append(0, SpilledResult("a", {1})).ok());
  ASSERT_TRUE((*spill)->Append(0, SpilledResult("a", {2, 3})).ok());
  ASSERT_TRUE((*spill)->Append(1, SpilledResult("b", {4})).ok());
  const Result<IterationOutputs> first = (*spill)->Read(0);
  ASSERT_TRUE(first.ok());
  ASSERT_TRUE((*first)[0] && (*first)[1]);
  EXPECT_EQ((*first)[1]->runner_name, "b");
  EXPECT_EQ((*first)[1]->runtime_s, 0.5);
  EXPECT_THAT((*first)[1]->outputs[0].tensor.As<int32_t>(), ElementsAre(4));
  const Result<IterationOutputs> second = (*spill)->Read(1);
  ASSERT_TRUE(second.ok());
  EXPECT_THAT((*second)[0]->outputs[0].tensor.As<int32_t>(), ElementsAre(2, 3));
  // b did not get so far.
  EXPECT_FALSE((*second)[1].has_value());
}

TEST(OutputSpill, ReadsAnyIterationAgain) {
  const auto spill = OutputSpill::Create(1);
  ASSERT_TRUE(spill.ok());
  for (int32_t i = 0; i < 3; ++i) {
    ASSERT_TRUE((*spill)->Append(0, SpilledResult("a", {i})).ok());
  }
  for (const int32_t i : {2, 0, 2}) {
    const Result<IterationOutputs> read = (*spill)->Read(i);
    ASSERT_TRUE(read.ok());
    EXPECT_THAT((*read)[0]->outputs[0].tensor.As<int32_t>(), ElementsAre(i));
  }
}

}  // namespace
}  // namespace vernier
