// Headers of safetensors files, and the tensors that they describe.
#include "read_archive.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const vernier::fuzz::FileOfInput file(data, size);
  vernier::fuzz::ReadArchive(file, vernier::ArchiveFormat::kSafetensors);
  return 0;
}
