// What the processor can do that decides how runtimes compute.
#pragma once

#include <string>

namespace vernier {

struct ProcessorFeatures {
  bool avx2 = false;
  bool avx512 = false;
  /// Sums of products of bytes in 32 bits (AVX-512 VNNI or AVX-VNNI). True elsewhere than on x86,
  /// where no runtime goes through 16 bits.
  bool vnni = true;
};

/// Of this processor, once.
const ProcessorFeatures& Processor();

/// "AVX2, AVX-512, VNNI", or "AVX2, no VNNI: OpenVINO's int8 products may saturate".
std::string DescribeProcessor(const ProcessorFeatures& features);

/// The note about quantised models if that is so; else empty.
std::string WhyBytesMaySaturate(const ProcessorFeatures& features);

}  // namespace vernier
