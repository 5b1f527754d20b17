#include "tensorrt/engine/plan_version.h"

#include <gtest/gtest.h>

#include <string>

namespace vernier::trt {
namespace {

using std::string_literals::operator""s;

TEST(DescribePlan, NamesTheReleaseThatTheFileTells) {
  const std::string plan = "ftrt" + std::string(20, '\0') + "\x08\x06\x00\x0c"s + "whatever";
  EXPECT_EQ(DescribePlan(plan), "this engine, built with TensorRT 8.6.0.12,");
  EXPECT_EQ(DescribePlan("ftrt" + std::string(20, '\0') + "\x0a\x0d\x03\xc8"s),
            "this engine, built with TensorRT 10.13.3.200,");
}

// The first bytes of files that 8.5.3 and 8.6.0 wrote.
TEST(DescribePlan, KnowsWhatWasSeen) {
  EXPECT_EQ(DescribePlan("ptrt\0\0\0\0\xe8\0\0\0\0\0\0\0\x83\xd0\x01\0"s),
            "this engine, built with TensorRT 8.5 (format 232),");
  EXPECT_EQ(DescribePlan("ftrt\0\0\0\0\1\0\0\0\0\0\0\0\x84\xe9\1\0\0\0\0\0\x08\x06\0\x0c\0\0"s),
            "this engine, built with TensorRT 8.6.0.12,");
}

TEST(DescribePlan, GuessesNoRelease) {
  EXPECT_EQ(DescribePlan("ftrt" + std::string(20, '\0') + "\x08\x06\x00"s), "this engine");
  EXPECT_EQ(DescribePlan("ftrt\x01"s + std::string(40, '\x07')), "this engine");
  EXPECT_EQ(DescribePlan("ptrt\0\0\0\0\xd5\0\0\0\0"s),
            "this engine, built with a TensorRT older than 8.6 (format 213),");
  EXPECT_EQ(DescribePlan("ptrt\0\0\0\0\xd5\0\0"s), "this engine");
}

TEST(DescribePlan, TellsWhatIsNoEngine) {
  const std::string text = "this file, which does not begin as TensorRT's engines do,";
  EXPECT_EQ(DescribePlan("nonsense\n"), text);
  EXPECT_EQ(DescribePlan(""), text);
  EXPECT_EQ(DescribePlan("ftr"), text);
}

}  // namespace
}  // namespace vernier::trt
