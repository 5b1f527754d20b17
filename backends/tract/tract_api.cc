#include "tract_api.h"

#include <dlfcn.h>

#include <algorithm>

#include "vernier/framework_library.hpp"

namespace vernier::tract {
namespace {

// tract may quote values of a tensor at length.
constexpr size_t kMostWords = 600;

Status LoadFunctions(void* library, Api& api) {
  const char* missing = nullptr;
#define VERNIER_TRACT_LOAD(name, result, parameters)                                 \
  api.name = reinterpret_cast<decltype(api.name)>(::dlsym(library, "tract_" #name)); \
  if (api.name == nullptr && missing == nullptr) missing = "tract_" #name;
  VERNIER_TRACT_FUNCTIONS(VERNIER_TRACT_LOAD)
#undef VERNIER_TRACT_LOAD
  if (missing == nullptr) return {};
  return Unavailable("'" + api.path + "' has no function " + missing +
                     ": this tract is too old; update it with `pip install -U tract`");
}

// "    0: while setting a shape" without blanks and number.
std::string_view CauseOf(std::string_view line) {
  const size_t start = std::min(line.find_first_not_of(' '), line.size());
  line.remove_prefix(start);
  const size_t digits = std::min(line.find_first_not_of("0123456789"), line.size());
  if (start > 0 && digits > 0 && line.substr(digits).starts_with(": ")) {
    line.remove_prefix(digits + 2);
  }
  return line;
}

// "a Tensor {...}: b" of "a Tensor { elem_type: F32, shape: ... }: b": what a message shows of
// tract's own objects is longer than what it says.
std::string WithoutObjects(std::string_view words) {
  std::string kept;
  int depth = 0;
  for (const char c : words) {
    if (c == '}' && depth > 0 && --depth == 0) kept += "...";
    if (depth == 0) kept += c;
    if (c == '{') ++depth;
  }
  return kept;
}

}  // namespace

Result<Api> LoadApi(std::string_view library) {
  const sdk::LibrarySearch search = {
      .framework = "tract",
      .install_hint = "pip install tract",
      .option = "--tract.lib",
      .root_variable = "TRACT_ROOT",
      .root_dirs = {},
      .python_dirs = {"tract"},
      .stem = "tract",
      .system_names = {"libtract.so"},
  };
  VERNIER_ASSIGN_OR_RETURN(const sdk::LoadedLibrary loaded,
                           sdk::LoadFrameworkLibrary(search, library));
  Api api;
  api.path = loaded.path;
  VERNIER_TRY(LoadFunctions(loaded.handle, api));
  return api;
}

std::string OneLine(std::string_view words) {
  words = words.substr(0, words.find("\nStack backtrace:"));
  std::string line;
  while (!words.empty()) {
    const size_t end = std::min(words.find('\n'), words.size());
    const std::string_view cause = CauseOf(words.substr(0, end));
    if (!cause.empty() && cause != "Caused by:") {
      line += (line.empty() ? "" : ": ") + WithoutObjects(cause);
    }
    words.remove_prefix(std::min(end + 1, words.size()));
  }
  if (line.size() <= kMostWords) return line;
  // The reason is last.
  return line.substr(0, kMostWords / 3) + " ... " + line.substr(line.size() - kMostWords * 2 / 3);
}

Status Check(const Api& api, int result, std::string_view doing) {
  if (result == 0) return {};
  const char* words = api.get_last_error();
  return BackendError(std::string(doing) + ": " +
                      (words != nullptr ? OneLine(words) : "tract says nothing"));
}

}  // namespace vernier::tract
