#include "doctor/known_parts.h"

#include <algorithm>

#include "util/text/shell_words.h"

namespace vernier {
namespace {

constexpr KnownPart kBackends[] = {
    {"identity", "--identity: returns its inputs, to try things out", ""},
    {"onnxruntime", "--onnxrt: ONNX models; also inference of shapes, and check lint",
     "onnxruntime"},
#define VERNIER_ONNX_RUNTIME(name, package, help, enables) {name, enables, package},
#include "backend/known/onnx_runtimes.def"
#undef VERNIER_ONNX_RUNTIME
    {"pluginref", "--pluginref: TensorRT's plugins on the CPU", ""},
    {"tensorflow",
     "--tf: frozen graphs, SavedModels and checkpoints",
#if defined(__x86_64__)
     "tensorflow-cpu",
#else
     "tensorflow",
#endif
     {},
     "tensorflow"},
    {"torch", "--torch: TorchScript and torch.export models", "torch"},
    {"tensorrt", "--trt: ONNX models and engines under TensorRT, on an NVIDIA GPU", "tensorrt"},
};

constexpr KnownPart kPackages[] = {
    {"numpy", "scripts: --data-loader-script, --model-runner, comparison functions", "numpy"},
    {"onnx", "--onnxref, and the commands that edit models in Python", "onnx"},
    {"onnxruntime", "symbolic inference of shapes in Python", "onnxruntime"},
    {"sympy", "symbolic inference of shapes in Python", "sympy"},
    {"onnx_graphsurgeon", "plugin list|match|replace, multi-device shard, template shard-hints",
     "onnx-graphsurgeon"},
    {"yaml", "plugin match|replace: their config.yaml", "PyYAML"},
    {"ml_dtypes", "bfloat16 and float8 tensors in scripts", "ml_dtypes"},
    {"torch", "--torch of exported programs, PyTorch in scripts", "torch"},
    {"tensorflow", "--tf of Keras models, TensorFlow in scripts", "tensorflow"},
    {"keras", "--tf of .keras and .h5 models", "keras"},
    {"tf2onnx", "TensorFlow models under runners that read ONNX, and convert", "tf2onnx"},
    {"tensorrt", "--trt where no plug-in fits, trt scripts, inspect capability", "tensorrt",
     "tensorrt_python"},
    {"lpips", "--compare-func perceptual_metrics with LPIPS", "lpips"},
    {"polygraphy", "scripts that use more of Polygraphy than its types", "polygraphy"},
};

}  // namespace

std::span<const KnownPart> KnownBackends() { return kBackends; }
std::span<const KnownPart> KnownPackages() { return kPackages; }

const KnownPart* FindPart(std::span<const KnownPart> parts, std::string_view name) {
  // Of "tensorrt_10" the part before the number; "onnx_graphsurgeon" is another package than
  // "onnx".
  const size_t bound = name.rfind('_');
  const bool has_major = bound != name.npos && bound + 1 < name.size() &&
                         name.find_first_not_of("0123456789", bound + 1) == name.npos;
  const std::string_view plain = has_major ? name.substr(0, bound) : name;
  const auto at = std::find_if(parts.begin(), parts.end(),
                               [&](const KnownPart& part) { return plain == part.name; });
  return at == parts.end() ? nullptr : &*at;
}

std::string PipCommand(const PythonPlace& python, std::string_view package, Wanted wanted) {
  if (package.empty()) return "";
  const std::string name = (wanted == Wanted::kNewest ? "--upgrade " : "") + std::string(package);
  const std::string program = python.path.empty() ? "python3" : QuoteForShell(python.path);
  if (python.path.empty() || python.managed) {
    return program + " -m venv .venv && . .venv/bin/activate && pip install " + name;
  }
  return program + " -m pip install " + name;
}

}  // namespace vernier
