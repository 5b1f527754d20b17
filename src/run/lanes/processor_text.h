// What kind of processor this is: frameworks choose their kernels by it.
#pragma once

#include <string>
#include <string_view>

namespace vernier {

/// "Intel(R) Xeon(R) Processor with sse4_2 fma avx2", of the text of /proc/cpuinfo: the first
/// processor's name, or its numbers where it has none, and its vector extensions. Empty: it says
/// neither.
std::string DescribeProcessor(std::string_view cpuinfo);

/// Of this machine.
std::string ProcessorText();

}  // namespace vernier
