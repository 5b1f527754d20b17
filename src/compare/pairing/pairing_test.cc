#include "compare/pairing/pairing.h"

#include <gtest/gtest.h>

#include "compare/outputs/tensor_for_test.h"

namespace vernier {
namespace {

using Names = std::vector<std::string>;

TensorMap Outputs(const Names& names) {
  TensorMap map;
  for (const std::string& name : names) map.push_back({name, Floats({1, 2})});
  return map;
}

std::string Describe(const Names& a, const Names& b, const Pairing& pairing) {
  static const char* const kHow[] = {"=", "~", "<", "#", "%", "^", "!"};
  std::string text;
  for (const OutputPair& pair : pairing.pairs) {
    text += a[pair.a] + kHow[static_cast<size_t>(pair.how)] + b[pair.b] + " ";
  }
  for (const std::string& name : pairing.left_only) text += "-" + name + " ";
  for (const std::string& name : pairing.right_only) text += "+" + name + " ";
  if (!text.empty()) text.pop_back();
  return text;
}

struct PairingCase {
  const char* name;
  Names a, b;
  const char* one_to_one;
  const char* marked;
  const char* lenient;
};

class PairingRules : public testing::TestWithParam<PairingCase> {};

TEST_P(PairingRules, PairAsDescribed) {
  const PairingCase& c = GetParam();
  const TensorMap a = Outputs(c.a);
  const TensorMap b = Outputs(c.b);
  EXPECT_EQ(Describe(c.a, c.b, PairOutputs(a, b, PairingRule::kOneToOne)), c.one_to_one);
  EXPECT_EQ(Describe(c.a, c.b, PairOutputs(a, b, PairingRule::kOneToOneMarked)), c.marked);
  EXPECT_EQ(Describe(c.a, c.b, PairOutputs(a, b, PairingRule::kLenient)), c.lenient);
}

INSTANTIATE_TEST_SUITE_P(
    Names, PairingRules,
    testing::Values(
        PairingCase{"Exact", {"x", "y"}, {"y", "x"}, "x=x y=y", "x=x y=y", "x=x y=y"},
        PairingCase{"CaseAndTensorFlowSuffix",
                    {"Prob"},
                    {"prob:0"},
                    "Prob~prob:0",
                    "Prob~prob:0",
                    "Prob<prob:0"},
        PairingCase{"SubstringUniqueOnBothSides",
                    {"logits", "loss"},
                    {"model/logits", "z", "w"},
                    "logits<model/logits -loss +z +w",
                    "logits<model/logits -loss +z +w",
                    "logits<model/logits loss#z +w"},
        // Two letters lie within another name by chance.
        PairingCase{"ShortSubstring",
                    {"probs", "logits"},
                    {"ob", "gi"},
                    "-probs -logits +ob +gi",
                    "-probs -logits +ob +gi",
                    "probs<ob logits<gi"},
        PairingCase{"AmbiguousSubstring",
                    {"out"},
                    {"out_2", "out_1"},
                    "-out +out_2 +out_1",
                    "-out +out_2 +out_1",
                    "out<out_2 +out_1"},
        PairingCase{"OneLeftOnEachSide", {"x", "y"}, {"x", "q"}, "x=x y#q", "x=x -y +q", "x=x y#q"},
        PairingCase{"TwoLeft", {"a", "b"}, {"q", "r"}, "-a -b +q +r", "-a -b +q +r", "a#q b#r"},
        // Polygraphy lets both meet "OUT"; one to one, neither may claim it.
        PairingCase{"FoldingIsAmbiguous",
                    {"Out", "out"},
                    {"OUT"},
                    "-Out -out +OUT",
                    "-Out -out +OUT",
                    "Out~OUT out~OUT"},
        PairingCase{"CandidateAlreadyExact",
                    {"out", "out_2"},
                    {"out_2"},
                    "out_2=out_2 -out",
                    "out_2=out_2 -out",
                    "out_2=out_2 -out"},
        PairingCase{"NothingAtAll", {}, {}, "", "", ""}),
    [](const auto& info) { return info.param.name; });

TEST(PairOutputs, NeedsAgreementForInexactNames) {
  const TensorMap a = {{"logits", Floats({1, 2})}};
  const TensorMap other_shape = {{"my_logits", Floats({1, 2, 3})}};
  const TensorMap other_type = {{"my_logits", Ints({2}, {1, 2})}};
  EXPECT_TRUE(PairOutputs(a, other_shape, PairingRule::kOneToOne).pairs.empty());
  EXPECT_TRUE(PairOutputs(a, other_type, PairingRule::kOneToOne).pairs.empty());
  EXPECT_EQ(PairOutputs(a, other_type, PairingRule::kLenient).pairs.size(), 1u);
}

TEST(PairOutputs, PairsTheOnlyOnesOfATypeAndShape) {
  const TensorMap a = {{"a", Floats({1, 2})}, {"b", Floats({1, 2, 3})}, {"c", Ints({2}, {1, 2})}};
  const TensorMap b = {{"x", Floats({1, 2, 3})}, {"y", Floats({1, 2})}, {"z", Floats({3, 4})}};
  EXPECT_EQ(Describe({"a", "b", "c"}, {"x", "y", "z"}, PairOutputs(a, b, PairingRule::kOneToOne)),
            "b%x -a -c +y +z");
  EXPECT_TRUE(PairOutputs(a, b, PairingRule::kOneToOneMarked).pairs.empty());
}

TEST(PairOutputs, TakesWhatIsKnownFirst) {
  const Names names = {"x", "y"};
  const TensorMap a = Outputs(names), b = Outputs(names);
  const std::vector<KnownPair> known = {{"x", "y", PairedBy::kMap}, {"gone", "x", PairedBy::kMap}};
  EXPECT_EQ(Describe(names, names, PairOutputs(a, b, PairingRule::kOneToOneMarked, known)),
            "x!y -y +x");
  EXPECT_EQ(Describe(names, names, PairOutputs(a, b, PairingRule::kOneToOne, known)), "x!y y#x");
}

TEST(PairOutputs, CountsOfPartsMeetTheirOwnKindAlone) {
  const Names left = {"s[]", "count"}, right = {"t{}", "number"};
  const TensorMap a = {{left[0], Ints({}, {2})}, {left[1], Ints({}, {2})}};
  const TensorMap b = {{right[0], Ints({}, {2})}, {right[1], Ints({}, {2})}};
  EXPECT_EQ(Describe(left, right, PairOutputs(a, b, PairingRule::kOneToOne)),
            "count%number -s[] +t{}");
}

TEST(PairOutputs, ThatAnOptionalIsThereNeedsNoPartner) {
  const Tensor truth = TensorForTest(DType::kBool, {}, std::vector<uint8_t>{1});
  const TensorMap there = {{"o?", truth}, {"o", Floats({1, 2})}};
  const TensorMap plain = {{"o", Floats({1, 2})}}, absent = {{"o?", truth}};
  EXPECT_EQ(Describe({"o?", "o"}, {"o"}, PairOutputs(there, plain, PairingRule::kOneToOne)), "o=o");
  EXPECT_EQ(Describe({"o"}, {"o?"}, PairOutputs(plain, absent, PairingRule::kOneToOne)), "-o +o?");
}

TEST(PairOutputs, LenientNamesTheTakenCandidate) {
  const Pairing pairing =
      PairOutputs(Outputs({"out", "out_2"}), Outputs({"out_2"}), PairingRule::kLenient);
  ASSERT_EQ(pairing.taken.size(), 1u);
  EXPECT_EQ(pairing.taken[0].output, "out");
  EXPECT_EQ(pairing.taken[0].taken, "out_2");
}

}  // namespace
}  // namespace vernier
