#include "cli/script/python_script_writer.h"
#include "util/text/cast_grammar.h"
#include "util/text/number_text.h"

namespace vernier {
namespace {

constexpr char kTrt[] = "polygraphy.backend.trt";

}  // namespace

std::string PythonScript::Named(const std::string& name) {
  const int count = named_[name]++;
  return count == 0 ? name : name + "_" + std::to_string(count);
}

std::string PythonScript::LoadPlugins(const std::string& then) {
  const auto plugins = EngineWords("plugins");
  if (!plugins) return then;
  return Let(Named("load_plugins"),
             Call(kTrt, "LoadPlugins").Add("plugins", FormatPythonList(*plugins)).Add("obj", then));
}

// Of a serialized engine.
std::string PythonScript::Deserialize(const std::string& bytes) {
  std::string runtime;
  if (const auto path = EngineWord("load_runtime")) {
    runtime = Let("load_runtime", Call(kTrt, "LoadRuntime").Add(QuotePython(*path)));
  }
  PythonCall call = Call(kTrt, "EngineFromBytes").Add(LoadPlugins(bytes));
  call.AddIf(!runtime.empty(), "runtime", runtime);
  if (const auto how = EngineWord("dla_workspace_allocation_strategy")) {
    NeedTensorRt();
    call.Add("dla_workspace_allocation_strategy",
             TensorRtMember("DLAWorkspaceAllocationStrategy", *how));
  }
  return Let("deserialize_engine", call);
}

Result<std::string> PythonScript::Engine(const RunnerPlan& runner) {
  std::string bytes;
  if (runner.model.type == "engine") {
    bytes =
        Let("load_engine_bytes",
            Call("polygraphy.backend.common", "BytesFromPath").Add(QuotePython(runner.model.path)));
    return Deserialize(bytes);
  }
  // The parser has to know the configuration, too.
  Import("polygraphy", "mod");
  NeedTensorRt();
  bool plain = false;
  const std::string config = Configuration("parser_trt_config", plain);
  VERNIER_ASSIGN_OR_RETURN(const std::string network, NetworkSteps(ParseNetwork(config)));
  PythonCall build = Call(kTrt, "EngineBytesFromNetwork").Add(LoadPlugins(network));
  build.AddIf(!plain, "config", config);
  if (const auto cache = EngineWord("save_timing_cache")) {
    build.Add("save_timing_cache", QuotePython(*cache));
  }
  bytes = Let("build_engine", build);
  if (const auto path = EngineWord("save_engine")) {
    bytes = Let(
        "save_engine_bytes",
        Call("polygraphy.backend.common", "SaveBytes").Add(bytes).Add("path", QuotePython(*path)));
  }
  return Deserialize(bytes);
}

Result<PythonCall> PythonScript::EngineRunnerCall(const RunnerPlan& runner) {
  VERNIER_ASSIGN_OR_RETURN(const std::string engine, Engine(runner));
  PythonCall call = Call(kTrt, "TrtRunner").Add(engine);
  if (const auto profile = EngineWord("optimization_profile")) {
    call.Add("optimization_profile", *profile);
  }
  if (const auto strategy = EngineWord("allocation_strategy")) {
    call.Add("allocation_strategy", QuotePython(*strategy));
  }
  const std::string budget(EngineWord("weight_streaming_budget").value_or(""));
  if (budget.ends_with('%')) {
    const auto share = ParseDouble(std::string_view(budget).substr(0, budget.size() - 1));
    if (!share) return InvalidArgument("--weight-streaming-budget: no number in '" + budget + "'");
    call.Add("weight_streaming_percent", FormatFloatRepr(*share));
  } else if (!budget.empty()) {
    VERNIER_ASSIGN_OR_RETURN(const int64_t bytes, ParseByteCount(budget));
    call.Add("weight_streaming_budget", std::to_string(bytes));
  }
  return call;
}

}  // namespace vernier
