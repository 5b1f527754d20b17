// ONNX Runtime, opened at run time from where people have it: no library is linked.
#include <dlfcn.h>

#include "ort_api.h"
#include "ort_session.h"
#include "vernier/backend_sdk.hpp"
#include "vernier/framework_library.hpp"

namespace vernier::ort {

namespace {

// The CUDA provider says which of its C++ functions failed, in full, before it says why: "...
// .../cuda_call.cc:154 std::conditional_t<...> ... CUDA failure 100: no CUDA-capable device is
// detected ; GPU=-1 ; ... ; expr=cudaSetDevice(0)".
std::string WithoutSignature(std::string message) {
  const size_t begin = message.find("CUDA failure "), end = message.find(" ;", begin);
  if (begin == std::string::npos || end == std::string::npos) return message;
  constexpr std::string_view kCall = "expr=";
  const size_t call = message.find(kCall, end);
  const size_t place = message.find("cuda_call.cc:"), space = message.rfind(' ', place);
  const bool behind = place < begin && space != std::string::npos;  // other words come first
  std::string text = behind ? message.substr(0, space + 1) : "";
  text += message.substr(begin, end - begin);
  if (call == std::string::npos) return text;
  const size_t from = call + kCall.size();
  return text + " in " + message.substr(from, message.find_first_of(";\n", from) - from);
}

// For whoever reads the host's log instead of the standard error.
void PassOn(void* host, OrtLoggingLevel severity, const char* /*category*/, const char* /*id*/,
            const char* /*place*/, const char* message) {
  constexpr int32_t kWarning = 30, kError = 40;
  static_cast<const sdk::Host*>(host)->Log(severity >= ORT_LOGGING_LEVEL_ERROR ? kError : kWarning,
                                           message);
}

// `host` must live as long as the process logs.
Status CreateEnvironment(Api& api, std::string_view log, const sdk::Host& host) {
  constexpr OrtLoggingLevel kLevel = ORT_LOGGING_LEVEL_WARNING;
  if (log.empty() || log == "stderr") {
    return Take(api, api.table->CreateEnv(kLevel, "vernier", &api.env));
  }
  if (log != "host") {
    return InvalidArgument("--onnxruntime.log: expected stderr or host, got '" + std::string(log) +
                           "'");
  }
  api.logs_to_host = true;
  return Take(api, api.table->CreateEnvWithCustomLogger(&PassOn, const_cast<sdk::Host*>(&host),
                                                        kLevel, "vernier", &api.env));
}

Result<Api> LoadApi(std::string_view library) {
  const sdk::LibrarySearch search = {
      .framework = "ONNX Runtime",
      .install_hint = "pip install onnxruntime",
      .option = "--onnxrt-lib",
      .root_variable = "ONNXRUNTIME_ROOT",
      .root_dirs = {},
      .python_dirs = {"onnxruntime/capi"},
      .stem = "libonnxruntime",
      .system_names = {"libonnxruntime.so", "libonnxruntime.so.1"},
  };
  VERNIER_ASSIGN_OR_RETURN(const sdk::LoadedLibrary loaded,
                           sdk::LoadFrameworkLibrary(search, library));
  using GetApiBase = const OrtApiBase* (*)();
  const auto get_base = reinterpret_cast<GetApiBase>(::dlsym(loaded.handle, "OrtGetApiBase"));
  if (get_base == nullptr) {
    return Unavailable("'" + loaded.path + "' is not ONNX Runtime: it has no OrtGetApiBase");
  }
  Api api;
  api.path = loaded.path;
  api.version = get_base()->GetVersionString();
  api.table = get_base()->GetApi(ORT_API_VERSION);
  if (api.table == nullptr) {
    return Unavailable("ONNX Runtime " + api.version + " at '" + api.path +
                       "' is too old: this build needs 1." + std::to_string(ORT_API_VERSION) +
                       " or newer; run it with a script in the Python that has it, "
                       "--model-runner SCRIPT.py --python INTERPRETER, or name a newer library "
                       "with --onnxrt-lib");
  }
  VERNIER_TRY(Take(api, api.table->GetAllocatorWithDefaultOptions(&api.allocator)));
  return api;
}

// The levels behind each other. The last one is the default; the others are neutral settings.
constexpr std::string_view kEachAfterABlank =
#define VERNIER_ORT_LEVEL(enumerator) " " #enumerator
#include "options.def"
    ;
constexpr std::string_view kLevelWords = kEachAfterABlank.substr(1);
constexpr std::string_view kDefaultLevel = kLevelWords.substr(kLevelWords.rfind(' ') + 1);
constexpr std::string_view kOtherLevels = kLevelWords.substr(0, kLevelWords.rfind(' '));

class OnnxRuntimeBackend {
 public:
#include "abilities.def"
  static constexpr std::string_view kVersion = "1";
  static constexpr uint32_t kReferenceRank = 20;
  static constexpr bool kHasParts = true;

