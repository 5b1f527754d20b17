#include "run/lanes/processor_text.h"

#include <gtest/gtest.h>

namespace vernier {
namespace {

TEST(ProcessorText, NamesTheFirstWithWhatKernelsAreChosenBy) {
  EXPECT_EQ(DescribeProcessor("processor\t: 0\nmodel name\t: Some Xeon 8581C\n"
                              "cpu MHz\t: 2100.1\nflags\t\t: fpu fma sse4_2 avx avx512f\n\n"
                              "processor\t: 1\nmodel name\t: Other\nflags\t: avx2\n"),
            "Some Xeon 8581C with fma sse4_2 avx avx512f");
}

TEST(ProcessorText, NumbersDoWhereThereIsNoName) {
  EXPECT_EQ(DescribeProcessor("processor\t: 0\nFeatures\t: fp asimd crc32 sve\n"
                              "CPU implementer\t: 0x41\nCPU part\t: 0xd40\nCPU revision\t: 1\n"),
            "0x41 0xd40 with asimd sve");
  EXPECT_EQ(DescribeProcessor(""), "");
}

}  // namespace
}  // namespace vernier
