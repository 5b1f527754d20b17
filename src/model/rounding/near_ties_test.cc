#include "model/rounding/near_ties.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "model/rounding/error_test_graphs.h"

namespace vernier {
namespace {

using namespace testing_model;

// What both sides chose, and what that leaves open.
class BothChose {
 public:
  BothChose(std::string graph, TensorMap values, const Dims& places)
      : model_(*Parse(Model(graph))), ours_(std::move(values)), places_(places) {}

  double operator()(const std::string& name, const std::vector<int64_t>& ours,
                    const std::vector<int64_t>& theirs) {
    TensorMap first = ours_;
    first.push_back({name, Places(ours)});
    const TensorMap second = {{name, Places(theirs)}};
    SeenOutputs seen;
    seen.values = [&](std::string_view tensor) { return Find(first, tensor); };
    seen.others = [&](std::string_view tensor) { return Find(second, tensor); };
    seen.dims = [&](std::string_view tensor) { return tensor == name ? &places_ : nullptr; };
    const std::vector<std::string> outputs = {name};
    return PredictErrors(model_, {}, kAsInModel, kAsInModel, outputs, FedInputs::kSame, seen)
        ->at(name)
        .chosen;
  }

 private:
  Tensor Places(const std::vector<int64_t>& places) const {
    TensorBuffer buffer = *TensorBuffer::Allocate(DType::kInt64, places_);
    std::copy(places.begin(), places.end(), buffer.As<int64_t>().begin());
    return std::move(buffer).Freeze();
  }

  OnnxModel model_;
  TensorMap ours_;
  Dims places_;
};

// Two rows: the first is clear, and in the second the first two tie.
TEST(NearTiesTest, OnlyWhatTiesMayBeChosenInstead) {
  BothChose chosen(Linear(64) + Do("ArgMax", {"y"}, "best", Attribute("axis", 1)),
                   {{"y", SeenValues({3, 1, 2, 2, 2.000001F, 0}, {2, 3})}}, {2, 1});
  EXPECT_DOUBLE_EQ(chosen("best", {0, 1}, {0, 1}), 0.5) << "chosen alike";
  EXPECT_DOUBLE_EQ(chosen("best", {0, 1}, {0, 0}), 0.5);
  EXPECT_EQ(chosen("best", {0, 1}, {0, 2}), 0) << "the least of its row";
  EXPECT_EQ(chosen("best", {0, 1}, {2, 1}), 0) << "the clear row";
  EXPECT_DOUBLE_EQ(chosen("best", {0, 1}, {2, 0}), 0.5) << "one of two";
  for (const int64_t outside : {-1, 3}) EXPECT_EQ(chosen("best", {0, 1}, {0, outside}), 0);
}

TEST(NearTiesTest, OfTopKOnlyWhatTiesMayBeChosenInstead) {
  const std::string graph = Linear(64) +
                            Field(1, Node("TopK", {"y", "k"}, {"values", "places"}, {})) +
                            Input("k", {1}, kInt64);
  const Dims three = {1, 3};
  BothChose all(graph, {{"y", SeenValues({1, 7, 9, 7, 5, 7}, {1, 6})}}, three);
  EXPECT_DOUBLE_EQ(all("places", {2, 1, 3}, {2, 3, 5}), 2.0 / 3);
  EXPECT_DOUBLE_EQ(all("places", {2, 1, 3}, {2, 3, 4}), 1.0 / 3) << "4 is less";
  EXPECT_EQ(all("places", {2, 1, 3}, {2, 5, 5}), 0) << "twice";
  // Of the values that it gives, only those of what the first side took are known.
  BothChose taken(graph, {{"values", SeenValues({9, 7, 7}, three)}}, three);
  EXPECT_DOUBLE_EQ(taken("places", {2, 1, 3}, {2, 3, 5}), 2.0 / 3);
  EXPECT_EQ(taken("places", {2, 1, 3}, {5, 1, 3}), 0) << "5 is not the largest";
  EXPECT_EQ(taken("places", {2, 1, 3}, {1, 2, 3}), 0);
}

}  // namespace
}  // namespace vernier