  static std::span<const vn_option_info> OptionTable() {
    static const vn_option_info kOptions[] = {
        sdk::OptionRow("lib", "path", "", "library to load", {.means = VN_MEANS_LIBRARY}),
        sdk::OptionRow("log", "word", "stderr", "where its warnings go; host is vernier's own log",
                       {.values = "stderr host", .means = VN_MEANS_LOG}),
        sdk::OptionRow("providers", "list", "cpu", "execution providers in order of priority"),
        sdk::OptionRow("intra_op_threads", "int", "",
                       "threads within an operator; default: the CPUs of this process",
                       {.neutral = "1 2", .means = VN_MEANS_THREADS}),
        sdk::OptionRow("inter_op_threads", "int", "",
                       "threads across operators; default: the CPUs of this process"),
        sdk::OptionRow("graph_optimization_level", "word", kDefaultLevel,
                       "how much the graph is rewritten",
                       {.values = kLevelWords, .neutral = kOtherLevels}),
        sdk::OptionRow("optimized_model", "path", "", "where to save the graph as it was rewritten",
                       {.role = VN_ROLE_OPTIMIZED_MODEL}),
        sdk::OptionRow("alone", "switch", "", "let idle threads wait busily, as by default",
                       {.values = "1", .role = VN_ROLE_ALONE}),
        sdk::OptionRow("layer_times", "path", "",
                       "measure each layer, and write the times there when the session ends",
                       {.role = VN_ROLE_LAYER_TIMES}),
    };
    return kOptions;
  }

  static Result<std::unique_ptr<OnnxRuntimeBackend>> Create(const sdk::Host& host,
                                                            sdk::Options options) {
    VERNIER_ASSIGN_OR_RETURN(Api api, LoadApi(options.Get("lib")));
    std::unique_ptr<OnnxRuntimeBackend> backend(new OnnxRuntimeBackend(host, std::move(api)));
    VERNIER_TRY(CreateEnvironment(backend->api_, options.Get("log"), backend->host_));
    return backend;
  }

  std::string_view framework_version() const { return api_.version; }
  std::string_view framework_path() const { return api_.path; }

  Result<std::unique_ptr<sdk::Session>> Open(const vn_model& model, sdk::Options options) {
    return OrtModelSession::Open(api_, host_, model, options);
  }

 private:
  OnnxRuntimeBackend(const sdk::Host& host, Api api) : host_(host), api_(std::move(api)) {}

  sdk::Host host_;
  Api api_;
};

}  // namespace

Status Take(const Api& api, OrtStatus* status) {
  if (status == nullptr) return {};
  std::string message = WithoutSignature(api.table->GetErrorMessage(status));
  const OrtErrorCode code = api.table->GetErrorCode(status);
  api.table->ReleaseStatus(status);
  switch (code) {
    case ORT_NO_SUCHFILE:
    case ORT_INVALID_PROTOBUF:
    case ORT_INVALID_GRAPH:
      return Malformed(std::move(message));
    default:
      return BackendError(std::move(message));
  }
}

}  // namespace vernier::ort

VERNIER_EXPORT_BACKEND(vernier::ort::OnnxRuntimeBackend)
