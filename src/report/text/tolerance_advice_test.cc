#include "report/text/tolerance_advice.h"

#include <gtest/gtest.h>

#include <limits>

namespace vernier {
namespace {

OutputRecord Failing(const std::string& name, double absolute, double relative) {
  OutputRecord output;
  output.name = output.other_name = name;
  output.compared = 1;
  output.required_absolute = absolute;
  output.required_relative = relative;
  output.figures.gates = {{"simple", "failed", "", std::nullopt, std::nullopt}};
  return output;
}

RunRecord RecordWith(std::initializer_list<OutputRecord> outputs) {
  RunRecord record;
  record.pairs.resize(1);
  record.pairs[0].outputs = outputs;
  return record;
}

TEST(AdviceToAccept, IsEnoughAsItIsWritten) {
  // 3e-19 - 1e-19 lies above the number that "2e-19" stands for.
  EXPECT_EQ(AdviceToAccept(RecordWith({Failing("y", 2.0000000000000002e-19, 2)})),
            " --atol 2.1e-19");
  EXPECT_EQ(AdviceToAccept(RecordWith({Failing("y", 0.5, 0.25)})), " --rtol 0.25");
}

TEST(AdviceToAccept, ARelativeErrorOfZeroByZeroTakesTheAbsoluteOne) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(AdviceToAccept(RecordWith({Failing("y", 1, nan)})), " --atol 1");
  EXPECT_EQ(AdviceToAccept(RecordWith({Failing("y", nan, nan)})), "");
}

TEST(AdviceToAccept, NoToleranceHelpsWhereLengthsDiffer) {
  OutputRecord length = Failing("out[]", 1, 0.5);
  length.dtype = length.other_dtype = "int64";
  EXPECT_EQ(AdviceToAccept(RecordWith({length})), "");
}

TEST(AdviceToAccept, NoToleranceHelpsWhereATypeIsRejected) {
  RunRecord record = RecordWith({Failing("y", 0.5, 0.25)});
  record.pairs[0].retyped = true;
  EXPECT_EQ(AdviceToAccept(record), "");
}

TEST(AdviceToAccept, TheNearerToleranceOfEachOutput) {
  EXPECT_EQ(AdviceToAccept(RecordWith({Failing("y", 0.25, 3), Failing("z", 0.5, 3)})),
            " --atol 0.5");
  EXPECT_EQ(AdviceToAccept(RecordWith({Failing("y", 0.25, 3), Failing("z", 7, 0.5)})),
            " --atol 0.25 --rtol 0.5");
  OutputRecord automatic = Failing("y", 0.5, 0.25);
  automatic.bound = BoundRecord();
  EXPECT_EQ(AdviceToAccept(RecordWith({automatic})), " --atol y:0.25 --rtol y:0.25");
}

TEST(AdviceToAccept, IntegersNeedAnInteger) {
  OutputRecord ids = Failing("ids", 1, 8.6736e-19);
  ids.dtype = ids.other_dtype = "int64";
  EXPECT_EQ(AdviceToAccept(RecordWith({ids})), " --atol 1");
  EXPECT_EQ(AdviceToAccept(RecordWith({ids, Failing("y", 0.5, 0.25)})),
            " --atol ids:1 --rtol y:0.25");
}

TEST(AdviceToAccept, OneForAllWhereManyFailed) {
  RunRecord record = RecordWith({});
  for (int i = 1; i <= 6; ++i) {
    OutputRecord output = Failing("y" + std::to_string(i), 0.5 * i, 0.25);
    output.bound = BoundRecord();
    record.pairs[0].outputs.push_back(output);
  }
  EXPECT_EQ(
      AdviceToAccept(record),
      " --atol 3 --tolerance fixed for all 6 outputs (by name: --atol y6:3 y5:2.5 y4:2 y3:1.5 "
      "and 2 more)");
  OutputRecord& passed = record.pairs[0].outputs.emplace_back();
  passed.name = "z";
  passed.compared = passed.passed = 1;  // within its error bound, by how much is unknown
  EXPECT_EQ(AdviceToAccept(record), "");
  passed.max_absolute_error = 4;
  EXPECT_EQ(AdviceToAccept(record).substr(0, 27), " --atol 4 --tolerance fixed");
}

TEST(AdviceToAccept, OnlyWhatFailed) {
  OutputRecord output = Failing("y", 0.5, 0.25);
  output.figures.gates = {{"simple", "passed", "", std::nullopt, std::nullopt},
                          {"l2", "failed", "", 0.5, 0.1}};
  EXPECT_EQ(AdviceToAccept(RecordWith({output})), " --l2-threshold 0.5");
}

TEST(AdviceToAccept, NothingWhereItWouldNotBeEnough) {
  OutputRecord shapes = Failing("z", 0, 0);
  shapes.required_absolute = shapes.required_relative = std::nullopt;
  shapes.without_numbers = 1;
  EXPECT_EQ(AdviceToAccept(RecordWith({Failing("y", 0.5, 0.25), shapes})), "");
  OutputRecord indices = Failing("z", 0.5, 0.25);
  indices.figures.gates.push_back({"indices", "failed", "", std::nullopt, std::nullopt});
  EXPECT_EQ(AdviceToAccept(RecordWith({indices})), "");
  EXPECT_EQ(AdviceToAccept(RunRecord()), "");
}

}  // namespace
}  // namespace vernier
