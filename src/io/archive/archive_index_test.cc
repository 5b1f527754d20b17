#include "io/archive/archive_index.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "io/archive/archive_name_table.h"
#include "io/archive/archive_names.h"
#include "io/results/io_test_data.h"
#include "util/process/process_memory.h"

namespace vernier {
namespace {

TEST(ArchiveNameTable, GivesBackWhatWasAdded) {
  const std::vector<std::string> names = {"b/0000000001/x",
                                          "a/0000000001/x",
                                          "0000000000/in",
                                          "plain",
                                          "a/1/x",
                                          "",
                                          "/0000000001/x",
                                          "a/0000000001/%41",
                                          "a/b/0000000001/x",
                                          "a/0000000001/",
                                          "b/9999999999/x"};
  ArchiveNameTable table;
  for (const std::string& name : names) table.Add(name);
  EXPECT_EQ(table.Finish(), std::nullopt);
  for (size_t i = 0; i < names.size(); ++i) {
    EXPECT_EQ(table.Text(i), names[i]);
    EXPECT_EQ(table.Find(names[i]), i) << names[i];
    EXPECT_EQ(table.PartsOf(i).has_value(), ParseArchiveName(names[i]).has_value()) << names[i];
  }
  for (const char* other : {"b/0000000002/x", "b/0000000001/plain", "c/0000000001/x", "x", "in"}) {
    EXPECT_EQ(table.Find(other), std::nullopt) << other;
  }
}

TEST(ArchiveNameTable, FindsTheSecondOfTwoEqualNames) {
  for (const char* name : {"a/0000000001/x", "0000000001/x", "plain"}) {
    ArchiveNameTable table;
    for (const char* one : {"z", name, "b/0000000000/x", name, "0000000002/x"}) table.Add(one);
    EXPECT_EQ(table.Finish(), 3u) << name;
    EXPECT_EQ(table.Find(name), 3u) << name;
  }
}

std::string DescribeRuns(const TensorArchive& archive, const ArchiveIndex& index) {
  std::string text;
  for (const ArchiveIndex::Run& run : index.runs) {
    text += run.name + ":";
    for (size_t i = 0; i < run.size(); ++i) {
      const auto tensors = ReadIteration(archive, run, i);
      for (const NamedTensor& tensor : *tensors) text += tensor.name;
      text += run.Details(i).feed ? "f;" : ";";
    }
    text += " ";
  }
  return text;
}

class Archives : public testing::TestWithParam<ArchiveFormat> {
 protected:
  std::unique_ptr<TensorArchive> Written(const std::vector<std::string>& names,
                                         const Tensor& tensor, const WrittenMetadata& metadata) {
    const std::string place = folder_ / ("x" + std::to_string(++written_));
    PartFile spool = *PartFile::Create(place + ".spool");
    const auto writer = *TensorArchiveWriter::Create(spool, GetParam());
    for (const std::string& name : names) EXPECT_TRUE(writer->Add(name, tensor).ok());
    EXPECT_TRUE(writer->Publish(place, nullptr, metadata).ok());
    return *TensorArchive::Open(place, GetParam());
  }

  // A run of `count` iterations, every second of which has a name and a feed of its own.
  static WrittenMetadata::Run RunOf(const std::string& name, size_t count) {
    return {name, name, [name, count](const auto& use) -> Status {
              for (size_t i = 0; i < count; ++i) {
                ArchiveIteration iteration{name, 0.5 + static_cast<double>(i), std::nullopt};
                if (i % 2 == 1) iteration = {"other", std::nullopt, i};
                VERNIER_TRY(use(iteration));
              }
              return {};
            }};
  }

