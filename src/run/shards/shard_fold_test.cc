// However iterations are divided, their lines fold to what one process finds.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "compare/functions/comparator.h"
#include "record/shards/shard_lines.h"
#include "run/figures/pair_recorder.h"
#include "run/parts/folded_comparison.h"
#include "run/workers/fake_workers.h"
#include "vernier/compare_options.h"
#include "vernier/shard_plan.h"

namespace vernier {
namespace {

using testing_workers::Floats;

constexpr float kMissing = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

CompareOptions AllMetrics() {
  CompareOptions options;
  options.functions = {CompareFunction::kSimple, CompareFunction::kL2,
                       CompareFunction::kCosineSimilarity, CompareFunction::kPsnr,
                       CompareFunction::kUlp};
  return options;
}

// Agreement, differences of all sizes, NaN and infinity, other shapes.
IterationComparison CompareNumber(int64_t index) {
  const auto step = static_cast<float>(index);
  std::vector<float> a = {1, 2, 3 + step, 4}, b = a;
  if (index % 3 == 1) b[1] += 0.5f * step;
  if (index % 5 == 2) b[2] = kMissing;
  if (index % 7 == 3) a[0] = b[0] = kInfinity;
  if (index % 7 == 4) b[3] = -kInfinity;
  const Dims dims = {4}, other = {2, 2};
  ComparisonDetail detail;
  detail.differences = StatisticsLevel::kMoments;
  detail.sides = StatisticsLevel::kMoments;
  detail.distances = true;
  return CompareIteration(
      {"A", std::nullopt, {{"y", Floats(dims, a)}, {"z", Floats(dims, a)}}},
      {"B",
       std::nullopt,
       {{"y", Floats(dims, b)}, {"z", Floats(index % 6 == 5 ? other : dims, a)}}},
      AllMetrics(), detail);
}

std::string RecordOf(const PairRecorder& recorder, int64_t total) {
  RunRecord record;
  record.pairs.push_back(recorder.Finish(total));
  return ToJson(record);
}

// The lines of a shard, by their indices.
void MakeLines(const ShardPlan& shard, int64_t total, std::map<int64_t, std::string>& lines) {
  PairRecorder recorder("A", "B", Charts::kWanted);
  for (int64_t place = 0; place < shard.CountOf(total); ++place) {
    ShardIteration line;
    line.index = shard.IndexOf(place, total);
    const IterationComparison comparison = CompareNumber(line.index);
    const std::vector<OutputRow> rows = recorder.Add(comparison, line.index);
    line.pairs = {MakeShardPair(comparison, rows, recorder.record(), line.index, true)};
    lines[line.index] = ShardIterationText(line);
  }
}

TEST(ShardFold, IsThatOfOneProcess) {
  constexpr int64_t kTotal = 23;
  PairRecorder whole("A", "B", Charts::kWanted);
  for (int64_t index = 0; index < kTotal; ++index) whole.Add(CompareNumber(index), index);
  for (const ShardRule rule : {ShardRule::kContiguous, ShardRule::kStride}) {
    for (const int64_t count : {1, 2, 5, 30}) {
      std::map<int64_t, std::string> lines;
      for (int64_t number = count; number >= 1; --number) {
        MakeLines({number, count, rule, false}, kTotal, lines);
      }
      PairRecorder merged("A", "B", Charts::kNone);
      for (const auto& [index, text] : lines) {
        EXPECT_EQ(IndexOfShardLine(text), index);
        const Result<ShardIteration> line =
            ReadShardIteration(std::string_view(text).substr(0, text.size() - 1), "line");
        ASSERT_TRUE(line.ok()) << line.status().message();
        const ShardPair& pair = line->pairs.at(0);
        const Result<IterationComparison> comparison = RestoreComparison(pair);
        ASSERT_TRUE(comparison.ok()) << comparison.status().message();
        std::vector<OutputRow> rows;
        for (const ShardOutput& output : pair.outputs) rows.push_back(output.row);
        merged.Fold(*comparison, rows, index,
                    [&](size_t place) { return pair.outputs[place].figures.value(); });
      }
      EXPECT_EQ(RecordOf(merged, kTotal), RecordOf(whole, kTotal)) << count;
      const auto averages = whole.tally().Averages(), same = merged.tally().Averages();
      EXPECT_EQ(averages.ok(), same.ok());
    }
  }
}

TEST(ShardFold, UnknownWordsAreRefused) {
  ShardPair pair;
  ShardOutput output;
  output.functions.push_back({});
  pair.outputs.push_back(output);
  EXPECT_EQ(RestoreComparison(pair).status().code(), StatusCode::kMalformed);
}

}  // namespace
}  // namespace vernier
