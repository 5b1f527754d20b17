#include "lint/operator_table.h"

#include <gtest/gtest.h>

#include "vernier/dtype.h"

namespace vernier {
namespace {

TypeSet Bit(DType type) { return TypeSet{1} << static_cast<int>(type); }

TEST(OperatorTable, TakesTheNewestVersionThatTheOpsetHas) {
  const OperatorTable table;
  ASSERT_NE(table.Find("", "Add", 17), nullptr);
  EXPECT_EQ(table.Find("", "Add", 17)->since, 14);
  EXPECT_EQ(table.Find("ai.onnx", "Add", 13)->since, 13);
  EXPECT_EQ(table.Find("", "Gelu", 19), nullptr);
  EXPECT_EQ(table.FirstVersion("", "Gelu"), 20);
  EXPECT_TRUE(table.Find("", "Upsample", 17)->deprecated);
}

TEST(OperatorTable, KnowsPlacesTypesAndAttributes) {
  const OperatorTable table;
  const OperatorVersion* gather = table.Find("", "Gather", 17);
  ASSERT_NE(gather, nullptr);
  EXPECT_EQ(gather->types[gather->inputs[1].type].types, Bit(DType::kInt32) | Bit(DType::kInt64));
  ASSERT_EQ(gather->attributes.size(), 1u);
  EXPECT_FALSE(gather->attributes[0].required);
  const OperatorVersion* concat = table.Find("", "Concat", 17);
  ASSERT_NE(concat, nullptr);
  EXPECT_TRUE(concat->attributes[0].required);
  EXPECT_EQ(OperatorVersion::At(concat->inputs, 9), &concat->inputs[0]);
  EXPECT_EQ(OperatorVersion::At(gather->inputs, 2), nullptr);
  const OperatorVersion* clip = table.Find("", "Clip", 17);
  EXPECT_EQ(clip->min_inputs, 1);
  EXPECT_TRUE(clip->inputs[2].optional);
}

TEST(OperatorTable, OfSomeDomainsOnlyNamesAreKnown) {
  const OperatorTable table;
  EXPECT_TRUE(table.Complete(""));
  EXPECT_TRUE(table.Complete("ai.onnx.ml"));
  EXPECT_FALSE(table.Complete("com.microsoft"));
  EXPECT_TRUE(table.Knows("com.microsoft", "FusedMatMul"));
  EXPECT_EQ(table.Find("com.microsoft", "FusedMatMul", 1), nullptr);
  EXPECT_FALSE(table.Complete("my.domain"));
  EXPECT_EQ(table.NewestOpset("my.domain"), 0);
  EXPECT_TRUE(table.KnowsType(static_cast<int32_t>(DType::kInt4)));
  EXPECT_FALSE(table.KnowsType(0));
  EXPECT_FALSE(table.KnowsType(77));
}

}  // namespace
}  // namespace vernier
