#include "run/runner/runner_kinds.h"

#include <algorithm>
#include <iterator>

#include "backend/known/backend_path.h"
#include "util/text/close_matches.h"
#include "util/values/joined.h"

namespace vernier {
namespace {

constexpr RunnerKind kKinds[] = {
    {"onnxrt", "onnxruntime", "onnxrt-runner"},
#define VERNIER_ONNX_RUNTIME(name, package, help, enables) {name, name, name "-runner"},
#include "backend/known/onnx_runtimes.def"
#undef VERNIER_ONNX_RUNTIME
    {"identity", "identity", "identity-runner"},
    {"trt", "tensorrt", "trt-runner"},
    {"tf", "tensorflow", "tf-runner"},
    {"torch", "torch", "pytorch-runner"},
    {"pluginref", "pluginref", "pluginref-runner"},
    {"onnxref", "onnxref", "onnxref-runner"},
};

const RunnerKind* FindKind(std::string_view word) {
  if (word == "onnx") word = "onnxref";  // as --onnx is a name of --onnxref
  const auto* at = std::find_if(std::begin(kKinds), std::end(kKinds), [&](const RunnerKind& kind) {
    return kind.flag_word == word || kind.backend == word;
  });
  return at == std::end(kKinds) ? nullptr : at;
}

// What --runner can name: the runners with a flag, installed or not, and the plug-ins without one.
std::vector<std::string> KnownBackends(std::span<const BackendFile> installed) {
  std::vector<std::string> known;
  for (const RunnerKind& kind : kKinds) known.emplace_back(kind.flag_word);
  for (const BackendFile& file : installed) {
    // tensorrt_10 is one of those that serve "trt".
    const bool flagged =
        std::any_of(std::begin(kKinds), std::end(kKinds),
                    [&](const RunnerKind& kind) { return file.name.starts_with(kind.backend); });
    if (!flagged) known.push_back(file.name);
  }
  return known;
}

}  // namespace

std::span<const RunnerKind> RunnerKinds() { return kKinds; }

RunnerKind KindOf(std::string_view word) {
  const RunnerKind* kind = FindKind(word);
  return kind != nullptr ? *kind : RunnerKind{word, word, word};
}

std::string_view RunnerFlagWord(std::string_view backend) { return KindOf(backend).flag_word; }

Status CheckBackendName(const std::string& backend, const std::vector<std::string>& dirs) {
  if (FindKind(backend) != nullptr) return {};
  const std::vector<std::string> path = BackendSearchPath(dirs);
  if (FindBackend(backend, path).ok()) return {};
  const std::vector<std::string> known = KnownBackends(ListBackends(path));
  const std::vector<std::string_view> names(known.begin(), known.end());
  const std::string near = backend == "ort" ? "onnxrt" : NearestName(backend, names);
  return InvalidArgument("there is no backend '" + backend + "'" + DidYouMean(near) +
                         " (choose from " + Joined(known) + ")");
}

}  // namespace vernier
