#include "cli/script/python_script_writer.h"
#include "util/number_text.h"

namespace vernier {
namespace {

constexpr char kTrt[] = "polygraphy.backend.trt";

}  // namespace

Result<std::string> PythonScript::Engine(const RunnerPlan& runner) {
  std::string bytes;
  if (runner.model.type == "engine") {
    bytes =
        Let("load_engine_bytes",
            Call("polygraphy.backend.common", "BytesFromPath").Add(QuotePython(runner.model.path)));
    return Let("deserialize_engine", Call(kTrt, "EngineFromBytes").Add(bytes));
  }
  // The parser has to know the configuration, too.
  Import("polygraphy", "mod");
  NeedTensorRt();
  Import(kTrt, "CreateConfig as CreateTrtConfig");
  const std::string made = CreateConfig(), config = "parser_trt_config";
  Let(config, made);
  VERNIER_ASSIGN_OR_RETURN(const std::string network, NetworkSteps(ParseNetwork(config)));
  PythonCall build = Call(kTrt, "EngineBytesFromNetwork").Add(network);
  build.AddIf(made != "CreateTrtConfig()", "config", config);
  if (const auto cache = args_.Value("save_timing_cache")) {
    build.Add("save_timing_cache", QuotePython(*cache));
  }
  bytes = Let("build_engine", build);
  if (const auto path = args_.Value("save_engine")) {
    bytes = Let(
        "save_engine_bytes",
        Call("polygraphy.backend.common", "SaveBytes").Add(bytes).Add("path", QuotePython(*path)));
  }
  return Let("deserialize_engine", Call(kTrt, "EngineFromBytes").Add(bytes));
}

}  // namespace vernier
