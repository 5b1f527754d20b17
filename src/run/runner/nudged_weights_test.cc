#include "run/runner/nudged_weights.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "model/rounding/error_test_graphs.h"
#include "util/files/scratch_folder.h"

namespace vernier {
namespace {

using namespace testing_model;

class NudgedWeightsTest : public ::testing::Test {
 protected:
  // A model with a quantiser, whose scale is its only float: as `graph` has it.
  ModelPlan Quantiser(const std::string& graph) const {
    ModelPlan plan;
    plan.path = folder_->path() + "/quantiser.onnx";
    plan.type = "onnx";
    std::ofstream(plan.path, std::ios::binary)
        << Model(Input("x", {1, 4}) + graph + Do("QuantizeLinear", {"x", "s"}, "y"));
    return plan;
  }

  Result<ScratchFolder> folder_ = ScratchFolder::Create();
};

TEST_F(NudgedWeightsTest, TheScaleOfAQuantiserMovesWithMatricesAndScalesAlone) {
  const ModelPlan plan = Quantiser(WeightOf("s", {}, {0.5F}));
  EXPECT_TRUE(NudgedWeights::Of(plan, MovedWeights::kMatricesAndScales).ok());
  EXPECT_EQ(NudgedWeights::Of(plan, MovedWeights::kMatrices).status().code(),
            StatusCode::kUnimplemented);
}

}  // namespace
}  // namespace vernier
