#include "core/tensor_slice.h"

#include <gtest/gtest.h>

#include <numeric>

namespace vernier {
namespace {

// 0, 1, 2 ... of shape (2, 3, 4).
Tensor Counting() {
  std::vector<int32_t> values(24);
  std::iota(values.begin(), values.end(), 0);
  return *Tensor::Copy(DType::kInt32, {2, 3, 4}, std::as_bytes(std::span(values)));
}

// "(3, 4): 0 1 2 ...", or the error.
std::string Taken(const std::string& slice, const std::string& axes = "") {
  TensorForm form;
  if (!slice.empty()) {
    const auto parsed = ParseSlice(slice);
    if (!parsed.ok()) return parsed.status().message();
    form.slice = *parsed;
  }
  if (!axes.empty()) {
    const auto parsed = ParseAxes(axes);
    if (!parsed.ok()) return parsed.status().message();
    form.axes = *parsed;
  }
  const Result<Tensor> taken = TakeForm(Counting(), form);
  if (!taken.ok()) return taken.status().message();
  std::string text = FormatDims(taken->dims()) + ":";
  for (const int32_t value : taken->As<int32_t>()) text += " " + std::to_string(value);
  return text;
}

TEST(TensorSlice, TakesWhatNumPyTakes) {
  EXPECT_EQ(Taken("1,2"), "(4,): 20 21 22 23");
  EXPECT_EQ(Taken("-1,-1,-1"), "(): 23");
  EXPECT_EQ(Taken("0,:,1:3"), "(3, 2): 1 2 5 6 9 10");
  EXPECT_EQ(Taken("0, 0, ::-2"), "(2,): 3 1");
  EXPECT_EQ(Taken("..., 0"), "(2, 3): 0 4 8 12 16 20");
  EXPECT_EQ(Taken("None,0,0"), "(1, 4): 0 1 2 3");
  EXPECT_EQ(Taken("0,0,None,1:100"), "(1, 3): 1 2 3");
  EXPECT_EQ(Taken("0,0,-100:2"), "(2,): 0 1");
  EXPECT_EQ(Taken("0,0,3:1"), "(0,):");
  EXPECT_EQ(Taken("0,0,2::9223372036854775807"), "(1,): 2");
  EXPECT_EQ(Taken("0,0,...,1"), "(): 1");
}

TEST(TensorSlice, PermutesAfterTheSlice) {
  EXPECT_EQ(Taken("0", "1,0"), "(4, 3): 0 4 8 1 5 9 2 6 10 3 7 11");
  EXPECT_EQ(Taken("0,:2,:2", "0,1"), "(2, 2): 0 1 4 5");
}

TEST(TensorSlice, SaysWhatIsWrong) {
  EXPECT_EQ(Taken("x"), "expected an index, START:STOP, START:STOP:STEP, ... or None, got 'x'");
  EXPECT_EQ(Taken("1:2:3:4"),
            "expected an index, START:STOP, START:STOP:STEP, ... or None, got '1:2:3:4'");
  EXPECT_EQ(Taken(""), Taken("..."));
  EXPECT_EQ(Taken("::0"), "the step of a slice must not be 0, got '::0'");
  EXPECT_EQ(Taken("...,..."), "a slice has at most one '...', got '...,...'");
  EXPECT_EQ(Taken("5"), "index 5 is out of range for axis 0 of shape (2, 3, 4)");
  EXPECT_EQ(Taken("0,0,0,0"), "the slice has 4 entries for the axes of shape (2, 3, 4)");
  EXPECT_EQ(Taken("", "0,1"), "the axes 0,1 are not those of shape (2, 3, 4)");
  EXPECT_EQ(Taken("", "0,1,1"),
            "expected the axes from 0 on in another order, as in 0,3,1,2, got '0,1,1'");
}

TEST(TensorSlice, TakesStringsAndNibbles) {
  const std::vector<std::string> words = {"a", "b", "c"};
  const Tensor strings = *Tensor::FromStrings({3}, words);
  const Tensor last = *TakeForm(strings, {*ParseSlice("1:"), {}});
  EXPECT_EQ(last.dims(), (Dims{2}));
  EXPECT_EQ(last.StringAt(1), "c");
  const std::vector<std::byte> packed = {std::byte{0x21}, std::byte{0x03}};
  const Tensor nibbles = *Tensor::Copy(DType::kInt4, {3}, packed);
  const Tensor taken = *TakeForm(nibbles, {*ParseSlice("1:"), {}});
  EXPECT_EQ(taken.bytes()[0], std::byte{0x32});
}

TEST(Tensor, TakesAsManyStringsAsItsShapeHas) {
  const std::vector<std::string> words = {"a", "b"};
  for (const Dims& dims : {Dims{1}, Dims{3}, Dims{}, Dims{-2}}) {
    EXPECT_EQ(Tensor::FromStrings(dims, words).status().code(), StatusCode::kMalformed);
  }
  EXPECT_EQ(Tensor::FromStrings({1}, words).status().message(),
            "2 strings do not fill the shape (1,)");
  EXPECT_TRUE(Tensor::FromStrings({2, 1}, words).ok());
  EXPECT_TRUE(Tensor::FromStrings({0}, {}).ok());
}

TEST(TensorSlice, SharesWhatIsTakenWhole) {
  const Tensor tensor = Counting();
  EXPECT_EQ(TakeForm(tensor, {})->bytes().data(), tensor.bytes().data());
}

}  // namespace
}  // namespace vernier
