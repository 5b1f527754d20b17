// Reads every tensor of an npz or safetensors file.
#pragma once

#include "fuzz_target.h"
#include "io/archive/tensor_archive.h"

namespace vernier::fuzz {

inline void ReadArchive(const FileOfInput& file, ArchiveFormat format) {
  const auto archive = TensorArchive::Open(file.path(), format);
  if (!archive.ok()) {
    Require(!archive.status().message().empty(), "a refusal says why");
    return;
  }
  for (size_t i = 0; i < (*archive)->names().size(); ++i) (void)(*archive)->Read(i);
}

}  // namespace vernier::fuzz
