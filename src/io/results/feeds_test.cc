#include <gtest/gtest.h>

#include "io/results/feed_reader.h"
#include "io/results/feed_writer.h"
#include "io/results/io_test_data.h"
#include "io/test_data/nested_proto.h"
#include "io/test_data/tensor_proto.h"

namespace vernier {
namespace {

namespace fs = std::filesystem;

TensorMap SampleFeed(int iteration) {
  TensorMap feed;
  if (iteration == 1) return feed;  // a model without inputs
  for (int type = 1; type < kDTypeCount; ++type) {
    const auto dtype = static_cast<DType>(type);
    feed.push_back({std::string(DTypeName(dtype)) + "/..", SampleTensor(dtype, {3, 1}, iteration)});
  }
  return feed;
}

void WriteFeeds(const std::string& path, int count) {
  const auto writer = *FeedWriter::Create(path);
  for (int i = 0; i < count; ++i) ASSERT_TRUE(writer->Append(SampleFeed(i)).ok());
  const Status finished = writer->Finish();
  ASSERT_TRUE(finished.ok()) << finished.message();
}

class FeedFormat : public testing::TestWithParam<const char*> {};

TEST_P(FeedFormat, EveryTypeSurvives) {
  TemporaryFolder folder;
  const std::string path = folder / (std::string("in") + GetParam());
  WriteFeeds(path, 3);
  const auto reader = FeedReader::Open({path, path});
  ASSERT_TRUE(reader.ok()) << reader.status().message();
  for (int i = 0; i < 6; ++i) {
    EXPECT_TRUE((*reader)->HasMore()) << i;
    const auto feed = (*reader)->Next();
    ASSERT_TRUE(feed.ok()) << feed.status().message();
    ASSERT_TRUE(feed->has_value()) << i;
    const TensorMap expected = SampleFeed(i % 3);
    ASSERT_EQ((*feed)->size(), expected.size());
    for (size_t k = 0; k < expected.size(); ++k) {
      EXPECT_EQ((**feed)[k].name, expected[k].name);
      ExpectSameTensor((**feed)[k].tensor, expected[k].tensor, expected[k].name);
    }
    EXPECT_EQ((*reader)->current_path().find(path), 0u);
  }
  EXPECT_FALSE((*reader)->HasMore());
  EXPECT_FALSE((*reader)->Next()->has_value());
  EXPECT_FALSE((*reader)->Next()->has_value());
}

TEST_P(FeedFormat, SomeArePassedOver) {
  TemporaryFolder folder;
  const std::string path = folder / (std::string("in") + GetParam());
  WriteFeeds(path, 3);
  const auto reader = FeedReader::Open({path, path});
  ASSERT_TRUE(reader.ok()) << reader.status().message();
  const Result<int64_t> count = (*reader)->CountAll();
  ASSERT_TRUE(count.ok()) << count.status().message();
  EXPECT_EQ(*count, 6);
  for (const int iteration : {2, 4}) {  // of six, each after passing what is before it
    ASSERT_TRUE((*reader)->Skip(iteration == 2 ? 2 : 1).ok());
    const auto feed = (*reader)->Next();
    ASSERT_TRUE(feed.ok()) << feed.status().message();
    ASSERT_TRUE(feed->has_value());
    const TensorMap expected = SampleFeed(iteration % 3);
    ASSERT_EQ((*feed)->size(), expected.size());
    for (size_t k = 0; k < expected.size(); ++k) {
      ExpectSameTensor((**feed)[k].tensor, expected[k].tensor, expected[k].name);
    }
  }
  ASSERT_TRUE((*reader)->Skip(7).ok());
  EXPECT_FALSE((*reader)->Next()->has_value());
}

INSTANTIATE_TEST_SUITE_P(Formats, FeedFormat,
                         testing::Values(".json", ".npz", ".safetensors", "", ".in"), FormatName);

TEST(FeedWriter, NothingAppearsWithoutFinish) {
  TemporaryFolder folder;
  for (const char* name : {"a.json", "a.npz", "a.safetensors"}) {
    WriteText(folder / name, "old");
    {
      const auto writer = *FeedWriter::Create(folder / name);
      ASSERT_TRUE(writer->Append(SampleFeed(0)).ok());
    }
    EXPECT_EQ(ReadText(folder / name), "old");
    EXPECT_TRUE(fs::exists(folder / (std::string(name) + ".partial")));
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(folder / ""), {}), 6);
}

TEST(FeedWriter, NothingStaysOfNoFeed) {
  TemporaryFolder folder;
  for (const char* name : {"a.json", "a.npz", "a.safetensors"}) {
    EXPECT_TRUE(FeedWriter::Create(folder / name).ok());
    const auto writer = *FeedWriter::Create(folder / name);
    ASSERT_TRUE(writer->Append(SampleFeed(0)).ok());
    writer->Discard();
  }
  EXPECT_TRUE(fs::is_empty(folder / ""));
}

struct WrongFeed {
  const char* text;
  const char* message;
};

TEST(FeedReader, SaysWhatIsWrong) {
  TemporaryFolder folder;
  const WrongFeed cases[] = {
      {"[{}, 3]", "byte 5: a number cannot be recognized as a feed_dict: a file of inputs is"},
      {R"({"lst": [], "polygraphy_class": "RunResults"})", "`data merge`"},
      {R"([{"lst": [], "__polygraphy_encoded_RunResults": "polygraphy_serialized_json_type"}])",
       "`data merge`"},
      {R"([{"x": 3}])", "tensor 'x': byte 7: expected an array, but the value is a number"},
      {R"([{"x": [[1.0, 2.5]]}])",
       "the value is a plain list, which does not say its element type; --save-inputs and "
       "--save-outputs write"},
      {R"([{"x": {"array": "AA=A", "polygraphy_class": "ndarray"}}])", "character 2 of the base64"},
      {R"([{"x": {"array": "QUJD", "polygraphy_class": "ndarray"}}])", "does not begin"},
      {R"([{"x": {"tensor": "QUJD", "polygraphy_class": "Tensor"}}])", "save the data again"},
      {R"([{"x": {"values": {}, "polygraphy_class": "LazyArray"}}])", "expected an array"},
  };
  for (const WrongFeed& wrong : cases) {
    WriteText(folder / "x.json", wrong.text);
    const auto reader = FeedReader::Open({folder / "x.json"});
    const Status status = reader.ok() ? (*reader)->Next().status() : reader.status();
    EXPECT_EQ(status.code(), StatusCode::kMalformed) << wrong.text;
    EXPECT_NE(status.message().find(wrong.message), std::string::npos) << status.message();
    EXPECT_NE(status.message().find("x.json"), std::string::npos);
  }
}

TEST(FeedReader, AFolderAmongFilesIsNoFeed) {
  TemporaryFolder folder;
  WriteFeeds(folder / "a.npz", 1);
  fs::create_directory(folder / "b.npz");
  const auto reader = FeedReader::Open({folder / "."});
  ASSERT_TRUE(reader.ok()) << reader.status().message();
  EXPECT_TRUE((*reader)->Next()->has_value());
  const Status second = (*reader)->Next().status();
  EXPECT_EQ(second.code(), StatusCode::kMalformed);
  EXPECT_NE(second.message().find("b.npz' is a folder without ONNX test data"), std::string::npos)
      << second.message();
}

TEST(FeedReader, MissingPathsAreFoundAtOnce) {
  TemporaryFolder folder;
  WriteFeeds(folder / "a.json", 1);
  EXPECT_EQ(FeedReader::Open({folder / "a.json", folder / "b.json"}).status().code(),
            StatusCode::kMalformed);
  fs::create_directory(folder / "empty");
  EXPECT_NE(FeedReader::Open({folder / "empty"}).status().message().find("No per-iteration"),
            std::string::npos);
}

std::string Described(const Result<TensorMap>& tensors) {
  if (!tensors.ok()) return tensors.status().message();
  std::string text;
  for (const NamedTensor& tensor : *tensors) {
    text += tensor.name + FormatDims(tensor.tensor.dims()) + " ";
  }
  return text;
}

TEST(ParseTestData, ReadsSequencesAndOptionalsInParts) {
  const std::string tensor = std::string("\x1a\x0e\x08\x02\x10\x01\x4a\x08", 8) + "12345678";
  const std::string one = "\x0a\x01s\x10\x01" + tensor;
  const std::string inner = "\x10\x01" + tensor;
  const std::string optional =
      "\x0a\x01o\x10\x03\x2a" + std::string(1, static_cast<char>(inner.size())) + inner;
  const std::string absent("\x0a\x01o\x10\x00", 5);
  EXPECT_EQ(Described(ParseTestData(BytesOf(one + tensor), "f")), "s[]() s[0](2,) s[1](2,) ");
  EXPECT_EQ(Described(ParseTestData(BytesOf(inner), "f")), "f[]() f[0](2,) ");
  EXPECT_EQ(Described(ParseTestData(BytesOf(optional), "f")), "o?() o[]() o[0](2,) ");
  EXPECT_EQ(Described(ParseTestData(BytesOf(absent), "f")), "o?() ");
  EXPECT_EQ(Described(ParseTestData(BytesOf(std::string("\x0a\x01s\x10\x01", 5)), "f")), "s[]() ");
  EXPECT_FALSE(ParseTestData(BytesOf(std::string("\x0a\x01m\x10\x04\x32\x00", 7)), "f").ok());
  for (size_t size = 0; size < optional.size(); ++size) {
    (void)ParseTestData(BytesOf(optional).first(size), "f").ok();
  }
}

TEST(TensorProto, DamageNeverCrashes) {
  // dims: 2, data_type: float, name: "x", raw_data: 8 bytes
  const std::string good = std::string("\x08\x02\x10\x01\x42\x01x\x4a\x08", 9) + "12345678";
  const auto tensor = ParseTensorProto(BytesOf(good));
  ASSERT_TRUE(tensor.ok()) << tensor.status().message();
  EXPECT_EQ(tensor->name, "x");
  EXPECT_EQ(tensor->tensor.dims(), Dims{2});
  for (size_t size = 0; size < good.size(); ++size) {
    EXPECT_FALSE(ParseTensorProto(BytesOf(good).first(size)).ok()) << size;
    for (int byte = 0; byte < 256; ++byte) {
      std::string damaged = good;
      damaged[size] = static_cast<char>(byte);
      (void)ParseTensorProto(BytesOf(damaged)).ok();
    }
  }
}

}  // namespace
}  // namespace vernier
