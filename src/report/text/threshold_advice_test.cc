#include "report/text/threshold_advice.h"

#include <gtest/gtest.h>

namespace vernier {
namespace {

RunRecord RecordOf(std::initializer_list<GateRecord> gates) {
  RunRecord record;
  record.pairs.resize(1);
  for (const GateRecord& gate : gates) {
    OutputRecord output;
    output.figures.gates.push_back(gate);
    record.pairs[0].outputs.push_back(output);
  }
  return record;
}

TEST(ThresholdAdviceTest, TakesTheWorstOutputAndRoundsToTheSafeSide) {
  EXPECT_EQ(ThresholdAdvice(RecordOf({{"l2", "failed", "", 0.01234, 1e-5},
                                      {"l2", "failed", "", 0.2345, 1e-5},
                                      {"l2", "passed", "", 9, 10}})),
            " --l2-threshold 0.24");
  EXPECT_EQ(ThresholdAdvice(RecordOf({{"psnr", "failed", "", 17.28, 30},
                                      {"psnr", "failed", "", 21, 30},
                                      {"cosine_similarity", "failed", "", -0.123, 0.9}})),
            " --cosine-similarity-threshold=-0.13 --psnr-threshold 17");
  EXPECT_EQ(ThresholdAdvice(RecordOf({{"psnr", "failed", "", 336.7, 400}})),
            " --psnr-threshold 330");
  EXPECT_EQ(ThresholdAdvice(RecordOf({{"l2", "failed", "", 12345678, 1}})),
            " --l2-threshold 1.3e+07");
}

TEST(ThresholdAdviceTest, IsSilentWhereNoThresholdHelps) {
  EXPECT_EQ(ThresholdAdvice(RecordOf({{"simple", "failed", "", 1, 0},
                                      {"rmse", "failed", "", std::nullopt, 1},
                                      {"ulp", "not verified", "x", 3, 1}})),
            "");
  EXPECT_EQ(ThresholdAdvice(RunRecord()), "");
}

}  // namespace
}  // namespace vernier
