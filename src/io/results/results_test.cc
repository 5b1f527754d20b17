#include <gtest/gtest.h>

#include <sys/resource.h>

#include <cmath>
#include <csignal>

#include "io/results/io_test_data.h"
#include "io/results/results_reader.h"
#include "io/results/results_writer.h"

namespace vernier {
namespace {

namespace fs = std::filesystem;

constexpr const char* kRunners[] = {"ort-N0-11/21/26", "ort-N0-11/21/26"};  // equal on purpose

IterationResult SampleIteration(int runner, int iteration) {
  IterationResult result;
  result.runner_name = runner == 0 ? kRunners[0] : "another name";
  if (iteration != 1) result.runtime_s = 0.25 * iteration;
  for (int type = 1; type < kDTypeCount; ++type) {
    for (const Dims& dims : {Dims{}, Dims{5}, Dims{0, 3}, Dims{2, 3}}) {
      const auto dtype = static_cast<DType>(type);
      result.outputs.push_back({std::string(DTypeName(dtype)) + FormatDims(dims) + "/\xff",
                                SampleTensor(dtype, dims, runner * 10 + iteration)});
    }
  }
  return result;
}

void ExpectSameIteration(const IterationResult& a, const IterationResult& b) {
  EXPECT_EQ(a.runner_name, b.runner_name);
  EXPECT_EQ(a.runtime_s, b.runtime_s);
  ASSERT_EQ(a.outputs.size(), b.outputs.size());
  for (size_t i = 0; i < a.outputs.size(); ++i) {
    EXPECT_EQ(a.outputs[i].name, b.outputs[i].name);
    ExpectSameTensor(a.outputs[i].tensor, b.outputs[i].tensor, a.outputs[i].name);
  }
}

class ResultsFormat : public testing::TestWithParam<const char*> {
 protected:
  std::string Path() { return folder_ / (std::string("out") + GetParam()); }
  std::unique_ptr<ResultsWriter> Writer() {
    auto writer = ResultsWriter::Create(Path(), {kRunners[0], kRunners[1]});
    EXPECT_TRUE(writer.ok()) << writer.status().message();
    return *std::move(writer);
  }

