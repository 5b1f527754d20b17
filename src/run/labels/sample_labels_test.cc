#include "run/labels/sample_labels.h"

#include <gtest/gtest.h>

#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace vernier {
namespace {

TEST(SampleLabels, LabelsOfFeedsHoldNoMemoryOfTheFeed) {
  auto numbers = std::make_shared<std::vector<int64_t>>(std::vector<int64_t>{3, 1});
  const std::weak_ptr<std::vector<int64_t>> memory = numbers;
  SampleLabels labels = SampleLabels::OfFeeds("feeds", "y");
  {
    const auto bytes = std::as_bytes(std::span(*numbers));
    Result<Tensor> fed = Tensor::Wrap(DType::kInt64, {2}, bytes, std::move(numbers));
    ASSERT_TRUE(fed.ok()) << fed.status().message();
    const TensorMap feed = {{"y", *std::move(fed)}};
    ASSERT_TRUE(labels.NoteFeed(0, feed).ok());
  }
  EXPECT_TRUE(memory.expired());
}

}  // namespace
}  // namespace vernier
