#include "compare/positions/masked_positions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "compare/functions/comparator.h"
#include "compare/outputs/tensor_for_test.h"
#include "core/test_values.h"
#include "vernier/compare_options.h"

namespace vernier {
namespace {

using testing::HasSubstr;

// Of two prompts with two positions each: the first one of the second prompt is padding.
FedPositions Padded(bool asked = false, std::vector<std::string> outputs = {"y"}) {
  PositionValues mask{.source = "attention_mask",
                      .asked = asked,
                      .for_elements = true,
                      .outputs = std::move(outputs)};
  mask.tensor = Ints({2, 2}, {1, 1, 0, 1});
  mask.count = 2;
  FedPositions fed;
  fed.mask = std::move(mask);
  return fed;
}

OutputComparison CompareMasked(const Tensor& a, const Tensor& b, const FedPositions& fed,
                               std::vector<CompareFunction> functions = {
                                   CompareFunction::kSimple}) {
  CompareOptions options;
  options.functions = std::move(functions);
  options.worst_elements = 3;
  ComparisonDetail detail;
  detail.positions = &fed;
  return CompareOutputs({"y", a}, {"y", b}, options, detail);
}

const Tensor kWhole = Floats({2, 2, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});

TEST(MaskedPositions, AreComparedByNoFunction) {
  const Tensor other = Floats({2, 2, 3}, {1, 2, 3, 4, 5, 6, kNan, -8, 900, 10, 11, 12});
  const std::vector<CompareFunction> functions = {CompareFunction::kSimple, CompareFunction::kL2,
                                                  CompareFunction::kCosineSimilarity};
  const OutputComparison masked = CompareMasked(kWhole, other, Padded(), functions);
  EXPECT_TRUE(masked.passed());
  ASSERT_TRUE(masked.masked.has_value());
  EXPECT_EQ(masked.masked->mask, "attention_mask");
  EXPECT_EQ(masked.masked->positions, 4);
  EXPECT_EQ(masked.masked->excluded, 1);
  EXPECT_EQ(masked.masked->excluded_elements(), 3);
  EXPECT_FALSE(CompareMasked(kWhole, other, FedPositions(), functions).passed());
}

TEST(MaskedPositions, PlacesAreThoseOfTheWholeOutput) {
  const Tensor other = Floats({2, 2, 3}, {1, 2, 3, 4, 5, 6, 0, 0, 0, 10, 12, 12});
  const OutputComparison masked = CompareMasked(kWhole, other, Padded());
  EXPECT_FALSE(masked.passed());
  ASSERT_TRUE(masked.measures.has_value());
  EXPECT_EQ(masked.measures->difference.count, 9);
  EXPECT_EQ(masked.measures->difference.mismatches, 1);
  EXPECT_EQ(masked.measures->difference.first_mismatch, 10);
  EXPECT_EQ(masked.measures->difference.absolute.argmax, 10);
  EXPECT_EQ(masked.measures->a.argmax, 11);
  EXPECT_EQ(masked.measures->b.min, 1);  // and not the 0 of padding
  EXPECT_EQ(masked.measures->ulp.place_of_max, 10);
  ASSERT_FALSE(masked.measures->worst.empty());
  EXPECT_EQ(masked.measures->worst.front().place, 10);
  const auto& simple = std::get<SimpleResult>(masked.functions.front().data);
  EXPECT_EQ(simple.difference.absolute.argmax, 10);
  EXPECT_EQ(masked.a_dims, (Dims{2, 2, 3}));
}

TEST(MaskedPositions, WithoutAnyNothingIsCompared) {
  FedPositions fed = Padded();
  fed.mask->tensor = Ints({2, 2}, {0, 0, 0, 0});
  const Tensor other = Floats({2, 2, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  const OutputComparison masked = CompareMasked(kWhole, other, fed);
  EXPECT_EQ(masked.functions.front().verdict, Verdict::kNotVerified);
  EXPECT_EQ(masked.functions.front().why, "'attention_mask' excludes every position");
}

TEST(MaskedPositions, WhatIsLeftHasToShowSomething) {
  const Tensor constant = Floats({2, 2, 3}, {5, 5, 5, 5, 5, 5, 7, 8, 9, 5, 5, 5});
  const Tensor other = Floats({2, 2, 3}, {5, 5, 5, 5, 5, 5, 0, 0, 0, 5, 5, 5});
  EXPECT_FALSE(CompareMasked(constant, other, Padded()).vacuous.empty());
}

TEST(MaskedPositions, SayWhetherTheyDiffer) {
  const Tensor other = Floats({2, 2, 3}, {1, 2, 3, 4, 5, 6, kNan, -8, 9, 10, 11, 12});
  OutputComparison masked = CompareMasked(kWhole, other, Padded());
  EXPECT_TRUE(masked.passed());
  EXPECT_TRUE(masked.masked->differ);
  EXPECT_EQ(masked.masked->mismatches, 2);
  EXPECT_TRUE(CompareMasked(kWhole, other, Padded(true)).masked->differ);
  masked = CompareMasked(kWhole, kWhole, Padded());
  EXPECT_EQ(masked.masked->excluded, 1);
  EXPECT_FALSE(masked.masked->differ);
}

TEST(MaskedPositions, AreComparedWhereNothingIsCertain) {
  const Tensor other = Floats({2, 2, 3}, {1, 2, 3, 4, 5, 6, 0, 0, 9, 10, 11, 13});
  const OutputComparison whole = CompareMasked(kWhole, other, Padded(false, {"x"}));
  EXPECT_FALSE(whole.passed());
  EXPECT_EQ(whole.measures->difference.mismatches, 3);
  EXPECT_EQ(whole.masked->excluded, 0);
  EXPECT_TRUE(whole.masked->differ);
  EXPECT_EQ(whole.masked->mismatches, 2);
}

// Which axis positions are along is not guessed: sizes fit by chance.
TEST(MaskedPositions, OnlyOfTheseOutputs) {
  const auto excluded = [](const Tensor& output, const FedPositions& fed) {
    const auto kept = FindKeptPositions(&fed, {"y", output});
    return kept ? kept->masked.excluded : -1;
  };
  const Tensor square = Floats({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  const Tensor pooled = Floats({2, 2}, {1, 2, 3, 4});
  const Tensor caches = Floats({2, 2, 2, 1}, {1, 2, 3, 4, 5, 6, 7, 8});
  const Tensor longer = Floats({2, 1, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(excluded(kWhole, Padded()), 1);
  const Tensor of_heads = Floats({2, 3, 2, 1}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  EXPECT_EQ(excluded(of_heads, Padded()), 3);
  const FedPositions fed = Padded();
  const std::optional<KeptPositions> kept = FindKeptPositions(&fed, {"y", of_heads});
  EXPECT_EQ(kept->kept, (std::vector<int64_t>{0, 1, 2, 3, 4, 5, 7, 9, 11}));
  EXPECT_EQ(kept->others, (std::vector<int64_t>{6, 8, 10}));
  EXPECT_EQ(excluded(square, Padded()), 1);
  EXPECT_EQ(excluded(caches, Padded()), 2);
  EXPECT_EQ(excluded(pooled, Padded()), -1);
  EXPECT_EQ(excluded(longer, Padded()), 0);
  for (const Tensor& output : {kWhole, of_heads, square, caches}) {
    EXPECT_EQ(excluded(output, Padded(false, {})), 0) << FormatDims(output.dims());
  }
  EXPECT_EQ(excluded(square, Padded(true, {})), 1);
  EXPECT_EQ(excluded(longer, Padded(true)), 0);  // its last column
  const FedPositions asked = Padded(true);
  EXPECT_THAT(FindKeptPositions(&asked, {"y", pooled})->masked.why_not,
              HasSubstr("not of float32 (2, 2)"));
  FedPositions for_logits = Padded();
  for_logits.mask->for_elements = false;
  EXPECT_EQ(excluded(kWhole, for_logits), -1);
}

}  // namespace
}  // namespace vernier
