#include "caller.h"

#include <algorithm>

#include "gil.h"
#include "model/onnx/model_type.h"
#include "options/bind/option_use.h"
#include "options/table/command_words.h"
#include "options/table/given_field.h"
#include "vernier/compare_options.h"

namespace nb = nanobind;

namespace vernier::python {
namespace {

ScriptFunction FunctionFrom(const nb::dict& said, const char* key) {
  if (!said.contains(key)) return {};
  const auto [path, function] = nb::cast<std::pair<std::string, std::string>>(said[key]);
  return {path, function};
}

// With the type that its file has, so that an ONNX model gives its inputs.
ModelPlan Resolved(ModelPlan model) {
  if (model.path.empty() || !model.type.empty()) return model;
  model.path = SplitModelPath(model.path).path;
  const Result<ModelType> type = InferModelType(model.path, {});
  if (type.ok()) model.type = std::string(ModelTypeName(*type));
  return model;
}

RunnerPlan PlanOf(const CallerRunner& runner, const ModelPlan& model) {
  RunnerPlan plan;
  plan.name = runner.name;
  plan.backend = "python";
  plan.backend_options = {{std::string(kServedByCaller), "1"}};
  plan.session_options = {{"script", runner.path}, {"function", runner.function}};
  plan.model = model;
  for (const std::string& output : model.outputs) plan.session_options.emplace_back("mark", output);
  return plan;
}

int Connect(const nb::object& connect) {
  const GilAcquire gil;
  PyObject* const socket = CallBack(connect.ptr(), {}, "vernier");
  return socket == nullptr ? -1 : nb::cast<int>(nb::steal(socket));
}

}  // namespace

Caller Caller::From(const nb::dict& said) {
  Caller caller;
  if (said.contains("connect")) caller.connect = nb::object(said["connect"]);
  if (said.contains("runners")) {
    using Row = std::tuple<size_t, std::string, std::string, std::string>;
    for (auto& [position, name, path, function] : nb::cast<std::vector<Row>>(said["runners"])) {
      caller.runners.push_back({position, name, path, function});
    }
  }
  caller.feeds = FunctionFrom(said, "feeds");
  caller.comparison = FunctionFrom(said, "comparison");
  caller.postprocessing = FunctionFrom(said, "postprocessing");
  caller.decides = said.contains("decides");
  return caller;
}

Status Caller::CheckOptions(const ParsedArgs& args, std::string_view called) const {
  if (!comparison.given() || ReadField<&Leniency::lenient>(args)) return {};
  return CheckIdleBeside(args, "--compare-func-script", called);
}

void Caller::JoinPlan(const ModelPlan& model, RunPlan& plan) const {
  const ModelPlan resolved = Resolved(model);
  for (const CallerRunner& runner : runners) {
    const auto at = static_cast<ptrdiff_t>(std::min(runner.position, plan.runners.size()));
    plan.runners.insert(plan.runners.begin() + at, PlanOf(runner, resolved));
  }
  if (feeds.given()) plan.inputs.script = feeds;
  if (comparison.given()) {
    plan.compare_script = comparison;
    plan.compare->functions = {CompareFunction::kScript};
  }
  if (postprocessing.given()) plan.postprocess_script = postprocessing;
}

Embedder Caller::Objects(bool keeps_outputs) const {
  Embedder objects;
  if (connect.is_valid()) objects.connect = [this] { return Connect(connect); };
  objects.serves_scripts = feeds.given() || comparison.given() || postprocessing.given() || decides;
  objects.keeps_outputs = keeps_outputs;
  objects.needs_every_runner = true;  // its absence is an exception, whatever the others find
  return objects;
}

}  // namespace vernier::python
