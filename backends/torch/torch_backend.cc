// The plug-in for TorchScript. PyTorch's C++ interface is not stable, so there are two libraries:
// this one, which finds the user's PyTorch and refuses any version but the one that it was built
// against, and libvernier_torchscript.so, which is linked against PyTorch and loaded after it. That
// one is a plug-in too: its table does the work, and this one passes calls on.
#include <dlfcn.h>

#include <iterator>
#include <memory>

#include "torch_library.h"
#include "vernier/backend_sdk.hpp"

namespace vernier {
namespace {

// Built against, in the words of FindTorch: from cmake/FindTorchLibrary.cmake.
constexpr std::string_view kBuiltAgainst = VERNIER_TORCH_VERSION;

struct LoadedBackend {
  const vn_backend_api* api = nullptr;
  vn_backend* inner = nullptr;
  TorchLibrary library;
};

struct OpenedSession {
  const vn_backend_api* api = nullptr;
  vn_session* inner = nullptr;
};

LoadedBackend& Of(vn_backend* b) { return *reinterpret_cast<LoadedBackend*>(b); }
OpenedSession& Of(vn_session* s) { return *reinterpret_cast<OpenedSession*>(s); }

// "2.11.0" of "2.11.0+cu130": builds for other devices have the same interface, and are
// distinguished by their libraries, whose symbols all have to be there.
std::string_view Release(std::string_view version) { return version.substr(0, version.find('+')); }

Result<void*> Load(const std::string& path) {
  if (void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
  return Unavailable("'" + path + "' cannot be loaded: " + ::dlerror());
}

// Beside this library.
Result<std::string> ScriptLibrary() {
  Dl_info info{};
  if (::dladdr(reinterpret_cast<const void*>(&ScriptLibrary), &info) == 0) {
    return Internal("this plug-in does not know where it is");
  }
  const std::string own = info.dli_fname;
  return own.substr(0, own.rfind('/') + 1) + "libvernier_torchscript.so";
}

Result<std::unique_ptr<LoadedBackend>> LoadBackend(const vn_host* host, const vn_option* options,
                                                   size_t count) {
  auto loaded = std::make_unique<LoadedBackend>();
  VERNIER_ASSIGN_OR_RETURN(loaded->library, FindTorch(sdk::Options(options, count).Get("lib")));
  if (Release(loaded->library.version) != Release(kBuiltAgainst)) {
    return Unavailable("'" + loaded->library.path + "' is PyTorch " + loaded->library.version +
                       ", and this plug-in was built against " + std::string(kBuiltAgainst) +
                       ": PyTorch's C++ interface changes with every version");
  }
  VERNIER_TRY(Load(loaded->library.path).status());
  VERNIER_ASSIGN_OR_RETURN(const std::string script, ScriptLibrary());
  VERNIER_ASSIGN_OR_RETURN(void* const library, Load(script));
  const auto query = reinterpret_cast<vn_backend_query_fn>(::dlsym(library, VN_QUERY_SYMBOL));
  loaded->api = query == nullptr ? nullptr : query(host);
  if (loaded->api == nullptr) return Unavailable("'" + script + "' is of another version");
  return loaded;
}

// Passes calls on to the table of the library that is linked against PyTorch.
struct PassedOn {
#include "abilities.def"
  static constexpr std::string_view kVersion = "1";

  static vn_status* OptionAt(size_t index, vn_option_info* out) noexcept {
    static const vn_option_info kOptions[] = {
        sdk::OptionRow("lib", "path", "", "PyTorch's libtorch.so, or a folder that holds it",
                       {.means = VN_MEANS_LIBRARY}),
        sdk::OptionRow("output_names", "name", "", "names for the outputs in order, repeated"),
        sdk::OptionRow("reset", "name", "reset_states", "method that resets the module's state",
                       {.means = VN_MEANS_RESET_METHOD}),
    };
    const sdk::Host host(sdk::internal::QueriedHost<PassedOn>());
    if (index >= std::size(kOptions)) return host.NewStatus(NotFound("no more options"));
    sdk::FillOption(kOptions[index], out);
    return nullptr;
  }

  static vn_status* Create(const vn_host* host, const vn_option* options, size_t count,
                           vn_backend** out) noexcept {
    vn_status* inner_status = nullptr;
    vn_status* status = sdk::internal::Guard(sdk::Host(host), [&]() -> Status {
      VERNIER_ASSIGN_OR_RETURN(std::unique_ptr<LoadedBackend> loaded,
                               LoadBackend(host, options, count));
      inner_status = loaded->api->create(host, options, count, &loaded->inner);
      if (inner_status == nullptr) *out = reinterpret_cast<vn_backend*>(loaded.release());
      return {};
    });
    return status != nullptr ? status : inner_status;
  }

  static void Destroy(vn_backend* b) noexcept {
    Of(b).api->destroy(Of(b).inner);
    delete &Of(b);
  }

  static vn_str FrameworkVersion(vn_backend* b) noexcept { return sdk::Str(Of(b).library.version); }
  static vn_str FrameworkPath(vn_backend* b) noexcept { return sdk::Str(Of(b).library.path); }

  static vn_status* Open(vn_backend* b, const vn_model* model, const vn_option* options,
                         size_t count, vn_session** out) noexcept {
    auto opened = std::make_unique<OpenedSession>();
    opened->api = Of(b).api;
    vn_status* status = opened->api->open(Of(b).inner, model, options, count, &opened->inner);
    if (status == nullptr) *out = reinterpret_cast<vn_session*>(opened.release());
    return status;
  }

  static void Close(vn_session* s) noexcept {
    Of(s).api->close(Of(s).inner);
    delete &Of(s);
  }

  static vn_status* Signature(vn_session* s, int32_t is_output, size_t index,
                              vn_tensor* out) noexcept {
    return Of(s).api->signature(Of(s).inner, is_output, index, out);
  }

  static vn_status* Info(vn_session* s, vn_session_info* out) noexcept {
    return Of(s).api->info(Of(s).inner, out);
  }

  static vn_status* NotExposedAt(vn_session* s, size_t index, vn_str* name, vn_str* why) noexcept {
    return Of(s).api->not_exposed_at(Of(s).inner, index, name, why);
  }

  static vn_status* Run(vn_session* s, const vn_tensor* const* inputs, size_t input_count,
                        vn_tensor** outputs, size_t capacity, size_t* out_count,
                        vn_run_stats* stats) noexcept {
    return Of(s).api->run(Of(s).inner, inputs, input_count, outputs, capacity, out_count, stats);
  }

  static vn_status* ResetSession(vn_session* s) noexcept {
    return Of(s).api->reset_session(Of(s).inner);
  }

  static uint32_t ReferenceRank(vn_backend*) noexcept { return 40; }
  static vn_str ModelFormats(vn_backend*) noexcept { return sdk::Str(kModelFormats); }
  static uint32_t Traits(vn_backend*) noexcept { return kTraits; }

  // The last: kernels without the vector instructions of this machine.
  static vn_status* NeutralEnvironmentAt(vn_backend*, size_t index, vn_str* out) noexcept {
    static constexpr std::string_view kSettings[] = {
        "OMP_NUM_THREADS=1 MKL_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1",
        "OMP_NUM_THREADS=2 MKL_NUM_THREADS=2 OPENBLAS_NUM_THREADS=2",
        "ATEN_CPU_CAPABILITY=default",
    };
    const sdk::Host host(sdk::internal::QueriedHost<PassedOn>());
    if (index >= std::size(kSettings)) return host.NewStatus(NotFound("no more environments"));
    *out = sdk::Str(kSettings[index]);
    return nullptr;
  }
};

}  // namespace
}  // namespace vernier

extern "C" __attribute__((visibility("default"))) const vn_backend_api* vn_backend_query(
    const vn_host* host) {
  return vernier::sdk::internal::AnswerQuery<vernier::PassedOn>(host);
}
