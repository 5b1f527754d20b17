// Preloaded: an exception comes out of the call that gives a file its name, as one would come out
// of a defect of the program. THROW=error, foreign (no std::exception) or memory.
#include <cstdlib>
#include <new>
#include <stdexcept>
#include <string_view>

// Another name here, because the C library declares that its own throws nothing.
extern "C" int ThrowingRename(const char* from, const char* to) __asm__("rename");

extern "C" __attribute__((visibility("default"))) int ThrowingRename(const char*, const char*) {
  const char* const what = std::getenv("THROW");
  const std::string_view kind = what == nullptr ? "" : what;
  if (kind == "memory") throw std::bad_alloc();
  if (kind == "foreign") throw 42;
  throw std::logic_error("the seventh bit is loose");
}
