#include "providers.h"

#include <algorithm>
#include <cctype>
#include <optional>

namespace vernier::ort {
namespace {

constexpr std::string_view kCpu = "CPUExecutionProvider";

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

std::string Listed(const std::vector<std::string>& names) {
  std::string text = "[";
  for (const std::string& name : names) text += (text.size() > 1 ? ", '" : "'") + name + "'";
  return text + "]";
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

// Providers that ONNX Runtime does not append by name.
struct OwnFunction {
  std::string_view provider;
  Status (*append)(const Api& api, OrtSessionOptions* options);
};
constexpr OwnFunction kOwnFunctions[] = {
    {"CUDAExecutionProvider", AppendCuda},
    {"TensorrtExecutionProvider", AppendTensorRt},
};

Status Append(const Api& api, OrtSessionOptions* options, const std::string& provider) {
  for (const OwnFunction& row : kOwnFunctions) {
    if (row.provider == provider) return row.append(api, options);
  }
  const std::string name = provider.substr(0, provider.find("ExecutionProvider"));
  return Take(api, api.table->SessionOptionsAppendExecutionProvider(options, name.c_str(), nullptr,
                                                                    nullptr, 0));
}

}  // namespace

Result<std::string> AppendProviders(const Api& api, OrtSessionOptions* options,
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
    if (provider == kCpu) continue;
    const Status appended = Append(api, options, provider);
    if (!appended.ok()) {
      return Unavailable("--providers: " + provider +
                         " cannot be used: " + std::string(appended.message()));
    }
  }
  return Listed(chosen);
}

}  // namespace vernier::ort
