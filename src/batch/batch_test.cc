#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "batch/batch_result.h"
#include "batch/find_models.h"

namespace vernier {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

TEST(FindBatchModelsTest, ExpandsPatternsOnceAndTellsStemsApart) {
  const fs::path root = fs::path(testing::TempDir()) / "batch";
  fs::remove_all(root);
  for (const char* name : {"a/m.onnx", "b/m.onnx", "b/n.onnx", "c/m-2.onnx"}) {
    fs::create_directories((root / name).parent_path());
    std::ofstream(root / name) << "x";
  }
  const auto models =
      FindBatchModels(Words{root / "a" / "m.onnx", root / "*" / "*.onnx", root / "b" / "n.onnx"});
  ASSERT_TRUE(models.ok());
  Words stems;
  for (const BatchModel& model : *models) stems.push_back(model.stem);
  EXPECT_EQ(stems, (Words{"a__m", "b__m", "n", "m-2"}));
  EXPECT_EQ(FindBatchModels(Words{root / "*.pb"}).status().code(), StatusCode::kMalformed);
}

TEST(FindBatchModelsTest, NamesTellFoldersAndExtensionsApart) {
  const fs::path root = fs::path(testing::TempDir()) / "batch_names";
  fs::remove_all(root);
  for (const char* name : {"u/x/m.onnx", "v/x/m.onnx", "w/m.onnx", "one/k.onnx", "one/k.pb"}) {
    fs::create_directories((root / name).parent_path());
    std::ofstream(root / name) << "x";
  }
  const auto stems_of = [&](const Words& names) {
    Words words, stems;
    for (const std::string& name : names) words.push_back(root / name);
    const auto models = FindBatchModels(words);
    EXPECT_TRUE(models.ok());
    for (const BatchModel& model : *models) stems.push_back(model.stem);
    return stems;
  };
  EXPECT_EQ(stems_of({"u/x/m.onnx", "v/x/m.onnx", "w/m.onnx"}),
            (Words{"u__x__m", "v__x__m", "w__m"}));
  EXPECT_EQ(stems_of({"w/m.onnx", "v/x/m.onnx"}), (Words{"w__m", "x__m"}));
  EXPECT_EQ(stems_of({"one/k.onnx", "one/k.pb", "one/../one/k.pb"}), (Words{"k.onnx", "k.pb"}));
  EXPECT_EQ(stems_of({"w/m.onnx"}), (Words{"m"}));
}

TEST(FaultsOfTest, TheWorstRunDecides) {
  const auto code = [](std::initializer_list<int> codes) {
    std::vector<BatchResult> results;
    for (const int exit_code : codes) {
      results.emplace_back();
      results.back().started = true;
      results.back().exit_code = exit_code;
    }
    return ExitCode(FaultsOf(results), false);
  };
  EXPECT_EQ(code({0, 0}), 0);
  EXPECT_EQ(code({0, 3}), 3);
  EXPECT_EQ(code({3, 6, 0}), 6);
  EXPECT_EQ(code({6, 1, 5}), 1);
  EXPECT_EQ(code({0, 128 + 11}), 70);
}

}  // namespace
}  // namespace vernier
