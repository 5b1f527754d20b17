// States whose names hold words that may say the age: last, prev, old, next.
#include <gtest/gtest.h>

#include "run/steps/state_likeness.h"
#include "run/steps/state_pairs.h"

namespace vernier {
namespace {

TensorInfo StateOf(std::string name, const std::vector<int64_t>& dims) {
  TensorInfo info{std::move(name), DType::kFloat32, std::vector<Dim>()};
  for (const int64_t size : dims) info.shape->push_back({size, {}});
  return info;
}

TEST(StateNamesTest, TheWholeNameOfAnInputIsExact) {
  EXPECT_EQ(LikenessOfNames("last_token_out", "last_token"), NameLikeness::kExact);
  EXPECT_EQ(LikenessOfNames("new_next", "next"), NameLikeness::kExact);
  EXPECT_EQ(LikenessOfNames("hn_out", "h"), NameLikeness::kExact);
  EXPECT_EQ(LikenessOfNames("new_x", "prev_x"), NameLikeness::kStem);
  EXPECT_EQ(LikenessOfNames("new_last_x", "prev_last_x"), NameLikeness::kStem);
  EXPECT_EQ(LikenessOfNames("present_key_values", "past_key_values"), NameLikeness::kStem);
  EXPECT_EQ(LikenessOfNames("last_token_out", "token_id"), NameLikeness::kNone);
  EXPECT_EQ(LikenessOfNames("out", "in"), NameLikeness::kNone);
  std::string many = "x";
  for (int i = 0; i < 1000; ++i) many += "_out";
  EXPECT_EQ(LikenessOfNames(many, "x"), NameLikeness::kExact);
}

// Of inputs 'x' and 'last_x', each has its own next value.
TEST(StateNamesTest, AutoLetsExactNamesDecide) {
  const std::vector<TensorInfo> inputs = {StateOf("x", {1, 5}), StateOf("last_x", {1, 5})};
  const std::vector<TensorInfo> outputs = {StateOf("last_x_out", {1, 5}), StateOf("new_x", {1, 5})};
  std::vector<StatePair> pairs;
  const Status paired = PairStateByLikeness({"ort", inputs, outputs}, {}, pairs);
  ASSERT_TRUE(paired.ok()) << paired.message();
  EXPECT_EQ(pairs, (std::vector<StatePair>{{"last_x_out", "last_x"}, {"new_x", "x"}}));
}

TEST(StateNamesTest, AStateThatWordsForgotIsNamedWhateverItIsCalled) {
  for (const char* const name : {"prev_err", "last_err", "old_err", "next_err", "err"}) {
    const std::vector<TensorInfo> inputs = {StateOf("h", {1, 1}), StateOf(name, {1, 1})};
    const std::string output = "new_" + inputs[1].name;
    const std::vector<TensorInfo> outputs = {StateOf("new_h", {1, 1}), StateOf(output, {1, 1})};
    const std::vector<StatePair> pairs = {{"new_h", "h"}};
    EXPECT_EQ(CheckAllStatesFed({"ort", inputs, outputs}, {}, pairs).message(),
              "--feed-back: nothing feeds the input '" + inputs[1].name +
                  "' of ort after the first step, and output '" + output +
                  "' is called like it: add " + output + ":" + inputs[1].name + ", or --advance " +
                  inputs[1].name + ":+0 for a value that stays");
  }
}

// One element a row is worth a question, whatever it is called.
TEST(StateNamesTest, AStateOfOneElementMayBeOne) {
  for (const std::vector<int64_t>& dims :
       std::vector<std::vector<int64_t>>{{2, 1}, {1, 1}, {2, 1, 1}, {2, 5}}) {
    const std::vector<TensorInfo> inputs = {StateOf("h", {1, 8}), StateOf("cell", dims)};
    const std::vector<TensorInfo> outputs = {StateOf("h_out", {1, 8}), StateOf("y", dims)};
    const std::vector<StatePair> pairs = {{"h_out", "h"}};
    EXPECT_EQ(WordsToFeed(inputs[1], {"ort", inputs, outputs}, pairs), "y:cell") << dims.size();
    EXPECT_TRUE(CheckAllStatesFed({"ort", inputs, outputs}, {}, pairs).ok());
  }
  const std::vector<TensorInfo> inputs = {StateOf("h", {1, 8}), StateOf("scale", {8})};
  const std::vector<TensorInfo> outputs = {StateOf("h_out", {1, 8}), StateOf("y", {8})};
  const std::vector<StatePair> pairs = {{"h_out", "h"}};
  EXPECT_EQ(WordsToFeed(inputs[1], {"ort", inputs, outputs}, pairs), "");
}

}  // namespace
}  // namespace vernier
