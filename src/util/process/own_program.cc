#include "util/process/own_program.h"

#include <dlfcn.h>
#include <link.h>

#include <atomic>
#include <system_error>

namespace vernier {

namespace fs = std::filesystem;

namespace {

// What UseProgram named; the first call decides. A process has one installation.
const fs::path& NamedProgram(const fs::path& program = {}) {
  static const fs::path named = program;
  return named;
}

std::atomic<bool> g_named = false;

}  // namespace

void UseProgram(const fs::path& program) {
  std::error_code error;
  const fs::path whole = fs::canonical(program, error);
  (void)NamedProgram(error ? program : whole);
  g_named = true;
}

fs::path OwnProgram() {
  if (g_named) return NamedProgram();
  Dl_info info{};
  link_map* map = nullptr;
  const void* here = reinterpret_cast<const void*>(&OwnProgram);
  // The main program's entry in the list of loaded files has no name.
  if (::dladdr1(here, &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) != 0 &&
      map != nullptr && map->l_name != nullptr && *map->l_name != '\0') {
    return fs::path(map->l_name).parent_path() / "_program/bin/vernier";
  }
  std::error_code error;
  return fs::read_symlink("/proc/self/exe", error);
}

fs::path OwnPrefix() { return OwnProgram().parent_path().parent_path(); }

}  // namespace vernier
