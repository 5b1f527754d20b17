#include "backend/wire/measure_messages.h"
#include "kernels/measures/pair_measures.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace vernier {
namespace {

PairMeasures Measured(const MeasureRequest& request) {
  const float a[] = {1, 2, 3, 4.5f, 0};
  const float b[] = {1, 2.5f, 3, -4, 0};
  return *MeasurePair({DType::kFloat32, std::as_bytes(std::span(a)), 5},
                      {DType::kFloat32, std::as_bytes(std::span(b)), 5}, request);
}

MeasureRequest Everything() {
  MeasureRequest request;
  request.rule = {1e-3, std::numeric_limits<double>::infinity(), true};
  request.differences = StatisticsLevel::kRanks;
  request.sides = StatisticsLevel::kMoments;
  request.difference_quantiles = {0.5, 0.9};
  request.side_quantiles = {0.25};
  request.products = true;
  request.ulp = true;
  request.worst = 3;
  return request;
}

std::vector<std::byte> Bytes(const MessageWriter& writer) {
  return {writer.bytes().begin(), writer.bytes().end()};
}

std::vector<std::byte> Encoded(const PairMeasures& measures) {
  MessageWriter writer;
  EncodeMeasures(measures, writer);
  return Bytes(writer);
}

TEST(MeasureMessages, ARequestArrivesWhole) {
  MessageWriter writer;
  EncodeRequest(Everything(), writer);
  MessageReader reader(writer.bytes());
  const MeasureRequest request = DecodeRequest(reader);
  ASSERT_TRUE(reader.finished());
  EXPECT_EQ(request.rule.atol, 1e-3);
  EXPECT_TRUE(std::isinf(request.rule.rtol));
  EXPECT_TRUE(request.rule.infinities_equal);
  EXPECT_EQ(request.differences, StatisticsLevel::kRanks);
  EXPECT_EQ(request.sides, StatisticsLevel::kMoments);
  EXPECT_EQ(request.difference_quantiles, (std::vector<double>{0.5, 0.9}));
  EXPECT_EQ(request.side_quantiles, std::vector<double>{0.25});
  EXPECT_TRUE(request.products);
  EXPECT_TRUE(request.ulp);
  EXPECT_EQ(request.worst, 3u);
}

TEST(MeasureMessages, MeasuresArriveWhole) {
  const PairMeasures sent = Measured(Everything());
  const std::vector<std::byte> bytes = Encoded(sent);
  MessageReader reader(bytes);
  const PairMeasures arrived = DecodeMeasures(reader);
  ASSERT_TRUE(reader.finished());
  EXPECT_EQ(arrived.difference.mismatches, sent.difference.mismatches);
  EXPECT_EQ(arrived.difference.absolute.quantiles, sent.difference.absolute.quantiles);
  EXPECT_EQ(arrived.products.dot, sent.products.dot);
  EXPECT_EQ(arrived.worst.size(), 2u);
  // Every number, NaN ones too: encoded again they are the same bytes.
  EXPECT_EQ(Encoded(arrived), bytes);
}

TEST(MeasureMessages, ATruncatedMessageFailsAndAllocatesNothing) {
  const std::vector<std::byte> bytes = Encoded(Measured(Everything()));
  for (size_t size = 0; size < bytes.size(); ++size) {
    MessageReader reader(std::span<const std::byte>(bytes).first(size));
    (void)DecodeMeasures(reader);
    EXPECT_TRUE(reader.failed()) << size;
  }
}

TEST(MeasureMessages, ALevelThatDoesNotExistIsRefused) {
  MessageWriter writer;
  EncodeRequest(Everything(), writer);
  std::vector<std::byte> bytes = Bytes(writer);
  bytes[2 * sizeof(double) + 3] = std::byte{9};
  MessageReader reader(bytes);
  (void)DecodeRequest(reader);
  EXPECT_TRUE(reader.failed());
}

}  // namespace
}  // namespace vernier
