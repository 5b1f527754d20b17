#include "providers.h"

#include <dlfcn.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <optional>

#include "placement.h"

namespace vernier::ort {
namespace {

std::string Lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

Result<std::vector<std::string>> Available(const Api& api) {
  char** names = nullptr;
  int count = 0;
  VERNIER_TRY(Take(api, api.table->GetAvailableProviders(&names, &count)));
  const std::vector<std::string> providers(names, names + count);
  VERNIER_TRY(Take(api, api.table->ReleaseAvailableProviders(names, count)));
  return providers;
}

std::optional<std::string> Match(const std::string& word,
                                 const std::vector<std::string>& available) {
  if (std::find(available.begin(), available.end(), word) != available.end()) return word;
  const std::string lower = Lower(word);
  for (const std::string& provider : available) {
    const std::string candidate = Lower(provider);
    const bool similar =
        candidate.find(lower) != std::string::npos || lower.find(candidate) != std::string::npos;
    if (similar) return provider;
  }
  return std::nullopt;
}

Status AppendCuda(const Api& api, OrtSessionOptions* options) {
  OrtCUDAProviderOptionsV2* raw = nullptr;
  VERNIER_TRY(Take(api, api.table->CreateCUDAProviderOptions(&raw)));
  const Handle<OrtCUDAProviderOptionsV2> defaults(raw, api.table->ReleaseCUDAProviderOptions);
  return Take(api, api.table->SessionOptionsAppendExecutionProvider_CUDA_V2(options, raw));
}

Status AppendTensorRt(const Api& api, OrtSessionOptions* options) {
  OrtTensorRTProviderOptionsV2* raw = nullptr;
  VERNIER_TRY(Take(api, api.table->CreateTensorRTProviderOptions(&raw)));
  const Handle<OrtTensorRTProviderOptionsV2> defaults(raw,
                                                      api.table->ReleaseTensorRTProviderOptions);
  return Take(api, api.table->SessionOptionsAppendExecutionProvider_TensorRT_V2(options, raw));
}

// Providers that ONNX Runtime does not append by name, and the library that each is in.
struct OwnFunction {
  std::string_view provider;
  Status (*append)(const Api& api, OrtSessionOptions* options);
  std::string_view library;
};
constexpr OwnFunction kOwnFunctions[] = {
    {"CUDAExecutionProvider", AppendCuda, "libonnxruntime_providers_cuda.so"},
    {"TensorrtExecutionProvider", AppendTensorRt, "libonnxruntime_providers_tensorrt.so"},
};

// Why the provider's library cannot be loaded: ONNX Runtime says so only in its log. Empty when it
// can.
std::string WhyNotLoaded(const Api& api, std::string_view provider) {
  for (const OwnFunction& row : kOwnFunctions) {
    if (row.provider != provider) continue;
    const std::string path = (std::filesystem::path(api.path).parent_path() / row.library).string();
    if (::dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL) != nullptr) return "";
    const char* const reason = ::dlerror();
    return reason == nullptr ? "" : reason;
  }
  return "";
}

Status Append(const Api& api, OrtSessionOptions* options, const std::string& provider) {
  for (const OwnFunction& row : kOwnFunctions) {
    if (row.provider == provider) return row.append(api, options);
  }
  // Older releases know short names only, some in capitals: XNNPACK, AZURE.
  const std::string name = ShortName(provider);
  std::string capitals = name;
  std::transform(capitals.begin(), capitals.end(), capitals.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  Status first;
  for (const std::string& spelling : {provider, name, capitals}) {
    Status status = Take(api, api.table->SessionOptionsAppendExecutionProvider(
                                  options, spelling.c_str(), nullptr, nullptr, 0));
    if (status.ok()) return status;
    if (first.ok()) first = std::move(status);
  }
  return first;
}

}  // namespace

std::string Listed(const std::vector<std::string>& names) {
  std::string text = "[";
  for (const std::string& name : names) text += (text.size() > 1 ? ", '" : "'") + name + "'";
  return text + "]";
}

Result<std::vector<std::string>> AppendProviders(const Api& api, OrtSessionOptions* options,
                                                 const std::vector<std::string>& words) {
  VERNIER_ASSIGN_OR_RETURN(const std::vector<std::string> available, Available(api));
  std::vector<std::string> chosen;
  for (const std::string& word : words.empty() ? std::vector<std::string>{"cpu"} : words) {
    const std::optional<std::string> provider = Match(word, available);
    if (!provider) {
      return InvalidArgument(
          "Could not find specified ONNX-Runtime execution provider.\nNote: Requested provider "
          "was: " +
          word + ", but available providers are: " + Listed(available));
    }
    chosen.push_back(*provider);
  }
  for (const std::string& provider : chosen) {
    // The CPU provider is always there, last.
    if (provider == kCpuProvider) continue;
    const Status appended = Append(api, options, provider);
    if (appended.ok()) continue;
    const std::string missing = WhyNotLoaded(api, provider);
    return Unavailable("--providers: " + provider + " cannot be used: " +
                       (missing.empty() ? std::string(appended.message())
                                        : missing + " (the loader looks in LD_LIBRARY_PATH)"));
  }
  return chosen;
}

}  // namespace vernier::ort