  TemporaryFolder folder_;
};

// 23 types in four shapes, two runners, three iterations.
TEST_P(ResultsFormat, EveryTypeSurvives) {
  const auto writer = Writer();
  for (int i = 0; i < 3; ++i) {
    for (int r = 0; r < 2; ++r) ASSERT_TRUE(writer->Append(size_t(r), SampleIteration(r, i)).ok());
  }
  const Status published = writer->Publish();
  ASSERT_TRUE(published.ok()) << published.message();
  const auto reader = ResultsReader::Open(Path());
  ASSERT_TRUE(reader.ok()) << reader.status().message();
  ASSERT_EQ((*reader)->runs().size(), 2u);
  for (int r = 1; r >= 0; --r) {
    EXPECT_EQ((*reader)->runs()[size_t(r)].name, kRunners[r]);
    EXPECT_EQ((*reader)->runs()[size_t(r)].iterations, 3u);
    for (int i = 2; i >= 0; --i) {
      const auto result = (*reader)->Read(size_t(r), size_t(i));
      ASSERT_TRUE(result.ok()) << result.status().message();
      ExpectSameIteration(*result, SampleIteration(r, i));
    }
  }
  EXPECT_FALSE((*reader)->Read(0, 3).ok());
  EXPECT_FALSE(fs::exists(Path() + ".partial"));
}

// One runner after the other, and the second one dies early.
TEST_P(ResultsFormat, PublishesWhatAllFinishedUnlessToldOtherwise) {
  for (const bool all : {false, true}) {
    fs::remove_all(Path());
    const auto writer = Writer();
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(writer->Append(0, SampleIteration(0, i)).ok());
    ASSERT_TRUE(writer->Append(1, SampleIteration(1, 0)).ok());
    EXPECT_EQ(writer->CommonIterations(), 1u);
    ASSERT_TRUE((all ? writer->Publish(writer->finished(0)) : writer->Publish()).ok());
    const auto reader = ResultsReader::Open(Path());
    ASSERT_TRUE(reader.ok()) << reader.status().message();
    EXPECT_EQ((*reader)->runs()[0].iterations, all ? 3u : 1u);
    EXPECT_EQ((*reader)->runs()[1].iterations, 1u);
    ExpectSameIteration(*(*reader)->Read(1, 0), SampleIteration(1, 0));
  }
}

TEST_P(ResultsFormat, PartsOfAnEarlierRunAreMovedAside) {
  ASSERT_TRUE(Writer()->Append(0, SampleIteration(0, 0)).ok());  // never published
  ASSERT_TRUE(fs::exists(Path() + ".partial"));
  fs::remove(Path());  // the empty directory, where it is one
  const auto writer = Writer();
  EXPECT_EQ(writer->stale_partial(), Path() + ".partial.1");
  EXPECT_TRUE(fs::exists(writer->stale_partial() + "/journal.jsonl"));
  const auto second = ResultsWriter::Create(Path(), {"a"});
  ASSERT_FALSE(second.ok());
  EXPECT_NE(second.status().message().find("in use"), std::string::npos);
}

TEST_P(ResultsFormat, NothingAppendedLeavesNothingBehind) {
  Writer();
  EXPECT_FALSE(fs::exists(Path() + ".partial"));
}

INSTANTIATE_TEST_SUITE_P(Formats, ResultsFormat,
                         testing::Values(".json", ".npz", ".safetensors", "", ".data"), FormatName);

// Another program cuts the file short while it is read: a sentence, never a signal.
TEST_P(ResultsFormat, AFileThatShrinksIsAnError) {
  const auto writer = Writer();
  IterationResult result{.runner_name = "a", .runtime_s = 1, .outputs = {}};
  result.outputs.push_back({"y", SampleTensor(DType::kFloat32, {100'000})});
  for (int i = 0; i < 2; ++i) {
    for (size_t run = 0; run < 2; ++run) ASSERT_TRUE(writer->Append(run, result).ok());
  }
  ASSERT_TRUE(writer->Publish().ok());
  const auto reader = ResultsReader::Open(Path());
  ASSERT_TRUE((*reader)->Read(0, 0).ok());
  const bool directory = fs::is_directory(Path());
  // Beyond what a reader may have looked at already.
  fs::resize_file(directory ? Path() + "/0000000001.json" : Path(), 700'000);
  const auto read = (*reader)->Read(1, 1);
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.status().code(), StatusCode::kMalformed);
  EXPECT_NE(read.status().message().find(Path()), std::string::npos);
  if (!directory) {
    EXPECT_NE(read.status().message().find("became shorter while it was read"), std::string::npos)
        << read.status().message();
  }
}

// Large enough for the part to become the file.
TEST_P(ResultsFormat, LargePartsBecomeTheFile) {
  IterationResult result{.runner_name = "a", .runtime_s = 1, .outputs = {}};
  result.outputs.push_back({"y", SampleTensor(DType::kFloat32, {9 << 20})});
  const auto writer = Writer();
  for (size_t run = 0; run < 2; ++run) ASSERT_TRUE(writer->Append(run, result).ok());
  ASSERT_TRUE(writer->Publish().ok());
  EXPECT_FALSE(fs::exists(Path() + ".partial"));
  const auto reader = ResultsReader::Open(Path());
  ASSERT_TRUE(reader.ok()) << reader.status().message();
  for (size_t run = 0; run < 2; ++run) ExpectSameIteration(*(*reader)->Read(run, 0), result);
}

TEST(ResultsWriter, OldFileStaysUntilTheNewOneIsWhole) {
  TemporaryFolder folder;
  const std::string path = folder / "out.json";
  WriteText(path, "old");
  const auto writer = *ResultsWriter::Create(path, {"a"});
  ASSERT_TRUE(writer->Append(0, SampleIteration(0, 0)).ok());
  EXPECT_EQ(ReadText(path), "old");
  // As a full disk: the part fits, a file of that size does not.
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit old_limit{};
  ::getrlimit(RLIMIT_FSIZE, &old_limit);
  rlimit small{.rlim_cur = 100, .rlim_max = old_limit.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &small);
  const Status appended = writer->Append(0, SampleIteration(0, 1));
  const Status published = writer->Publish();
  ::setrlimit(RLIMIT_FSIZE, &old_limit);
  EXPECT_EQ(appended.code(), StatusCode::kIo);
  EXPECT_EQ(published.code(), StatusCode::kIo);
  EXPECT_NE(published.message().find("out.json.partial"), std::string::npos);
  EXPECT_EQ(ReadText(path), "old");
  EXPECT_EQ(writer->Append(0, SampleIteration(0, 1)).code(), StatusCode::kIo);
  ASSERT_TRUE(writer->Publish().ok());
  EXPECT_EQ((*ResultsReader::Open(path))->runs()[0].iterations, 1u);
}

TEST(ResultsWriter, RefusesDirectoriesThatAreNotEmpty) {
  TemporaryFolder folder;
  fs::create_directory(folder / "out");
  WriteText(folder / "out/x", "");
  const auto writer = ResultsWriter::Create(folder / "out", {"a"});
  ASSERT_FALSE(writer.ok());
  EXPECT_NE(writer.status().message().find("Cannot save inference results to"), std::string::npos);
  EXPECT_FALSE(fs::exists(folder / "out.partial"));
}

struct WrongFile {
  const char* text;
  const char* message;
};

TEST(ResultsReader, SaysWhatIsWrong) {
  TemporaryFolder folder;
  const WrongFile cases[] = {
      {"", "byte 0: expected a value"},
      {"[]", "decoded into a <class 'list'>"},
      {R"({"polygraphy_class": "Nonsense"})", "Could not decode serialized type: Nonsense"},
      {R"({"polygraphy_class": "RunResults"})", "the list \"lst\""},
      {R"({"lst": [["a"]], "polygraphy_class": "RunResults"})", "byte 9: expected a runner's name"},
      {R"({"lst": [["a", [{}]]], "polygraphy_class": "RunResults"})", "an IterationResult"},
      {R"({"lst": [["a", [1]]], "polygraphy_class": "RunResults"})", "found a number"},
  };
  for (const WrongFile& wrong : cases) {
    WriteText(folder / "x.json", wrong.text);
    const auto reader = ResultsReader::Open(folder / "x.json");
    ASSERT_FALSE(reader.ok()) << wrong.text;
    EXPECT_EQ(reader.status().code(), StatusCode::kMalformed);
    EXPECT_NE(reader.status().message().find("x.json"), std::string::npos);
    EXPECT_NE(reader.status().message().find(wrong.message), std::string::npos)
        << reader.status().message();
  }
  EXPECT_EQ(ResultsReader::Open(folder / "missing.json").status().code(), StatusCode::kMalformed);
}

// Polygraphy saves NumPy's float64 scalars, and Python's own numbers, bare.
TEST(ResultsReader, BareNumbersAreTensorsOfRankZero) {
  const auto read = [](const std::string& value) {
    TemporaryFolder folder;
    WriteText(folder / "x.json",
              R"({"lst": [["a", [{"outputs": {"loss": {"values": )" + value +
                  R"(, "polygraphy_class": "LazyArray"}}, "runtime": null, "runner_name": "a",
                  "polygraphy_class": "IterationResult"}]]], "polygraphy_class": "RunResults"})");
    Result<std::unique_ptr<ResultsReader>> reader = ResultsReader::Open(folder / "x.json");
    EXPECT_TRUE(reader.ok()) << reader.status().message();
    return (*reader)->Read(0, 0);
  };
  const auto is = [&](const std::string& value, auto wanted, DType dtype) {
    const Result<IterationResult> iteration = read(value);
    ASSERT_TRUE(iteration.ok()) << iteration.status().message();
    const Tensor& tensor = iteration->outputs.front().tensor;
    EXPECT_EQ(tensor.dtype(), dtype);
    EXPECT_EQ(tensor.dims(), Dims{});
    EXPECT_EQ(tensor.As<decltype(wanted)>()[0], wanted);
  };
  is("3.5", 3.5, DType::kFloat64);
  is("-Infinity", -HUGE_VAL, DType::kFloat64);
  is("1e3", 1000.0, DType::kFloat64);
  is("-7", int64_t{-7}, DType::kInt64);
  is("true", true, DType::kBool);
  for (const char* wrong : {"null", "\"text\"", "[1.0]", "1180591620717411303424"}) {
    EXPECT_EQ(read(wrong).status().code(), StatusCode::kMalformed) << wrong;
  }
}

TEST(ResultsReader, EveryTruncationIsRefused) {
  TemporaryFolder folder;
  const auto writer = *ResultsWriter::Create(folder / "x.json", {"a"});
  IterationResult result{.runner_name = "a", .runtime_s = 1, .outputs = {}};
  result.outputs.push_back({"y", SampleTensor(DType::kFloat32, {2})});
  ASSERT_TRUE(writer->Append(0, result).ok());
  ASSERT_TRUE(writer->Publish().ok());
  const std::string text = ReadText(folder / "x.json");
  for (size_t size = 0; size < text.size(); ++size) {
    WriteText(folder / "y.json", text.substr(0, size));
    EXPECT_FALSE(ResultsReader::Open(folder / "y.json").ok()) << size;
  }
}

}  // namespace
}  // namespace vernier
