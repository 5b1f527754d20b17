#include "blame/judge/layer_merge.h"

#include <gtest/gtest.h>

namespace vernier {
namespace {

BlameLayerRecord Layer(const std::string& output, double total, std::optional<double> own,
                       int64_t iteration) {
  BlameLayerRecord layer;
  layer.outputs.emplace_back().name = output;
  layer.total_error = total;
  layer.own_error = own;
  layer.iteration = iteration;
  return layer;
}

TEST(MergeWorst, KeepsTheIterationWithTheLargestErrorOfEachLayer) {
  std::vector<BlameLayerRecord> all;
  MergeWorst(std::vector{Layer("a", 1, 0.5, 0), Layer("b", 9, 0.1, 0)}, all);
  MergeWorst(std::vector{Layer("a", 0.2, 3, 1), Layer("b", 8, 2, 1)}, all);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].iteration, 1);
  EXPECT_EQ(all[0].own_error, 3);
  EXPECT_EQ(all[1].iteration, 0);
}

TEST(MergeWorst, AddsLayersThatWereNotThereBefore) {
  std::vector<BlameLayerRecord> all = {Layer("a", 1, 1, 0)};
  MergeWorst(std::vector{Layer("c", 2, std::nullopt, 1), Layer("a", 0.5, 0.5, 1)}, all);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].iteration, 0);
  EXPECT_EQ(all[1].outputs.front().name, "c");
}

}  // namespace
}  // namespace vernier
