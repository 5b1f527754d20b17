#include "surgeon/reduction.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <string>

#include "model/onnx/onnx_test_model.h"

namespace vernier {
namespace {

using testing_model::Field;
using testing_model::Node;
using testing_model::Parse;
using testing_model::Value;

OnnxModel Chain(uint32_t length) {
  std::string graph;
  for (uint32_t i = 0; i < length; ++i) {
    graph += Field(1, Node("Relu", {"t" + std::to_string(i)}, {"t" + std::to_string(i + 1)}));
  }
  graph += Field(11, Value("t0")) + Field(12, Value("t" + std::to_string(length)));
  return *Parse(testing_model::Model(graph));
}

struct Outcome {
  std::set<uint32_t> bad;
  size_t checks = 0;
  size_t nodes = 0;  // in all parts that were checked
};

// Reduces a chain that fails where all of `needed` are together.
Outcome ReduceChain(uint32_t length, const std::set<uint32_t>& needed,
                    const ReductionOptions& options = {}) {
  Outcome outcome;
  std::set<std::set<uint32_t>> asked;
  const auto first = [&](std::span<const NodeSet> parts) -> Result<std::optional<size_t>> {
    for (size_t i = 0; i < parts.size(); ++i) {
      const std::set<uint32_t> part(parts[i].begin(), parts[i].end());
      EXPECT_TRUE(asked.insert(part).second) << "asked twice";
      EXPECT_LT(part.size(), length);
      outcome.nodes += part.size();
      if (std::includes(part.begin(), part.end(), needed.begin(), needed.end()))
        return std::optional(i);
    }
    return std::optional<size_t>();
  };
  const Result<Reduction> reduction = ReduceNodes(Chain(length), options, first);
  EXPECT_TRUE(reduction.ok());
  outcome.bad = {reduction->bad.begin(), reduction->bad.end()};
  outcome.checks = asked.size();
  return outcome;
}

TEST(ReductionTest, OneNodeAnywhereIsFoundByHalves) {
  size_t checks = 0, nodes = 0;
  for (uint32_t node = 0; node < 400; ++node) {
    const Outcome outcome = ReduceChain(400, {node});
    EXPECT_EQ(outcome.bad, std::set<uint32_t>{node});
    EXPECT_LE(outcome.checks, 14u) << node;
    checks += outcome.checks;
    nodes += outcome.nodes;
  }
  // Polygraphy: 17 models of 150 nodes on average.
  EXPECT_LE(checks / 400, 10u);
  EXPECT_LE(nodes / 400, 500u);
}

TEST(ReductionTest, NeighboursAreFoundWhereverTheCutsAre) {
  size_t checks = 0;
  for (uint32_t node = 0; node + 1 < 400; ++node) {
    const Outcome outcome = ReduceChain(400, {node, node + 1});
    EXPECT_EQ(outcome.bad, (std::set<uint32_t>{node, node + 1}));
    EXPECT_LE(outcome.checks, 26u) << node;
    checks += outcome.checks;
  }
  EXPECT_LE(checks / 399, 14u);
}

TEST(ReductionTest, NodesFarApartAreFound) {
  for (const auto& needed :
       {std::set<uint32_t>{0, 399}, std::set<uint32_t>{10, 350}, std::set<uint32_t>{199, 200},
        std::set<uint32_t>{120, 200, 280}, std::set<uint32_t>{3, 100, 101, 250}}) {
    const Outcome outcome = ReduceChain(400, needed);
    EXPECT_EQ(outcome.bad, needed);
    EXPECT_LE(outcome.checks, 90u);
  }
}

TEST(ReductionTest, TinyModels) {
  for (uint32_t length = 1; length < 6; ++length) {
    for (uint32_t first = 0; first < length; ++first) {
      for (uint32_t last = first; last < length; ++last) {
        EXPECT_EQ(ReduceChain(length, {first, last}).bad, (std::set<uint32_t>{first, last}));
      }
    }
  }
}

TEST(ReductionTest, MoreAtOnceTakeFewerRounds) {
  ReductionOptions options;
  options.width = 3;
  for (uint32_t node = 0; node < 64; ++node) {
    EXPECT_EQ(ReduceChain(64, {node}, options).bad, std::set<uint32_t>{node});
  }
}

TEST(ReductionTest, WhatStaysStays) {
  ReductionOptions options;
  options.reduce_inputs = false;
  std::set<uint32_t> before;
  for (uint32_t i = 0; i <= 23; ++i) before.insert(i);
  EXPECT_EQ(ReduceChain(40, {23}, options).bad, before);
}

}  // namespace
}  // namespace vernier
