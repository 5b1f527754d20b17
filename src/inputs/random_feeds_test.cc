#include "inputs/random_feeds.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "core/memory_limit.h"
#include "inputs/memory_room.h"
#include "util/files/shared_memory.h"
#include "util/log/recording_logger.h"

namespace vernier {
namespace {

TensorInfo InputNamed(std::string name, DType dtype, std::vector<Dim> shape) {
  return {std::move(name), dtype, std::move(shape)};
}

Result<RandomFeeds> Make(std::vector<TensorInfo> inputs, std::vector<std::string> shapes,
                         std::vector<std::string> ranges, Strictness strictness) {
  return RandomFeeds::Create({.seed = 1,
                              .iterations = 3,
                              .ranges = *ParseValueRanges(ranges),
                              .shapes = *ParseShapeSpecs(shapes, strictness),
                              .strictness = strictness},
                             std::move(inputs));
}

const std::vector<Dim> kBatchOf3 = {{-1, "batch"}, {3, ""}};

TEST(RandomFeeds, RoundsToHalfOnce) {
  RecordingLogger logger;
  const auto feeds =
      Make({InputNamed("x", DType::kFloat16, {{6, ""}})}, {}, {}, Strictness::kStrict);
  ASSERT_TRUE(feeds.ok());
  const auto feed = feeds->Make(0, logger);
  ASSERT_TRUE(feed.ok());
  const std::span<const uint16_t> codes = feed->at(0).tensor.As<uint16_t>();
  EXPECT_EQ(std::vector(codes.begin(), codes.end()),
            (std::vector<uint16_t>{13996, 14787, 1919, 13526, 12466, 11753}));
}

TEST(RandomFeeds, FeedIOfASeedIsFeedZeroOfTheSeedPlusI) {
  RecordingLogger logger;
  const std::vector<TensorInfo> inputs = {InputNamed("x", DType::kFloat32, {{2, ""}})};
  const auto first = RandomFeeds::Create({.seed = 4, .iterations = 3}, inputs);
  const auto second = RandomFeeds::Create({.seed = 6}, inputs);
  const auto a = first->Make(2, logger);
  const auto b = second->Make(0, logger);
  EXPECT_EQ(a->at(0).tensor.As<float>()[1], b->at(0).tensor.As<float>()[1]);
}

TEST(RandomFeeds, MoreThanIsFreeIsRefusedBeforeItIsMade) {
  RecordingLogger logger;
  const auto most = static_cast<int64_t>(MemoryLimit() / 5 * 3);  // each of them could be allocated
  const auto feeds = RandomFeeds::Create({}, {InputNamed("a", DType::kUint8, {{most, ""}}),
                                              InputNamed("b", DType::kUint8, {{most, ""}})});
  ASSERT_TRUE(feeds.ok());
  const Status status = feeds->Make(0, logger).status();
  EXPECT_EQ(status.code(), StatusCode::kMalformed);
  EXPECT_NE(status.message().find("of memory are free; the model fixes their sizes"),
            std::string::npos)
      << status.message();
  EXPECT_NE(CheckMemoryRoom(std::numeric_limits<uint64_t>::max(), "the inputs")
                .message()
                .find("of memory are free; give smaller sizes with --dim"),
            std::string::npos);
}

// Beyond a megabyte, inputs are drawn part by part into memory that other processes can map.
TEST(RandomFeeds, LargeFeedsHoldTheSameNumbers) {
  constexpr int64_t kCount = 300'001;
  RecordingLogger logger;
  const std::vector<TensorInfo> inputs = {InputNamed("f", DType::kFloat32, {{kCount, ""}}),
                                          InputNamed("i", DType::kInt8, {{5, ""}}),
                                          InputNamed("d", DType::kFloat64, {{kCount, ""}})};
  const auto feeds = RandomFeeds::Create({.seed = 3}, inputs);
  ASSERT_TRUE(feeds.ok());
  const auto feed = feeds->Make(0, logger);
  ASSERT_TRUE(feed.ok()) << feed.status().message();
  NumpyRandom random(3);
  std::vector<double> doubles(kCount);
  std::vector<int8_t> integers(5);
  random.FillDoubles(doubles);
  EXPECT_TRUE(std::ranges::equal(feed->at(0).tensor.As<float>(), doubles, {}, {},
                                 [](double value) { return static_cast<float>(value); }));
  random.FillIntegers<int8_t>(0, 1, integers);
  EXPECT_TRUE(std::ranges::equal(feed->at(1).tensor.As<int8_t>(), integers));
  random.FillDoubles(doubles);
  EXPECT_TRUE(std::ranges::equal(feed->at(2).tensor.As<double>(), doubles));
  for (const NamedTensor& input : *feed) {
    EXPECT_EQ(input.tensor.memory(), feed->at(0).tensor.memory());
    ASSERT_NE(input.tensor.memory(), nullptr);
    EXPECT_TRUE(input.tensor.memory()->sealed());
  }
}

TEST(RandomFeeds, RefusesSeedsBeyond32Bits) {
  RecordingLogger logger;
  const auto feeds = RandomFeeds::Create({.seed = 4294967295, .iterations = 2}, {});
  EXPECT_TRUE(feeds->Make(0, logger).ok());
  EXPECT_EQ(feeds->Make(1, logger).status().code(), StatusCode::kInvalidArgument);
}

TEST(RandomFeeds, NegativeIterationsAreNone) {
  RecordingLogger logger;
  EXPECT_EQ(RandomFeeds::Create({.iterations = -1}, {})->count(), 0);
}

TEST(RandomFeeds, FillsDynamicDimensionsWithOneAndSaysSo) {
  RecordingLogger logger;
  const auto feeds =
      Make({InputNamed("x", DType::kFloat32, kBatchOf3)}, {}, {}, Strictness::kStrict);
  EXPECT_EQ(feeds->Make(0, logger)->at(0).tensor.dims(), (Dims{1, 3}));
  EXPECT_TRUE(
      logger.Has("Input tensor: x [shape=BoundedShape(['batch', 3], min=None, max=None)] "
                 "| Will generate data of shape: [1, 3]."));
}

TEST(RandomFeeds, SeveralShapesOfOneInputTakeTurns) {
  RecordingLogger logger;
  const auto feeds = Make({InputNamed("x", DType::kFloat32, kBatchOf3)}, {"x:[2,3]", "x:[6,3]"}, {},
                          Strictness::kStrict);
  EXPECT_EQ(feeds->Make(0, logger)->at(0).tensor.dims(), (Dims{2, 3}));
  EXPECT_EQ(feeds->Make(1, logger)->at(0).tensor.dims(), (Dims{6, 3}));
  EXPECT_EQ(feeds->Make(2, logger)->at(0).tensor.dims(), (Dims{2, 3}));
}

TEST(RandomFeeds, PolygraphyUsesTheLastShapeOnly) {
  RecordingLogger logger;
  const auto feeds = Make({InputNamed("x", DType::kFloat32, kBatchOf3)}, {"x:[2,3]", "x:[6,3]"}, {},
                          Strictness::kPolygraphy);
  EXPECT_EQ(feeds->Make(0, logger)->at(0).tensor.dims(), (Dims{6, 3}));
}

TEST(RandomFeeds, TheLastMatchingPatternWins) {
  RecordingLogger logger;
  const auto feeds = Make({InputNamed("inp_1", DType::kFloat32, kBatchOf3)},
                          {"inp_1:[2,3]", "inp_?:[5,3]"}, {}, Strictness::kStrict);
  EXPECT_EQ(feeds->Make(0, logger)->at(0).tensor.dims(), (Dims{5, 3}));
}

TEST(RandomFeeds, ANameWithBracketsMatchesItself) {
  RecordingLogger logger;
  const auto feeds = Make({InputNamed("x[0]", DType::kFloat32, kBatchOf3)}, {"x[0]:[5,3]"}, {},
                          Strictness::kStrict);
  ASSERT_TRUE(feeds.ok()) << feeds.status().message();
  EXPECT_EQ(feeds->Make(0, logger)->at(0).tensor.dims(), (Dims{5, 3}));
}

TEST(RandomFeeds, AShapeForAListOfIntegersIsItsValues) {
  RecordingLogger logger;
  const auto feeds =
      Make({InputNamed("s", DType::kInt64, {{3, ""}})}, {"s:[1,20,300]"}, {}, Strictness::kStrict);
  const auto feed = feeds->Make(0, logger);
  EXPECT_EQ(feed->at(0).tensor.As<int64_t>()[2], 300);
  EXPECT_TRUE(logger.Has("Assuming s is a shape tensor. Setting input values to: [  1  20 300]."));
}

TEST(RandomFeeds, ValuesOfAShapeMustFitTheType) {
  RecordingLogger logger;
  const auto feeds =
      Make({InputNamed("s", DType::kInt8, {{1, ""}})}, {"s:[300]"}, {}, Strictness::kPolygraphy);
  const Status status = feeds->Make(0, logger).status();
  EXPECT_EQ(status.message(), "input 's': the value 300 does not fit int8");
}

struct RefusalCase {
  const char* name;
  std::vector<std::string> shapes, ranges;
  const char* message;             // strict
  const char* polygraphy_warning;  // empty: an error there too
};

class Refusal : public testing::TestWithParam<RefusalCase> {};

TEST_P(Refusal, IsAnErrorByDefaultAndAWarningOfPolygraphy) {
  const RefusalCase& c = GetParam();
  RecordingLogger logger;
  const std::vector<TensorInfo> inputs = {InputNamed("x", DType::kUint8, kBatchOf3)};
  const auto strict = Make(inputs, c.shapes, c.ranges, Strictness::kStrict);
  const Status status = strict.ok() ? strict->Make(0, logger).status() : strict.status();
  EXPECT_EQ(status.code(), StatusCode::kMalformed);
  EXPECT_EQ(status.message(), c.message);

  const auto polygraphy = Make(inputs, c.shapes, c.ranges, Strictness::kPolygraphy);
  ASSERT_TRUE(polygraphy.ok());
  EXPECT_EQ(polygraphy->Make(0, logger).ok(), c.polygraphy_warning[0] != '\0');
  EXPECT_TRUE(logger.Has(c.polygraphy_warning));
}

INSTANTIATE_TEST_SUITE_P(
    Options, Refusal,
    testing::Values(
        RefusalCase{
            "UnknownShapeName",
            {"xy:[1,3]"},
            {},
            "--input-shapes: no input is called 'xy'; the model's inputs are ['x']",
            "but the input does not exist in one or more runners.\nMaybe you meant to set: x?"},
        RefusalCase{"UnknownPattern",
                    {"q*:[1,3]"},
                    {},
                    "--input-shapes: no input is called 'q*'; the model's inputs are ['x']",
                    "Input tensor wildcard: q* | Metadata was provided, but none of the matched"},
        RefusalCase{"ShapeWithoutName",
                    {"[1,3]"},
                    {},
                    "--input-shapes: a shape is for an input; write its name before it, as in "
                    "x:[2,3]; the model's inputs are ['x']",
                    "Maybe you meant to set: x?"},
        RefusalCase{
            "WrongRank",
            {"x:[3]"},
            {},
            "--input-shapes: input 'x' has the shape ('batch', 3), which (3,) does not fit; "
            "expected a fixed shape of that rank and with those fixed dimensions",
            "Cannot use provided custom shape: BoundedShape([3], min=None, max=None) to "
            "override tensor shape. Will use default shape instead."},
        RefusalCase{"OtherFixedDimension",
                    {"x:[2,4]"},
                    {},
                    "--input-shapes: input 'x' has the shape ('batch', 3), which (2, 4) does not "
                    "fit; expected a fixed shape of that rank and with those fixed dimensions",
                    "Cannot use provided custom shape"},
        RefusalCase{"DynamicShape",
                    {"x:[-1,3]"},
                    {},
                    "--input-shapes: input 'x' has the shape ('batch', 3), which (-1, 3) leaves "
                    "open; expected a fixed shape of that rank and with those fixed dimensions",
                    "Provided input shape: BoundedShape([-1, 3], min=None, max=None) is dynamic."},
        RefusalCase{"UnknownRangeName",
                    {},
                    {"y:[0,1]"},
                    "--val-range: no input is called 'y'; the model's inputs are ['x']",
                    "Extra items in val_range: {'y'}.\nNote: items requested were: {'x', ''}, but "
                    "all items are: {'y'}"},
        RefusalCase{"RangeBeyondTheType",
                    {},
                    {"[0,256]"},
                    "input 'x': the range [0, 256] cannot be used for uint8: expected low <= high, "
                    "both within [0, 255]",
                    ""},
        RefusalCase{"InfiniteIntegerRange",
                    {},
                    {"[0,inf]"},
                    "input 'x': the range [0, inf] cannot be used for uint8: expected low <= high, "
                    "both within [0, 255]",
                    ""}),
    [](const auto& info) { return info.param.name; });

TEST(RandomFeeds, FloatRangesBeyondTheTypeAreRefusedAndInfiniteInPolygraphy) {
  RecordingLogger logger;
  const auto refusal = [&](DType dtype, const char* range, Strictness strictness) {
    const auto feeds = Make({InputNamed("x", dtype, kBatchOf3)}, {}, {range}, strictness);
    return feeds->Make(0, logger).status().message();
  };
  constexpr Strictness kStrict = Strictness::kStrict;
  EXPECT_EQ(refusal(DType::kFloat16, "[0,1e5]", kStrict),
            "input 'x': the range [0, 100000.0] cannot be used for float16: expected both ends "
            "within [-65504.0, 65504.0]");
  EXPECT_NE(refusal(DType::kFloat32, "[-1e308,0]", kStrict), "");
  EXPECT_NE(refusal(DType::kComplex64, "[0,1e39]", kStrict), "");
  EXPECT_NE(refusal(DType::kFloat64, "[-1e308,1e308]", kStrict), "");
  EXPECT_EQ(refusal(DType::kFloat64, "[0,1e308]", kStrict), "");
  EXPECT_EQ(refusal(DType::kFloat32, "[-3.4028235e38,3.4028235e38]", kStrict), "");
  EXPECT_EQ(refusal(DType::kFloat32, "[-1e308,1e308]", Strictness::kPolygraphy), "");
}

TEST(RandomFeeds, CannotMakeStrings) {
  RecordingLogger logger;
  const auto feeds = Make({InputNamed("s", DType::kString, {})}, {}, {}, Strictness::kPolygraphy);
  EXPECT_EQ(feeds->Make(0, logger).status().message(),
            "input 's': values of type string cannot be generated; load them with --load-inputs");
}

TEST(RandomFeeds, AskForTheShapeOfAnInputOfUnknownRank) {
  RecordingLogger logger;
  const TensorInfo input{"x", DType::kFloat32, std::nullopt};
  EXPECT_EQ(Make({input}, {}, {}, Strictness::kPolygraphy).status().code(), StatusCode::kMalformed);
  const auto feeds = Make({input}, {"x:[2]"}, {}, Strictness::kStrict);
  EXPECT_EQ(feeds->Make(0, logger)->at(0).tensor.dims(), Dims{2});
}

TEST(RandomFeeds, AShapeBeyondMemoryIsAnError) {
  RecordingLogger logger;
  const auto feeds = Make({InputNamed("x", DType::kFloat32, {{-1, ""}, {-1, ""}})},
                          {"x:[4611686018427387904,4]"}, {}, Strictness::kStrict);
  EXPECT_EQ(feeds->Make(0, logger).status().code(), StatusCode::kMalformed);
}

}  // namespace
}  // namespace vernier
