#include "model/pairs/structural_pairs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "model/onnx/onnx_test_model.h"

namespace vernier {
namespace {

using testing::IsEmpty;
using testing_model::ExternalTensor;
using testing_model::Field;
using testing_model::Node;
using testing_model::Shared;
using testing_model::Value;

std::string Do(std::string_view op, std::initializer_list<std::string_view> inputs,
               std::string_view output) {
  return Field(1, Node(op, inputs, {output}));
}

const std::string kWeights = Field(5, ExternalTensor("w0", 9, "w.bin", "0", "36")) +
                             Field(5, ExternalTensor("w1", 9, "w.bin", "36", "36")) +
                             Field(11, Value("x")) + Field(12, Value("y"));

// Two layers, their tensors counted.
const std::string kLayers = Do("MatMul", {"x", "w0"}, "v1") + Do("Tanh", {"v1"}, "v2") +
                            Do("MatMul", {"v2", "w1"}, "v3") + Do("Tanh", {"v3"}, "y") + kWeights;

TEST(StructuralPairs, ANodeMoreThatMovesCountedNamesMovesThePairs) {
  const std::string longer = Do("Neg", {"x"}, "v1") + Do("Neg", {"v1"}, "v2") +
                             Do("MatMul", {"v2", "w0"}, "v3") + Do("Tanh", {"v3"}, "v4") +
                             Do("MatMul", {"v4", "w1"}, "v5") + Do("Tanh", {"v5"}, "y") + kWeights;
  const auto first = Shared(kLayers), second = Shared(longer);
  const StructuralPairs expected = {{"v3", "v1"}, {"v4", "v2"}, {"v5", "v3"}, {"y", "y"}};
  EXPECT_EQ(PairByStructure(*first, *second), expected);
  const StructuralPairs back = {{"v1", "v3"}, {"v2", "v4"}, {"v3", "v5"}, {"y", "y"}};
  EXPECT_EQ(PairByStructure(*second, *first), back);
}

TEST(StructuralPairs, NamesStayWhereTheyFit) {
  const auto first = Shared(kLayers);
  EXPECT_THAT(PairByStructure(*first, *first), IsEmpty());
  const std::string named = Do("MatMul", {"x", "w0"}, "v1") + Do("Identity", {"v1"}, "extra") +
                            Do("Tanh", {"extra"}, "v2") + Do("MatMul", {"v2", "w1"}, "v3") +
                            Do("Tanh", {"v3"}, "y") + kWeights;
  EXPECT_THAT(PairByStructure(*first, *Shared(named)), IsEmpty());
  // As a copy in float16 has it, where the name is behind the cast.
  const std::string cast = Do("MatMul", {"x", "w0"}, "v1_half") + Do("Cast", {"v1_half"}, "v1") +
                           Do("Tanh", {"v1"}, "v2") + Do("MatMul", {"v2", "w1"}, "v3") +
                           Do("Tanh", {"v3"}, "y") + kWeights;
  EXPECT_THAT(PairByStructure(*first, *Shared(cast)), IsEmpty());
  EXPECT_THAT(PairByStructure(*Shared(cast), *first), IsEmpty());
}

// Faults, which are to be seen under their own names.
TEST(StructuralPairs, ANodeThatDoesOrReadsSomethingElseLeavesNamesAsTheyAre) {
  const std::string other = Do("MatMul", {"x", "w0"}, "v1") + Do("Sigmoid", {"v1"}, "v2") +
                            Do("MatMul", {"v2", "w1"}, "v3") + Do("Tanh", {"v3"}, "y") + kWeights;
  EXPECT_THAT(PairByStructure(*Shared(kLayers), *Shared(other)), IsEmpty());
  const auto both = [](std::string_view q, std::string_view k) {
    return Shared(Do("MatMul", {"x", q}, "q") + Do("MatMul", {"x", k}, "k") +
                  Do("Tanh", {"q"}, "tq") + Do("Tanh", {"k"}, "tk") + Do("Sub", {"tq", "tk"}, "y") +
                  kWeights);
  };
  EXPECT_THAT(PairByStructure(*both("w0", "w1"), *both("w1", "w0")), IsEmpty());
}

TEST(StructuralPairs, AFaultIsPairedAmongNamesThatMoved) {
  const std::string faulty = Do("Identity", {"x"}, "v1") + Do("MatMul", {"v1", "w0"}, "v2") +
                             Do("Sigmoid", {"v2"}, "v3") + Do("MatMul", {"v3", "w1"}, "v4") +
                             Do("Tanh", {"v4"}, "y") + kWeights;
  const StructuralPairs pairs = PairByStructure(*Shared(kLayers), *Shared(faulty));
  const StructuralPairs expected = {{"v2", "v1"}, {"v4", "v3"}, {"y", "y"}};
  EXPECT_EQ(pairs, expected);
}

}  // namespace
}  // namespace vernier
