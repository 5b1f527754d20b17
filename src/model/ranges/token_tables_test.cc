#include "model/ranges/token_tables.h"

#include <gtest/gtest.h>

#include <string>

#include "model/onnx/onnx_test_model.h"

namespace vernier {
namespace {

using namespace testing_model;

std::string WholeValue(std::string_view name) {
  return Field(1, name) + Field(2, Field(1, Number(1, 7) + Field(2, Field(1, Field(2, "N")))));
}

// "ids" and "x" are inputs, "table" a weight of 16 rows and "vector" one of 16 numbers.
std::vector<TokenTable> TablesOf(std::initializer_list<std::string> nodes) {
  std::string graph;
  for (const std::string& node : nodes) graph += Field(1, node);
  const auto weight = [](std::string_view name, std::string_view sizes) {
    return Field(5, std::string(sizes) + Number(2, 1) + Field(8, name));
  };
  graph += Field(2, "g") + weight("table", Number(1, 16) + Number(1, 4));
  graph += weight("vector", Number(1, 16));
  graph += Field(11, WholeValue("ids")) + Field(11, Value("x")) + Field(12, Value("y"));
  return FindTokenTables(*Shared(graph));
}

TEST(TokenTablesTest, AreGathersOfRowsOfWeights) {
  const auto tables = TablesOf(
      {Node("Cast", {"ids"}, {"same"}), Node("Gather", {"table", "same"}, {"y"}, Field(3, "emb"))});
  ASSERT_EQ(tables.size(), 1);
  EXPECT_EQ(tables[0].input, "ids");
  EXPECT_EQ(tables[0].table, "table");
  EXPECT_EQ(tables[0].rows, 16);
  EXPECT_EQ(tables[0].node, "Gather 'emb'");
}

TEST(TokenTablesTest, MayBeOfQuantisedWeights) {
  const auto tables = TablesOf({Node("DequantizeLinear", {"table", "scale"}, {"floats"}),
                                Node("Gather", {"floats", "ids"}, {"y"})});
  ASSERT_EQ(tables.size(), 1);
  EXPECT_EQ(tables[0].table, "table");
  EXPECT_EQ(tables[0].rows, 16);
}

TEST(TokenTablesTest, MayBeOfScaledWeights) {
  const auto tables =
      TablesOf({Node("Cast", {"table"}, {"floats"}), Node("Mul", {"floats", "vector"}, {"scaled"}),
                Node("Gather", {"scaled", "ids"}, {"y"})});
  ASSERT_EQ(tables.size(), 1);
  EXPECT_EQ(tables[0].table, "table");
  EXPECT_TRUE(
      TablesOf({Node("Mul", {"table", "x"}, {"scaled"}), Node("Gather", {"scaled", "ids"}, {"y"})})
          .empty());
}

TEST(TokenTablesTest, AreNoOthers) {
  // Another axis; numbers; what no output needs; arithmetic before it.
  EXPECT_TRUE(TablesOf({Node("Gather", {"table", "ids"}, {"y"},
                             Field(5, Field(1, "axis") + Number(3, 1) + Number(20, 2)))})
                  .empty());
  EXPECT_TRUE(TablesOf({Node("Gather", {"vector", "ids"}, {"y"})}).empty());
  EXPECT_TRUE(
      TablesOf({Node("Gather", {"table", "ids"}, {"z"}), Node("Relu", {"x"}, {"y"})}).empty());
  EXPECT_TRUE(
      TablesOf({Node("Add", {"ids", "ids"}, {"more"}), Node("Gather", {"table", "more"}, {"y"})})
          .empty());
}

}  // namespace
}  // namespace vernier
