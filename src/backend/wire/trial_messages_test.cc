#include "backend/wire/trial_messages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

namespace vernier {
namespace {

using ::testing::ElementsAre;

TensorMap Feed() {
  const std::vector<float> values = {1, 2, 3};
  const std::vector<int8_t> bytes = {4};
  return {{"x", *Tensor::Copy(DType::kFloat32, {3}, std::as_bytes(std::span(values)))},
          {"k", *Tensor::Copy(DType::kInt8, {}, std::as_bytes(std::span(bytes)))},
          {"none", *Tensor::Copy(DType::kFloat32, {0}, {})}};
}

uintptr_t BeginOf(const TensorMap& tensors, std::string_view name) {
  return reinterpret_cast<uintptr_t>(Find(tensors, name)->bytes().data()) % 64;
}

TEST(TrialInputs, BeginWhereTheyAreWantedAtWholeElements) {
  const TensorMap feed = Feed();
  const Result<TrialInputs> inputs = TrialInputs::Make(feed, 1);
  ASSERT_TRUE(inputs.ok());
  EXPECT_EQ(BeginOf(inputs->tensors(), "x"), 4u);
  EXPECT_EQ(BeginOf(inputs->tensors(), "k"), 1u);
  EXPECT_THAT(Find(inputs->tensors(), "x")->As<float>(), ElementsAre(1, 2, 3));
  EXPECT_TRUE(inputs->FindWritten().empty());
}

TEST(TrialInputs, WithoutAShiftTheyAreAligned) {
  const TensorMap feed = Feed();
  const Result<TrialInputs> inputs = TrialInputs::Make(feed, 0);
  ASSERT_TRUE(inputs.ok());
  EXPECT_EQ(BeginOf(inputs->tensors(), "x"), 0u);
  EXPECT_EQ(BeginOf(inputs->tensors(), "k"), 0u);
}

TEST(TrialInputs, TellWhatWasWrittenTo) {
  const TensorMap feed = Feed();
  const Result<TrialInputs> inputs = TrialInputs::Make(feed, 0);
  ASSERT_TRUE(inputs.ok());
  const std::span<const std::byte> bytes = Find(inputs->tensors(), "x")->bytes();
  std::memset(const_cast<std::byte*>(bytes.data()) + 6, 0x77, 3);
  const std::vector<WrittenInput> written = inputs->FindWritten();
  ASSERT_EQ(written.size(), 1u);
  EXPECT_EQ(written[0].name, "x");
  EXPECT_EQ(written[0].first, 6u);
  EXPECT_EQ(written[0].bytes, 3u);
}

TEST(TrialMessages, ComeBackAsTheyWere) {
  MessageWriter out;
  TrialRequest{.session = 3, .shift = 16, .fill = uint8_t{0}}.Encode(out);
  TrialReport{.written = {{"x", 7, 1}}, .placed = 2}.Encode(out);
  MessageReader in(out.bytes());
  const TrialRequest request = TrialRequest::Decode(in);
  EXPECT_EQ(request.session, 3u);
  EXPECT_EQ(request.shift, 16u);
  EXPECT_EQ(request.fill, uint8_t{0});
  const TrialReport report = TrialReport::Decode(in);
  ASSERT_TRUE(in.finished());
  ASSERT_EQ(report.written.size(), 1u);
  EXPECT_EQ(report.written[0].name, "x");
  EXPECT_EQ(report.placed, 2u);
}

}  // namespace
}  // namespace vernier
