#include "inputs/coerce_feed.h"

#include <gtest/gtest.h>

#include "inputs/cast_tensor.h"
#include "inputs/match_shape.h"
#include "util/log/recording_logger.h"

namespace vernier {
namespace {

Tensor Floats(Dims dims, std::vector<float> values) {
  return *Tensor::Copy(DType::kFloat32, std::move(dims), std::as_bytes(std::span(values)));
}

TensorInfo Input(std::string name, DType dtype, std::vector<Dim> shape) {
  return {std::move(name), dtype, std::move(shape)};
}

const std::vector<Dim> kPair = {{2, ""}};

Result<CoercedFeed> Coerce(const TensorMap& feed, std::vector<TensorInfo> inputs,
                           Strictness strictness, Logger& logger) {
  return CoerceFeed(feed, inputs, {.strictness = strictness}, logger);
}

TEST(CoerceFeed, SharesWhatFits) {
  RecordingLogger logger;
  const TensorMap feed = {{"x", Floats({2}, {1, 2})}};
  const auto coerced =
      Coerce(feed, {Input("x", DType::kFloat32, {{-1, "n"}})}, Strictness::kStrict, logger);
  ASSERT_TRUE(coerced.ok());
  EXPECT_EQ(coerced->tensors[0].tensor.bytes().data(), feed[0].tensor.bytes().data());
  EXPECT_TRUE(coerced->notes.empty());
  EXPECT_TRUE(logger.lines.empty());
}

TEST(CoerceFeed, StrictFoldsCaseAndTheOutputIndex) {
  RecordingLogger logger;
  const TensorMap feed = {{"Mask:0", Floats({2}, {1, 2})}, {"X", Floats({2}, {3, 4})}};
  const auto coerced =
      Coerce(feed, {Input("x", DType::kFloat32, kPair), Input("mask", DType::kFloat32, kPair)},
             Strictness::kStrict, logger);
  ASSERT_TRUE(coerced.ok());
  EXPECT_EQ(coerced->tensors[0].tensor.As<float>()[0], 3);
  EXPECT_EQ(coerced->tensors[1].tensor.As<float>()[0], 1);
  EXPECT_EQ(coerced->notes[0], "input 'x': taken from 'X'");
  EXPECT_TRUE(logger.Has("Buffer name (X) does not match expected input name (x)."));
}

TEST(CoerceFeed, StrictRefusesAnAmbiguousFold) {
  RecordingLogger logger;
  const TensorMap two_buffers = {{"X", Floats({2}, {1, 2})}, {"x:0", Floats({2}, {3, 4})}};
  EXPECT_FALSE(
      Coerce(two_buffers, {Input("x", DType::kFloat32, kPair)}, Strictness::kStrict, logger).ok());
  const TensorMap one_buffer = {{"X", Floats({2}, {1, 2})}};
  EXPECT_FALSE(Coerce(one_buffer,
                      {Input("x", DType::kFloat32, kPair), Input("x:0", DType::kFloat32, kPair)},
                      Strictness::kStrict, logger)
                   .ok());
}

TEST(CoerceFeed, StrictNamesWhatWasExpectedAndFound) {
  RecordingLogger logger;
  const TensorMap feed = {{"x", Floats({2}, {1, 2})}};
  const Status status =
      Coerce(feed, {Input("x", DType::kFloat64, {{1, ""}, {2, ""}})}, Strictness::kStrict, logger)
          .status();
  EXPECT_EQ(status.code(), StatusCode::kMalformed);
  EXPECT_EQ(status.message(),
            "input 'x': expected float64 of shape (1, 2), found float32 of shape (2,) in the input "
            "data; convert it, or pass --lenient to cast, transpose or reshape it");
}

// A feed that was made for another runner.
Result<CoercedFeed> CoerceMade(const TensorMap& feed, std::vector<TensorInfo> inputs,
                               Logger& logger) {
  std::vector<TensorInfo> made_for;
  for (const NamedTensor& entry : feed) made_for.push_back({entry.name, entry.tensor.dtype(), {}});
  CoerceOptions options;
  options.label = "tf";
  options.made_for = made_for;
  return CoerceFeed(feed, inputs, options, logger);
}

// All others have their names.
TEST(CoerceFeed, StrictPairsTheLastOfBothSidesIfItFits) {
  RecordingLogger logger;
  const TensorMap feed = {{"a", Floats({2}, {1, 2})}, {"b", Floats({1, 2}, {3, 4})}};
  const std::vector<TensorInfo> inputs = {Input("p", DType::kFloat32, {{1, ""}, {-1, "n"}}),
                                          Input("a", DType::kFloat32, kPair)};
  const auto coerced = Coerce(feed, inputs, Strictness::kStrict, logger);
  ASSERT_TRUE(coerced.ok());
  EXPECT_EQ(coerced->tensors[0].tensor.As<float>()[0], 3);
  EXPECT_EQ(coerced->notes[0], "input 'p': paired with 'b' by type and shape");
  const std::vector<TensorInfo> others = {Input("p", DType::kInt64, {{1, ""}, {-1, "n"}}),
                                          inputs[1]};
  EXPECT_FALSE(Coerce(feed, others, Strictness::kStrict, logger).ok());
}

TEST(CoerceFeed, StrictPairsWhatOneToOneFitsByTypeAndShape) {
  RecordingLogger logger;
  const TensorMap feed = {{"a", Floats({2}, {1, 2})}, {"b", Floats({1, 2}, {3, 4})}};
  const std::vector<TensorInfo> inputs = {Input("q", DType::kFloat32, {{1, ""}, {-1, "n"}}),
                                          Input("p", DType::kFloat32, kPair)};
  const auto coerced = CoerceMade(feed, inputs, logger);
  ASSERT_TRUE(coerced.ok());
  EXPECT_EQ(coerced->tensors[0].tensor.As<float>()[0], 3);
  EXPECT_EQ(coerced->tensors[1].tensor.As<float>()[0], 1);
  EXPECT_EQ(coerced->notes[0], "input 'q': paired with 'b' by type and shape");
  EXPECT_TRUE(logger.Has("Input tensor: q | It is paired with 'b' by type and shape"));
  // Nothing says that the feed was meant for these.
  EXPECT_FALSE(Coerce(feed, inputs, Strictness::kStrict, logger).ok());
}

TEST(CoerceFeed, StrictShowsBothSidesWhereSeveralFit) {
  RecordingLogger logger;
  const TensorMap feed = {{"a", Floats({2}, {1, 2})}, {"b", Floats({2}, {3, 4})}};
  const Status status =
      CoerceMade(feed, {Input("q", DType::kFloat32, kPair), Input("p", DType::kFloat32, {{2, ""}})},
                 logger)
          .status();
  EXPECT_EQ(status.code(), StatusCode::kMalformed);
  EXPECT_NE(status.message().find("\n    q  float32 (2,)\n    p  float32 (2,)\n"),
            std::string::npos);
  EXPECT_NE(status.message().find("--map-inputs tf:q=a tf:p=b"), std::string::npos);
}

TEST(CoerceFeed, StrictProposesLayouts) {
  RecordingLogger logger;
  const TensorMap feed = {{"x", Floats({1, 1, 2, 1}, {1, 2})}};
  const std::vector<Dim> last = {{1, ""}, {2, ""}, {1, ""}, {1, ""}};
  const Status same = CoerceMade(feed, {Input("x", DType::kFloat32, last)}, logger).status();
  EXPECT_NE(same.message().find("permute its axes with --map-inputs tf:x=x@0,2,3,1, or pass"),
            std::string::npos);
  const Status other = CoerceMade(feed, {Input("y", DType::kFloat32, last)}, logger).status();
  EXPECT_NE(other.message().find("--map-inputs tf:y=x@0,2,3,1"), std::string::npos);
}

TEST(CoerceFeed, AdvisesNoOptionThatTheCommandLacks) {
  RecordingLogger logger;
  const TensorMap feed = {{"x", Floats({2}, {1, 2})}};
  for (const TensorInfo& input :
       {Input("x", DType::kFloat64, {{2, ""}}), Input("z", DType::kFloat32, {{2, ""}})}) {
    const Status status =
        CoerceFeed(feed, std::span(&input, 1), {Strictness::kStrict, {}, false}, logger).status();
    EXPECT_EQ(status.code(), StatusCode::kMalformed);
    EXPECT_EQ(status.message().find("lenient"), std::string::npos) << status.message();
  }
}

TEST(CoerceFeed, StrictWarnsOfTensorsThatNothingTakes) {
  RecordingLogger logger;
  const TensorMap feed = {{"x", Floats({2}, {1, 2})}, {"z", Floats({2}, {1, 2})}};
  EXPECT_TRUE(Coerce(feed, {Input("x", DType::kFloat32, kPair)}, Strictness::kStrict, logger).ok());
  EXPECT_TRUE(logger.Has("['z']"));
}

TEST(CoerceFeed, OneTensorMayHaveTwoNames) {
  RecordingLogger logger;
  const Tensor fed = Floats({2}, {1, 2});
  const TensorMap feed = {{"x", fed}, {"of_the_other_model", fed}};
  EXPECT_TRUE(Coerce(feed, {Input("x", DType::kFloat32, kPair)}, Strictness::kStrict, logger).ok());
  EXPECT_FALSE(logger.Has("of_the_other_model"));
}

TEST(CoerceFeed, PolygraphyTakesByPositionCastsAndTransposes) {
  RecordingLogger logger;
  const TensorMap feed = {{"z", Floats({3, 2}, {1, 2, 3, 4, 5, 300.7f})}};
  const auto coerced =
      Coerce(feed, {Input("x", DType::kInt8, {{2, ""}, {3, ""}})}, Strictness::kPolygraphy, logger);
  ASSERT_TRUE(coerced.ok());
  const Tensor& tensor = coerced->tensors[0].tensor;
  EXPECT_EQ(tensor.dims(), (Dims{2, 3}));
  const std::span<const int8_t> values = tensor.As<int8_t>();
  EXPECT_EQ(std::vector(values.begin(), values.end()), (std::vector<int8_t>{1, 3, 5, 2, 4, 44}));
  EXPECT_EQ(coerced->notes.size(), 3u);
  EXPECT_TRUE(logger.Has("Some values in this input are out of range of int8."));
  EXPECT_TRUE(logger.Has("Permuted array of shape: (3, 2) to: (2, 3) using permutation [1, 0]"));
}

TEST(CoerceFeed, PolygraphyGivesUpInItsWords) {
  RecordingLogger logger;
  const TensorMap feed = {{"x", Floats({5}, {1, 2, 3, 4, 5})}};
  EXPECT_EQ(Coerce(feed, {Input("x", DType::kFloat32, {{4, ""}})}, Strictness::kPolygraphy, logger)
                .status()
                .message(),
            "Input tensor: x | Cannot reuse input data due to mismatch in shape or data type.\n"
            "Note: Provided input: [dtype=float32, shape=(5,)], Requested input: [dtype=float32, "
            "shape=BoundedShape([4], min=None, max=None)]");
  EXPECT_EQ(Coerce({}, {Input("x", DType::kFloat32, kPair)}, Strictness::kPolygraphy, logger)
                .status()
                .message(),
            "Input tensor: x | Does not exist in the provided input data.");
}

TEST(CoerceFeed, PolygraphyReloadsWhatCannotBeUsed) {
  RecordingLogger logger;
  const std::vector<TensorInfo> inputs = {Input("x", DType::kFloat32, {{1, ""}})};
  const CoerceOptions options = {
      .strictness = Strictness::kPolygraphy,
      .reload = [](const std::string&) -> Result<Tensor> { return Floats({1}, {9}); }};
  const TensorMap feed = {{"x", Floats({2}, {1, 2})}};
  const auto coerced = CoerceFeed(feed, inputs, options, logger);
  ASSERT_TRUE(coerced.ok());
  EXPECT_EQ(coerced->tensors[0].tensor.As<float>()[0], 9);
  EXPECT_TRUE(logger.Has("Could not use the provided buffer for input: x."));
}

TEST(CoerceFeed, StringsAreNeverCast) {
  RecordingLogger logger;
  const std::vector<std::string> words = {"1", "2"};
  const TensorMap feed = {{"x", *Tensor::FromStrings({2}, words)}};
  EXPECT_FALSE(
      Coerce(feed, {Input("x", DType::kFloat32, kPair)}, Strictness::kPolygraphy, logger).ok());
}

TEST(MatchShape, SurvivesVolumesBeyond64Bits) {
  RecordingLogger logger;
  const std::vector<Dim> huge = {{INT64_MAX, ""}, {INT64_MAX, ""}, {-1, ""}};
  const auto matched = MatchShape(Floats({2}, {1, 2}), huge, logger);
  ASSERT_TRUE(matched.ok());
  EXPECT_EQ(matched->dims(), Dims{2});
}

}  // namespace
}  // namespace vernier
