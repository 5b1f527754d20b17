// Options with a value for each output: what their fields' rules are for needs no list of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <type_traits>

#include "options/table/command_options.h"
#include "run/comparison/output_names.h"
#include "session/plan/plan_numbers.h"
#include "vernier/compare_options.h"

namespace vernier {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

// Gives the field at `index`, among those with a value for each output, an entry for "zzz" that its
// rule forbids, if it has one.
struct SpoilOne {
  size_t index;
  size_t at = 0;
  std::string key = {};
  FieldRule rule = {};

  template <typename T>
  void operator()(const char* name, PerOutput<T>& table, const FieldRule& of_field = {}) {
    if (at++ != index) return;
    key = name;
    rule = of_field;
    T value{};
    if constexpr (std::is_arithmetic_v<T>) {
      if (rule.number) value = static_cast<T>(rule.number->least - 1);
    }
    table.entries.emplace_back("zzz", value);
  }
  template <typename T>
  void operator()(const char* /*name*/, const T& /*value*/, const FieldRule& /*rule*/ = {}) {}
  void Thresholds(const PerMetric<PerOutput<double>>& /*thresholds*/) {}
};

template <typename Check>
void ForEachPerOutput(const Check& check) {
  for (size_t i = 0;; ++i) {
    RunPlan plan;
    SpoilOne spoil{i};
    CompareOptions::EachField(*plan.compare, spoil);
    if (spoil.key.empty()) {
      EXPECT_GE(i, 10u);
      return;
    }
    std::string flag = "--" + spoil.key;
    std::ranges::replace(flag, '_', '-');
    if (spoil.key == "logits_axis") flag = "--compare";
    check(plan, spoil, flag);
  }
}

TEST(PerOutputField, IsSetByTheOptionOfItsName) {
  const OptionTable table = RunOptionTable();
  ForEachPerOutput([&](const RunPlan&, const SpoilOne& field, const std::string& flag) {
    const FlagEntry* const found = table.Find(flag);
    ASSERT_NE(found, nullptr) << flag;
    if (flag == "--compare") return;
    EXPECT_EQ(found->row->origin == Origin::kOurs, field.rule.ours) << flag;
    if (!field.rule.number) return;
    EXPECT_EQ(found->row->sets.rule.expected, field.rule.number->expected) << flag;
    EXPECT_EQ(found->row->sets.rule.least, field.rule.number->least) << flag;
    EXPECT_EQ(found->row->sets.rule.most, field.rule.number->most) << flag;
  });
}

TEST(PerOutputField, IsCheckedInEveryPlan) {
  ForEachPerOutput([](const RunPlan& plan, const SpoilOne& field, const std::string&) {
    const Status status = CheckPlanNumbers(plan);
    EXPECT_EQ(status.ok(), !field.rule.number) << field.key;
    if (field.rule.number) {
      EXPECT_THAT(status.message(), AllOf(StartsWith("compare." + field.key + " of 'zzz': "),
                                          HasSubstr(field.rule.number->expected)));
    }
  });
}

TEST(PerOutputField, NamesAnOutputThatIsThere) {
  ForEachPerOutput([](const RunPlan& plan, const SpoilOne& field, const std::string& flag) {
    const Status status = CheckOutputNames(plan, {"logits"});
    EXPECT_THAT(status.message(), AllOf(StartsWith(flag), HasSubstr("no output 'zzz'")));
    EXPECT_EQ(status.code(), field.rule.ours ? StatusCode::kInvalidArgument : StatusCode::kNotFound)
        << flag;
  });
}

}  // namespace
}  // namespace vernier
