#include "report/files/blame_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <memory>

#include "report/files/junit.h"
#include "report/text/blame_text.h"
#include "report/text/verdict_text.h"
#include "vernier/blame_record.h"

namespace vernier {
namespace {

using testing::HasSubstr;
using testing::Not;

// One tensor that is `total` times its bound.
BlameRecord Compared(double total) {
  BlameRecord blame;
  blame.compared = 1;
  BlameLayerRecord& layer = blame.layers.emplace_back();
  layer.node = "conv";
  BlameTensorRecord& tensor = layer.outputs.emplace_back();
  tensor.name = "y";
  tensor.total_error = total;
  tensor.own_error = total;
  return blame;
}

RunRecord Report(BlameRecord blame) { return WithLayers(RecordOf(std::move(blame))); }

TEST(WithLayers, NoTensorFailsWhereNobodyIsToBlame) {
  const RunRecord record = Report(Compared(1.4));
  ASSERT_EQ(record.pairs.size(), 1u);
  EXPECT_EQ(OutputVerdict(record.pairs[0].outputs.at(0)), "passed");
  EXPECT_THAT(FormatJunit(record), Not(HasSubstr("<failure")));
}

TEST(WithLayers, TensorsOverTheirBoundsFailWhereSomebodyIs) {
  BlameRecord blame = Compared(1.4);
  blame.culprits.emplace_back().node = "conv";
  const RunRecord record = Report(std::move(blame));
  EXPECT_EQ(OutputVerdict(record.pairs.at(0).outputs.at(0)), "failed");
  EXPECT_EQ(record.pairs[0].outputs[0].figures.gates.at(1).verdict, "failed");
}

TEST(WithLayers, ASearchThatWasGivenUpExcusesNothing) {
  BlameRecord blame = Compared(1.4);
  blame.error = "interrupted";
  EXPECT_EQ(OutputVerdict(Report(std::move(blame)).pairs.at(0).outputs.at(0)), "failed");
}

// One pair must not be listed as A against B and as B against A.
TEST(WithLayers, SidesStandAsInTheComparisonOfOutputs) {
  BlameRecord blame = Compared(1.4);
  blame.reference = "ref";
  blame.candidate = "cand";
  blame.layers[0].outputs[0].reference.max = 1;
  blame.layers[0].outputs[0].candidate.max = 2;
  RunRecord record = RecordOf(std::move(blame));
  record.pairs.push_back({"cand", "ref", {}, "gold.npz", 1, 1, 1, {}, false, {}, {}});
  record = WithLayers(std::move(record));
  const PairRecord& layers = record.pairs.at(1);
  EXPECT_EQ(layers.first + " vs. " + layers.second, "cand vs. ref");
  EXPECT_EQ(layers.second_file, "gold.npz");
  EXPECT_EQ(layers.outputs.at(0).figures.first->max, 2);
  EXPECT_EQ(layers.outputs[0].figures.second->max, 1);
}

TEST(WithLayers, TypesThatDifferAreKept) {
  BlameRecord blame = Compared(0);
  blame.layers[0].op_type = "Cast";
  blame.layers[0].outputs[0].dtype = "float64";
  blame.layers[0].outputs[0].reference_dtype = "float32";
  EXPECT_THAT(FormatBlame(blame, false),
              HasSubstr("Types differ: 1 tensor, 'y' of conv [Cast]: float64, and float32 in the "
                        "reference\n"));
  const RunRecord record = Report(std::move(blame));
  EXPECT_EQ(record.pairs.at(0).outputs.at(0).dtype, "float32");
  EXPECT_EQ(record.pairs[0].outputs[0].other_dtype, "float64");
  EXPECT_EQ(record.pairs[0].outputs[0].figures.first->dtype, "float32");
}

TEST(WithLayers, WhatIsNotFiniteFails) {
  for (const double total :
       {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_EQ(OutputVerdict(Report(Compared(total)).pairs.at(0).outputs.at(0)), "failed");
  }
}

}  // namespace
}  // namespace vernier
