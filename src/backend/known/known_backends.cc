#include "backend/known/known_backends.h"

#include <algorithm>

#include "backend/known/python_program.h"
#include "util/text/split_words.h"
#include "vernier/backend_abi.h"

namespace vernier {
namespace {

// As a plug-in declares it.
struct Declared {
  std::string_view name, formats;
  uint32_t traits;
  std::vector<uint32_t> means;
};

KnownBackend Read(const Declared& declared) {
  KnownBackend known{declared.name, SplitAtSpaces(declared.formats), declared.traits};
  for (const uint32_t meaning : declared.means) {
    if (meaning != VN_MEANS_NONE) known.means.push_back(static_cast<OptionMeaning>(meaning));
  }
  return known;
}

std::vector<KnownBackend> ReadAll() {
  const Declared plugins[] = {
#define VERNIER_BACKEND_ABILITIES(name, formats, traits, ...) \
  {name, formats, traits, {__VA_ARGS__}},
#include "backend/known/known_backends.def"
#undef VERNIER_BACKEND_ABILITIES
  };
  std::vector<KnownBackend> all;
  for (const Declared& plugin : plugins) all.push_back(Read(plugin));
  for (const PythonRunner& runner : PythonRunners()) {
    if (runner.plugin != PythonRunner::Plugin::kNone) continue;
    KnownBackend& known =
        all.emplace_back(KnownBackend{runner.backend, SplitAtSpaces(runner.formats)});
    if (runner.has_methods) known.means.push_back(OptionMeaning::kResetMethod);
  }
  return all;
}

// "tensorrt" of "tensorrt_10".
std::string_view WithoutMajor(std::string_view name) {
  const size_t bound = name.rfind('_');
  const bool has_major = bound != name.npos && bound + 1 < name.size() &&
                         name.find_first_not_of("0123456789", bound + 1) == name.npos;
  return has_major ? name.substr(0, bound) : name;
}

}  // namespace

std::span<const KnownBackend> KnownBackendList() {
  static const std::vector<KnownBackend> all = ReadAll();
  return all;
}

const KnownBackend* FindKnownBackend(std::string_view backend) {
  const std::span<const KnownBackend> all = KnownBackendList();
  const auto found = std::ranges::find(all, WithoutMajor(backend), &KnownBackend::name);
  return found == all.end() ? nullptr : &*found;
}

bool IsKnownToHave(std::string_view backend, BackendTrait trait) {
  const KnownBackend* const known = FindKnownBackend(backend);
  return known != nullptr && (known->traits & static_cast<uint32_t>(trait)) != 0;
}

bool IsKnownToHave(std::string_view backend, OptionMeaning meaning) {
  const KnownBackend* const known = FindKnownBackend(backend);
  return known != nullptr && std::ranges::find(known->means, meaning) != known->means.end();
}

bool ListsFormat(std::span<const std::string> formats, std::string_view type,
                 std::string_view path) {
  return std::ranges::any_of(formats, [&](const std::string& format) {
    if (format == "*") return true;
    return format.starts_with('.') ? path.ends_with(format) : !type.empty() && format == type;
  });
}

}  // namespace vernier
