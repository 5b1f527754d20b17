#include "vernier/backend_options.hpp"

#include <gtest/gtest.h>

#include <cstddef>

namespace vernier {
namespace {

vn_option_info Row() {
  return sdk::OptionRow(
      "level", "word", "b", "how much",
      {.values = "a b", .neutral = "a", .role = VN_ROLE_ALONE, .means = VN_MEANS_THREADS});
}

TEST(FillOption, FillsAWholeRow) {
  vn_option_info filled{};
  filled.struct_size = sizeof(filled);
  sdk::FillOption(Row(), &filled);
  EXPECT_EQ(filled.struct_size, sizeof(filled));
  EXPECT_EQ(sdk::View(filled.help), "how much");
  EXPECT_EQ(sdk::View(filled.values), "a b");
  EXPECT_EQ(sdk::View(filled.neutral), "a");
  EXPECT_EQ(filled.role, uint32_t{VN_ROLE_ALONE});
  EXPECT_EQ(filled.means, uint32_t{VN_MEANS_THREADS});
}

// One of 1.7 has none for what an option means.
TEST(FillOption, LeavesOutWhatAHostOfTheVersionBeforeLacks) {
  vn_option_info filled{};
  filled.struct_size = offsetof(vn_option_info, means);
  sdk::FillOption(Row(), &filled);
  EXPECT_EQ(filled.struct_size, offsetof(vn_option_info, means));
  EXPECT_EQ(filled.role, uint32_t{VN_ROLE_ALONE});
  EXPECT_EQ(filled.means, uint32_t{VN_MEANS_NONE});
}

// A host of 1.3 has no more room than that.
TEST(FillOption, WritesNothingBeyondWhatAnOlderHostHas) {
  vn_option_info filled{};
  filled.struct_size = offsetof(vn_option_info, values);
  sdk::FillOption(Row(), &filled);
  EXPECT_EQ(filled.struct_size, offsetof(vn_option_info, values));
  EXPECT_EQ(sdk::View(filled.name), "level");
  EXPECT_EQ(sdk::View(filled.default_value), "b");
  EXPECT_EQ(sdk::View(filled.help), "how much");
  EXPECT_EQ(filled.values.size, 0U);
  EXPECT_EQ(filled.neutral.size, 0U);
  EXPECT_EQ(filled.role, uint32_t{VN_ROLE_NONE});
}

}  // namespace
}  // namespace vernier
