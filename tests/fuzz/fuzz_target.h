// What a fuzz target is made of. Each *_fuzz.cc defines LLVMFuzzerTestOneInput: libFuzzer drives it
// where the compiler has it, driver.cc elsewhere.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>

#include "util/files/unique_fd.h"

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

/// A folder in memory for inputs whose readers go by the extension. It is gone when the process
/// ends well.
class NamedFiles {
 public:
  NamedFiles() { Require(::mkdtemp(folder_.data()) != nullptr, "a folder for files"); }
  ~NamedFiles() { std::filesystem::remove_all(folder_); }
  NamedFiles(const NamedFiles&) = delete;
  NamedFiles& operator=(const NamedFiles&) = delete;

  std::string PathOf(const std::string& name) const { return folder_ + "/" + name; }

  std::string Write(const std::string& name, std::span<const std::byte> bytes) const {
    std::ofstream file(PathOf(name), std::ios::binary);
    file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<long>(bytes.size()));
    Require(static_cast<bool>(file.flush()), "an input is written");
    return PathOf(name);
  }

 private:
  std::string folder_ = "/dev/shm/vernier-fuzz-XXXXXX";
};

inline std::span<const std::byte> Bytes(const uint8_t* data, size_t size) {
  return std::as_bytes(std::span(data, size));
}

}  // namespace vernier::fuzz
