#include "util/process/processor.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace vernier {
namespace {

#if defined(__x86_64__)
// Intel's manual, volume 2A: CPUID, leaf 7.
constexpr unsigned kExtended = 7;
constexpr unsigned kAvx2Bit = 1U << 5, kAvx512Bit = 1U << 16;  // EBX of subleaf 0
constexpr unsigned kAvx512VnniBit = 1U << 11;                  // ECX of subleaf 0
constexpr unsigned kAvxVnniBit = 1U << 4;                      // EAX of subleaf 1

ProcessorFeatures AskProcessor() {
  ProcessorFeatures features{.vnni = false};
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  if (__get_cpuid_count(kExtended, 0, &eax, &ebx, &ecx, &edx) == 0) return features;
  const unsigned subleaves = eax;
  features.avx2 = (ebx & kAvx2Bit) != 0;
  features.avx512 = (ebx & kAvx512Bit) != 0;
  features.vnni = (ecx & kAvx512VnniBit) != 0;
  if (subleaves >= 1 && __get_cpuid_count(kExtended, 1, &eax, &ebx, &ecx, &edx) != 0) {
    features.vnni |= (eax & kAvxVnniBit) != 0;
  }
  return features;
}
#else
ProcessorFeatures AskProcessor() { return {}; }
#endif

}  // namespace

const ProcessorFeatures& Processor() {
  static const ProcessorFeatures features = AskProcessor();
  return features;
}

std::string DescribeProcessor(const ProcessorFeatures& features) {
  std::string text = features.avx2 ? "AVX2, " : "";
  if (features.avx512) text += "AVX-512, ";
  return text + (features.vnni ? "VNNI" : "no VNNI: OpenVINO's int8 products may saturate");
}

std::string WhyBytesMaySaturate(const ProcessorFeatures& features) {
  return features.vnni ? ""
                       : "this processor has no VNNI: OpenVINO's int8 products may saturate, which "
                         "is no fault of the model";
}

}  // namespace vernier
