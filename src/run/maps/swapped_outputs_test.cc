#include "run/maps/swapped_outputs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "compare/functions/comparator.h"
#include "compare/outputs/tensor_for_test.h"
#include "vernier/compare_options.h"

namespace vernier {
namespace {

using testing::HasSubstr;

Tensor RowOf4(const std::vector<float>& values) {
  return TensorForTest<float>(DType::kFloat32, {static_cast<int64_t>(values.size())}, values);
}

class SwappedOutputsTest : public testing::Test {
 protected:
  // Outputs by these names on both sides.
  void Compare(const TensorMap& first, const TensorMap& second) {
    const IterationResult a{"a", {}, first}, b{"b", {}, second};
    Pairing pairing;
    for (size_t i = 0; i < first.size(); ++i) pairing.pairs.push_back({i, i, PairedBy::kExact});
    swapped_.Look(CompareIteration(a, b, CompareOptions(), {}, pairing), nullptr);
  }

  SwappedOutputs swapped_;
  const Tensor one_ = RowOf4({1, 2, 3, 4}), two_ = RowOf4({9, -5, 7, 2}),
               three_ = RowOf4({0, 8, -1, 5});
};

TEST_F(SwappedOutputsTest, AreNamedWithTheWordsToType) {
  Compare({{"p", one_}, {"q", two_}}, {{"p", two_}, {"q", one_}});
  EXPECT_EQ(swapped_.Describe(),
            "a vs. b: outputs look swapped under their names: 'p' has the values of 'q' (e = 0), "
            "'q' has the values of 'p' (e = 0); to compare them so: --map-outputs a:b:p=q a:b:q=p");
}

// At one step of many two outputs may be alike by chance.
TEST_F(SwappedOutputsTest, MustHoldInEachIteration) {
  Compare({{"p", one_}, {"q", two_}}, {{"p", two_}, {"q", one_}});
  Compare({{"p", one_}, {"q", two_}}, {{"p", three_}, {"q", one_}});
  EXPECT_THAT(swapped_.Describe(), HasSubstr("'p' has the values of 'q'"));
  EXPECT_THAT(swapped_.Describe(), Not(HasSubstr("'q' has the values of 'p'")));
}

TEST_F(SwappedOutputsTest, AreLookedAtFourTimesWhereThereAreSoMany) {
  for (int step = 0; step < 4; ++step)
    Compare({{"p", one_}, {"q", two_}}, {{"p", one_}, {"q", two_}});
  for (int look = 0; look < 4; ++look) {
    EXPECT_EQ(swapped_.Describe(), "") << look;
    Compare({{"p", one_}, {"q", two_}}, {{"p", two_}, {"q", one_}});
  }
  EXPECT_THAT(swapped_.Describe(), HasSubstr("look swapped"));
}

// As states are, which are compared at the first and the last step.
TEST_F(SwappedOutputsTest, IterationsWithoutThemSayNothing) {
  Compare({{"y", three_}, {"p", one_}, {"q", two_}}, {{"y", three_}, {"p", two_}, {"q", one_}});
  for (int step = 0; step < 9; ++step) Compare({{"y", three_}}, {{"y", one_}});
  Compare({{"y", three_}, {"p", two_}, {"q", one_}}, {{"y", three_}, {"p", one_}, {"q", two_}});
  EXPECT_THAT(swapped_.Describe(), HasSubstr("'p' has the values of 'q'"));
}

}  // namespace
}  // namespace vernier