  TemporaryFolder folder_;
  int written_ = 0;
};

// As another program may write them: runs and iterations mixed, some without any tensor.
TEST_P(Archives, IterationsComeInTheirOrderWhateverTheFiles) {
  const WrittenMetadata metadata{
      .is_results = true, .runs = {RunOf("a", 3), RunOf("b", 2)}, .feed_count = std::nullopt};
  const auto archive =
      Written({"b/0000000001/y", "a/0000000002/y", "a/0000000000/y", "b/0000000001/x",
               "c/0000000007/z", "a/0000000002/x", "c/0000000006/z"},
              SampleTensor(DType::kFloat32, {2}), metadata);
  const auto index = IndexArchive(*archive);
  ASSERT_TRUE(index.ok()) << index.status().message();
  EXPECT_TRUE(index->is_results);
  EXPECT_EQ(DescribeRuns(*archive, *index), "a:y;f;yx; b:;yxf; c:z;z; ");
  EXPECT_EQ(index->runs[0].Details(1).runner_name, "other");
  EXPECT_EQ(index->runs[0].Details(2).runner_name, "a");
  EXPECT_EQ(index->runs[0].Details(2).runtime_s, 2.5);
  EXPECT_EQ(index->runs[0].Details(1).runtime_s, std::nullopt);
}

// Places decide what is compared: 2 would be compared with another file's 1.
TEST_P(Archives, IterationsThatAreMissingAreNotSkipped) {
  const auto open = [&](const std::vector<std::string>& names) {
    return IndexArchive(*Written(names, SampleTensor(DType::kFloat32, {2}), {})).status();
  };
  const Status status = open({"c/0000000000/x", "c/0000000000/z", "c/0000000002/z"});
  EXPECT_EQ(status.code(), StatusCode::kMalformed);
  EXPECT_NE(status.message().find("runner 'c' has the iterations 0 and 2, and none between them"),
            std::string::npos)
      << status.message();
  EXPECT_TRUE(open({"c/0000000001/z", "c/0000000002/z"}).ok());
  const Status feeds = open({"0000000000/x", "0000000002/x"});
  EXPECT_EQ(feeds.code(), StatusCode::kMalformed);
  EXPECT_NE(feeds.message().find("it has the iterations 0 and 2, and none between them"),
            std::string::npos)
      << feeds.message();
}

// One string for each tensor's name would be more than that. bfloat16 has a record of its type
// beside each tensor in npz files.
TEST_P(Archives, TheIndexOfManyIterationsIsSmall) {
  constexpr size_t kIterations = 100'000;
  std::vector<std::string> names;
  for (size_t i = 0; i < kIterations; ++i) {
    names.push_back(FormatArchiveName({"onnxrt-runner-N0", i, "some_output_of_the_model"}));
  }
  const WrittenMetadata metadata{.is_results = true,
                                 .runs = {RunOf("onnxrt-runner-N0", kIterations)},
                                 .feed_count = std::nullopt};
  Written(names, SampleTensor(DType::kBFloat16, {1}), metadata);
  names = {};
  const uint64_t before = *ResidentMemoryOf("self");
  const auto archive = *TensorArchive::Open(folder_ / "x1", GetParam());
  const auto index = IndexArchive(*archive);
  const uint64_t after = *ResidentMemoryOf("self");
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // they keep what was freed
  EXPECT_LT(after, before + (uint64_t{20} << 20));
#else
  (void)before, (void)after;
#endif
  ASSERT_TRUE(index.ok()) << index.status().message();
  ASSERT_EQ(index->runs.size(), 1u);
  ASSERT_EQ(index->runs[0].size(), kIterations);
  const auto last = ReadIteration(*archive, index->runs[0], kIterations - 1);
  ASSERT_EQ(last->size(), 1u);
  EXPECT_EQ(last->front().name, "some_output_of_the_model");
  EXPECT_EQ(last->front().tensor.dtype(), DType::kBFloat16);
  EXPECT_EQ(index->runs[0].Details(kIterations - 1).feed, kIterations - 1);
}

INSTANTIATE_TEST_SUITE_P(Formats, Archives,
                         testing::Values(ArchiveFormat::kNpz, ArchiveFormat::kSafetensors));

}  // namespace
}  // namespace vernier
