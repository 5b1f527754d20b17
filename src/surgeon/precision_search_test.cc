#include "surgeon/precision_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

namespace vernier {
namespace {

// A check that passes where all of `needed` stay, and counts what it is asked.
class Oracle {
 public:
  explicit Oracle(std::set<uint32_t> needed) : needed_(std::move(needed)) {}

  Result<std::optional<size_t>> First(std::span<const NodeSet> sets) {
    for (size_t i = 0; i < sets.size(); ++i) {
      const std::set<uint32_t> set(sets[i].begin(), sets[i].end());
      EXPECT_TRUE(asked_.insert(set).second) << "asked twice";
      if (std::includes(set.begin(), set.end(), needed_.begin(), needed_.end()))
        return std::optional(i);
    }
    return std::optional<size_t>();
  }

  size_t asked() const { return asked_.size(); }

 private:
  std::set<uint32_t> needed_;
  std::set<std::set<uint32_t>> asked_;
};

PrecisionPlan Plan(size_t count, size_t group_size) {
  PrecisionPlan plan;
  plan.ranked.resize(count);
  std::iota(plan.ranked.begin(), plan.ranked.end(), 0);
  for (size_t i = 0; group_size > 0 && i < count; ++i) {
    if (i % group_size == 0) plan.groups.emplace_back();
    plan.groups.back().push_back(static_cast<uint32_t>(i));
  }
  return plan;
}

struct SearchCase {
  const char* name;
  size_t count, group_size;
  std::set<uint32_t> needed;
  size_t most_checks;
};

class KeptNodes : public testing::TestWithParam<SearchCase> {};

TEST_P(KeptNodes, AreThoseThatAreNeeded) {
  const SearchCase& c = GetParam();
  Oracle oracle(c.needed);
  const auto kept = FindKeptNodes(Plan(c.count, c.group_size), [&](std::span<const NodeSet> sets) {
    return oracle.First(sets);
  });
  ASSERT_TRUE(kept.ok() && kept->has_value());
  const NodeSet& nodes = (*kept)->nodes;
  EXPECT_EQ(std::set<uint32_t>(nodes.begin(), nodes.end()), c.needed);
  EXPECT_TRUE(std::is_sorted(nodes.begin(), nodes.end()));
  EXPECT_TRUE((*kept)->minimal);
  EXPECT_LE(oracle.asked(), c.most_checks);
}

INSTANTIATE_TEST_SUITE_P(Evidence, KeptNodes,
                         testing::Values(SearchCase{"None", 100, 10, {}, 1},
                                         SearchCase{"TheMostSuspicious", 100, 0, {0}, 3},
                                         SearchCase{"TheMostSuspiciousOfAGroup", 100, 10, {0}, 5},
                                         SearchCase{"TwoAtTheTop", 1000, 0, {0, 1}, 8},
                                         SearchCase{"TheLast", 64, 8, {63}, 30},
                                         SearchCase{"FarApart", 200, 20, {3, 77, 150}, 60},
                                         SearchCase{"All", 4, 0, {0, 1, 2, 3}, 14},
                                         SearchCase{"OneOfOne", 1, 1, {0}, 2}),
                         [](const auto& info) { return info.param.name; });

// Where evidence leaves no doubt, float16 everywhere is tried only if nothing else answers for it.
TEST(KeptNodes, NeedNoCheckOfWhatIsCertain) {
  struct Case {
    NodeSet likely;
    std::set<uint32_t> needed;
    size_t checks;
  };
  const Case cases[] = {{{0, 1}, {0, 1}, 3}, {{0, 1, 2}, {0, 1}, 4}, {{0}, {0}, 2},
                        {{0, 1}, {}, 3},     {{0}, {}, 2},           {{0, 1}, {0, 7}, 40}};
  for (const Case& c : cases) {
    PrecisionPlan plan = Plan(50, 10);
    plan.likely = c.likely;
    plan.certain = true;
    Oracle oracle(c.needed);
    const auto kept =
        FindKeptNodes(plan, [&](std::span<const NodeSet> sets) { return oracle.First(sets); });
    ASSERT_TRUE(kept.ok() && kept->has_value());
    EXPECT_EQ(std::set<uint32_t>((*kept)->nodes.begin(), (*kept)->nodes.end()), c.needed);
    EXPECT_LE(oracle.asked(), c.checks);
  }
}

// Part of what evidence would keep may be enough; that it is not costs one check.
TEST(KeptNodes, MayBeFewerThanEvidenceWouldKeep) {
  struct Case {
    std::set<uint32_t> needed;
    size_t checks;
  };
  for (const Case& c : {Case{{0, 2}, 3}, Case{{0}, 4}, Case{{0, 1, 2}, 4}, Case{{0, 1}, 5}}) {
    PrecisionPlan plan = Plan(50, 10);
    plan.likely = {0, 1, 2};
    plan.fewer = {0, 2};
    plan.certain = true;
    Oracle oracle(c.needed);
    const auto kept =
        FindKeptNodes(plan, [&](std::span<const NodeSet> sets) { return oracle.First(sets); });
    ASSERT_TRUE(kept.ok() && kept->has_value());
    EXPECT_EQ(std::set<uint32_t>((*kept)->nodes.begin(), (*kept)->nodes.end()), c.needed);
    EXPECT_LE(oracle.asked(), c.checks);
  }
}

// Node 0 spoils what node 1 cures, unless node 2 is there too.
TEST(KeptNodes, HoldNoneThatIsNeedless) {
  const auto passes = [](const NodeSet& set) {
    const std::set<uint32_t> in(set.begin(), set.end());
    return in.contains(1) && (!in.contains(0) || in.contains(2));
  };
  const auto kept = FindKeptNodes(Plan(3, 0), [&](std::span<const NodeSet> sets) {
    const auto found = std::find_if(sets.begin(), sets.end(), passes);
    return Result(found == sets.end() ? std::optional<size_t>()
                                      : std::optional<size_t>(found - sets.begin()));
  });
  ASSERT_TRUE(kept.ok() && kept->has_value());
  EXPECT_EQ((*kept)->nodes, NodeSet({1}));
}

struct GuessCase {
  const char* name;
  NodeSet likely;
  std::set<uint32_t> needed;
  size_t most_checks;
};

class LikelyNodes : public testing::TestWithParam<GuessCase> {};

TEST_P(LikelyNodes, AreTriedFirst) {
  const GuessCase& c = GetParam();
  Oracle oracle(c.needed);
  PrecisionPlan plan = Plan(200, 20);
  plan.likely = c.likely;
  const auto kept =
      FindKeptNodes(plan, [&](std::span<const NodeSet> sets) { return oracle.First(sets); });
  ASSERT_TRUE(kept.ok() && kept->has_value());
  EXPECT_EQ(std::set<uint32_t>((*kept)->nodes.begin(), (*kept)->nodes.end()), c.needed);
  EXPECT_LE(oracle.asked(), c.most_checks);
}

INSTANTIATE_TEST_SUITE_P(
    Evidence, LikelyNodes,
    testing::Values(GuessCase{"OneThatIsRight", {7}, {7}, 2},
                    GuessCase{"NoneAreNeeded", {7}, {}, 1},
                    GuessCase{"TwoThatAreRight", {7, 90}, {7, 90}, 4},
                    GuessCase{"OneTooMany", {7, 8, 90}, {7, 90}, 6},
                    GuessCase{"OneOfMany", {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, {5}, 10},
                    GuessCase{"OneTooFew", {7}, {7, 90}, 30}, GuessCase{"Wrong", {7}, {3}, 16}),
    [](const auto& info) { return info.param.name; });

// Every other node is needed: far more checks than there are.
TEST(KeptNodes, AreTheFewestThatPassedWhenTheChecksAreSpent) {
  std::set<uint32_t> needed;
  for (uint32_t node = 0; node < 100; node += 2) needed.insert(node);
  for (const size_t most : {3u, 20u, 60u}) {
    Oracle oracle(needed);
    PrecisionPlan plan = Plan(200, 20);
    plan.most_checks = most;
    const auto kept =
        FindKeptNodes(plan, [&](std::span<const NodeSet> sets) { return oracle.First(sets); });
    ASSERT_TRUE(kept.ok() && kept->has_value());
    EXPECT_FALSE((*kept)->minimal);
    const std::set<uint32_t> nodes((*kept)->nodes.begin(), (*kept)->nodes.end());
    EXPECT_TRUE(std::includes(nodes.begin(), nodes.end(), needed.begin(), needed.end()));
    if (most >= 10) EXPECT_LE(nodes.size(), 100u);
    EXPECT_LE(oracle.asked(), most);
  }
}

TEST(KeptNodes, AreNotThereWhereTheChecksAreSpentTooSoon) {
  Oracle oracle({1});
  PrecisionPlan plan = Plan(10, 5);
  plan.most_checks = 1;
  const auto kept =
      FindKeptNodes(plan, [&](std::span<const NodeSet> sets) { return oracle.First(sets); });
  EXPECT_EQ(kept.status().code(), StatusCode::kNotFound);
  EXPECT_EQ(kept.status().message(), "no set of nodes passed within 1 check");
}

TEST(KeptNodes, AreNotThereWhereEverythingFails) {
  const auto kept = FindKeptNodes(Plan(10, 5), [](std::span<const NodeSet>) {
    return Result<std::optional<size_t>>(std::optional<size_t>());
  });
  ASSERT_TRUE(kept.ok());
  EXPECT_FALSE(kept->has_value());
}

TEST(KeptNodes, EndWithTheErrorOfACheck) {
  const auto kept = FindKeptNodes(Plan(10, 5), [](std::span<const NodeSet>) {
    return Result<std::optional<size_t>>(BackendError("gone"));
  });
  EXPECT_EQ(kept.status().code(), StatusCode::kBackend);
}

}  // namespace
}  // namespace vernier
