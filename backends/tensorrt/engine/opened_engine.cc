#include "tensorrt/engine/opened_engine.h"

#include <dlfcn.h>

#include <string>
#include <utility>

#include "tensorrt/builder/engine_builder.h"
#include "tensorrt/builder/engine_files.h"
#include "tensorrt/engine/plan_version.h"
#include "tensorrt/library/option_list.h"
#include "tensorrt/library/option_words.h"
#include "tensorrt/library/trt_words.h"

namespace vernier::trt {
namespace {

// --plugins: they register themselves while they load.
Status LoadPlugins(const sdk::Options& options) {
  for (const std::string& path : WordsOf(options, "plugins").value_or(std::vector<std::string>())) {
    if (::dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL) == nullptr) {
      return Malformed("--plugins: '" + path + "' cannot be loaded: " + ::dlerror());
    }
  }
  return {};
}

Owned<nvinfer1::IRuntime> LoadRuntime(nvinfer1::IRuntime& runtime, const std::string& path) {
  return [&](auto& r) -> Owned<nvinfer1::IRuntime> {
    if constexpr (requires { r.loadRuntime(path.c_str()); }) {
      return Owned<nvinfer1::IRuntime>(r.loadRuntime(path.c_str()));
    }
    return nullptr;
  }(runtime);
}

// --dla-workspace-allocation-strategy, of TensorRT 11.3 and newer.
Status SetDlaWorkspace(nvinfer1::IRuntime& runtime, const sdk::Options& options) {
  static constexpr Word kStrategies[] = {{"DEFAULT", 0}, {"SHARED_STATIC", 1}};
  const auto word = ValueOf(options, "dla_workspace_allocation_strategy");
  if (!word) return {};
  VERNIER_ASSIGN_OR_RETURN(const int32_t strategy,
                           LookUp(kStrategies, *word, "--dla-workspace-allocation-strategy"));
  return [&](auto& each) -> Status {
    if constexpr (requires { each.getDLAWorkspaceAllocationStrategy(); }) {
      using Strategy = decltype(each.getDLAWorkspaceAllocationStrategy());
      each.setDLAWorkspaceAllocationStrategy(static_cast<Strategy>(strategy));
      return {};
    } else {
      (void)strategy;
      return NotInThisRelease("--dla-workspace-allocation-strategy");
    }
  }(runtime);
}

// With --load-runtime that is what the full one has loaded.
Status MakeRuntime(const Shared& shared, const sdk::Options& options, OpenedEngine& opened) {
  opened.runtime = shared.library.CreateRuntime(shared.logger);
  if (opened.runtime == nullptr) {
    return BackendError("TensorRT made no runtime: " + shared.logger.TakeError());
  }
  const auto path = ValueOf(options, "load_runtime");
  if (!path) return {};
  shared.logger.host().Info("Loading TensorRT runtime from: " + *path);
  opened.full_runtime = std::move(opened.runtime);
  opened.runtime = LoadRuntime(*opened.full_runtime, *path);
  if (opened.runtime != nullptr) return {};
  return Malformed("--load-runtime: '" + *path + "' cannot be used: " + shared.logger.TakeError() +
                   ". It must be the path of TensorRT's lean runtime, libnvinfer_lean.so." +
                   std::to_string(kHeaderMajor) +
                   ", which comes with NVIDIA's packages and not with its Python wheels");
}

// `trusted`: its code for the host may be run.
Result<OpenedEngine> Deserialize(const Shared& shared, std::string_view plan, bool trusted,
                                 const sdk::Options& options) {
  OpenedEngine opened;
  VERNIER_TRY(MakeRuntime(shared, options, opened));
  nvinfer1::IRuntime& runtime = *opened.runtime;
  AllowEngineCode(runtime, trusted);
  VERNIER_TRY(SetDlaWorkspace(runtime, options));
  if (IsOn(options, "use_dla")) runtime.setDLACore(0);
  opened.engine.reset(runtime.deserializeCudaEngine(plan.data(), plan.size()));
  if (opened.engine != nullptr) return opened;
  return Malformed(DescribePlan(plan) + " cannot be used by TensorRT " +
                   VersionText(shared.library.version()) + " on this " + shared.device->name() +
                   ": " + shared.logger.TakeError());
}

}  // namespace

void OpenedEngine::End() {
  engine.reset();
  runtime.reset();
  full_runtime.reset();
}

Result<OpenedEngine> OpenEngine(const Shared& shared, const vn_model& model,
                                const sdk::Options& options) {
  const bool reads = ValueOf(options, "model_type") == "engine";
  VERNIER_TRY(CheckOptions(options, reads ? EngineSource::kRead : EngineSource::kBuilt));
  VERNIER_TRY(LoadPlugins(options));
  if (reads) {
    VERNIER_ASSIGN_OR_RETURN(const std::string plan, ReadWhole(std::string(sdk::View(model.path))));
    return Deserialize(shared, plan, IsOn(options, "allow_engine_code"), options);
  }
  VERNIER_ASSIGN_OR_RETURN(BuiltEngine built, BuildEngine(shared.builder, *shared.device, model,
                                                          options, shared.logger));
  VERNIER_TRY(SaveEngine(*built.plan, options, shared.logger));
  const std::string_view plan(static_cast<const char*>(built.plan->data()), built.plan->size());
  VERNIER_ASSIGN_OR_RETURN(OpenedEngine opened, Deserialize(shared, plan, true, options));
  opened.not_exposed = std::move(built.not_exposed);
  opened.asked = std::move(built.asked);
  opened.build.config = std::move(built.config);
  return opened;
}

}  // namespace vernier::trt
