// Parts of two runners that were cut off, for tests of what is recovered from them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "io/results/io_test_data.h"
#include "io/results/results_reader.h"
#include "io/results/results_writer.h"

namespace vernier {

namespace fs = std::filesystem;

inline constexpr const char* kBothRunners[] = {"a/b", "a/b"};  // equal on purpose

inline IterationResult SampleIteration(int runner, int iteration) {
  IterationResult result;
  result.runner_name = runner == 0 ? kBothRunners[0] : "another name";
  if (iteration != 1) result.runtime_s = 0.25 * iteration;
  for (int type = 1; type < kDTypeCount; ++type) {
    const auto dtype = static_cast<DType>(type);
    result.outputs.push_back({std::string(DTypeName(dtype)) + "/\xff",
                              SampleTensor(dtype, {1 + iteration % 3}, runner * 10 + iteration)});
  }
  return result;
}

inline void ExpectSample(const Result<IterationResult>& result, int runner, int iteration) {
  ASSERT_TRUE(result.ok()) << result.status().message();
  const IterationResult expected = SampleIteration(runner, iteration);
  EXPECT_EQ(result.ok() ? (*result).runner_name : "", expected.runner_name);
  EXPECT_EQ((*result).runtime_s, expected.runtime_s);
  ASSERT_EQ((*result).outputs.size(), expected.outputs.size());
  for (size_t i = 0; i < expected.outputs.size(); ++i) {
    EXPECT_EQ((*result).outputs[i].name, expected.outputs[i].name);
    ExpectSameTensor((*result).outputs[i].tensor, expected.outputs[i].tensor,
                     expected.outputs[i].name);
  }
}

inline void ExpectFile(const std::string& path, std::vector<size_t> counts) {
  const auto reader = ResultsReader::Open(path);
  ASSERT_TRUE(reader.ok()) << reader.status().message();
  ASSERT_EQ((*reader)->runs().size(), counts.size());
  for (size_t run = 0; run < counts.size(); ++run) {
    EXPECT_EQ((*reader)->runs()[run].name, kBothRunners[run]);
    ASSERT_EQ((*reader)->runs()[run].iterations, counts[run]);
    for (size_t i = 0; i < counts[run]; ++i) {
      ExpectSample((*reader)->Read(run, i), static_cast<int>(run), static_cast<int>(i));
    }
  }
}

class Recovered : public testing::TestWithParam<const char*> {
 protected:
  std::string Path() { return folder_ / (std::string("out") + GetParam()); }
  std::string Partial() { return Path() + ".partial"; }

  std::string PartOf(int run) {
    const std::string format = GetParam();
    const bool archive = format == ".npz" || format == ".safetensors";
    return Partial() + (archive ? "/tensors.part" : "/" + std::to_string(run) + ".json");
  }

  // One letter of base64 for another, one byte for another: what can be read as well as before.
  void ChangeAByte(int run, int iteration) {
    const std::string journal = ReadText(Partial() + "/journal.jsonl");
    const size_t line = journal.find("{\"runner\":" + std::to_string(run) +
                                     ",\"iteration\":" + std::to_string(iteration) + ",");
    ASSERT_NE(line, std::string::npos);
    size_t at = std::stoul(journal.substr(journal.find("\"begin\":", line) + 8));
    std::string text = ReadText(PartOf(run));
    constexpr std::string_view kArray = "\"array\": \"";
    if (PartOf(run).ends_with(".json")) {
      at = text.find('"', text.find(kArray, at) + kArray.size()) - 4;
    } else if (GetParam() == std::string(".npz")) {
      constexpr size_t kNpyHeader = 128;
      at = text.find("\x93NUMPY", at) + kNpyHeader;
    }
    text[at] = text[at] == 'A' ? 'B' : 'A';
    WriteText(PartOf(run), text);
  }

  // A run that ends without publishing.
  void Leave(int first, int second) {
    const auto writer = ResultsWriter::Create(Path(), {kBothRunners[0], kBothRunners[1]});
    ASSERT_TRUE(writer.ok()) << writer.status().message();
    for (int i = 0; i < std::max(first, second); ++i) {
      for (size_t side = 0; side < 2; ++side) {
        const bool has_more = i < (side == 0 ? first : second);
        ASSERT_TRUE(!has_more || (*writer)->Append(side, SampleIteration(side, i)).ok());
      }
    }
  }

  TemporaryFolder folder_;
};

}  // namespace vernier
