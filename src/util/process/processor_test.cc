#include "util/process/processor.h"

#include <gtest/gtest.h>

namespace vernier {
namespace {

TEST(ProcessorTest, SaysWhatItLacks) {
  EXPECT_EQ(DescribeProcessor({.avx2 = true, .avx512 = true, .vnni = true}), "AVX2, AVX-512, VNNI");
  EXPECT_EQ(DescribeProcessor({.avx2 = true, .vnni = false}),
            "AVX2, no VNNI: OpenVINO's int8 products may saturate");
}

TEST(ProcessorTest, BytesSaturateOnlyWithoutVnni) {
  EXPECT_EQ(WhyBytesMaySaturate({.vnni = true}), "");
  EXPECT_NE(WhyBytesMaySaturate({.vnni = false}).find("this processor has no VNNI"),
            std::string::npos);
}

TEST(ProcessorTest, AnswersForThisOne) { EXPECT_FALSE(DescribeProcessor(Processor()).empty()); }

}  // namespace
}  // namespace vernier
