// What a fuzz target is made of. Each *_fuzz.cc defines LLVMFuzzerTestOneInput: libFuzzer drives it
// where the compiler has it, driver.cc elsewhere.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>

#include "util/unique_fd.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace vernier::fuzz {

/// Ends the process, as a sanitizer would, when what must hold does not.
inline void Require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "fuzz: does not hold: %s\n", what);
  std::abort();
}

/// The input as a file without an extension, for readers that open by name.
class FileOfInput {
 public:
  FileOfInput(const uint8_t* data, size_t size) : file_(::memfd_create("fuzz", MFD_CLOEXEC)) {
    Require(file_.get() >= 0 && ::write(file_.get(), data, size) == static_cast<ssize_t>(size),
            "a file in memory");
  }

  std::string path() const { return "/proc/self/fd/" + std::to_string(file_.get()); }

 private:
  UniqueFd file_;
};

inline std::span<const std::byte> Bytes(const uint8_t* data, size_t size) {
  return std::as_bytes(std::span(data, size));
}

}  // namespace vernier::fuzz
