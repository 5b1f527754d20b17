#include "run/workers/opened_model.h"

#include <algorithm>
#include <string_view>

#include "run/workers/engine_report.h"
#include "run/workers/profile_sizes.h"
#include "util/values/joined.h"

namespace vernier {
namespace {

// What a plug-in answers when it changes no types itself.
constexpr std::string_view kAsInTheModel = "as in the model";

// A framework says that a dimension is dynamic; the file has its name.
void AddSymbols(std::span<const TensorInfo> from_file, std::vector<TensorInfo>& infos) {
  for (TensorInfo& info : infos) {
    const auto found = std::find_if(from_file.begin(), from_file.end(),
                                    [&](const TensorInfo& f) { return f.name == info.name; });
    if (found == from_file.end() || !found->shape || !info.shape ||
        found->shape->size() != info.shape->size()) {
      continue;
    }
    for (size_t i = 0; i < info.shape->size(); ++i) {
      if ((*info.shape)[i].dynamic()) (*info.shape)[i].symbol = (*found->shape)[i].symbol;
    }
  }
}

bool HasSessionOption(const RunnerPlan& plan, std::string_view key) {
  return std::ranges::any_of(plan.session_options,
                             [&](const auto& option) { return option.first == key; });
}

Status CheckPluginOption(const RunnerPlan& plan, const std::string& name,
                         const BackendInfo& backend) {
  const std::string flag = "--" + plan.backend + "." + name;
  std::vector<std::string> known;
  const BackendOption* option = nullptr;
  for (const BackendOption& has : backend.options) {
    if (has.name == name) option = &has;
    known.push_back(has.name);
  }
  if (option == nullptr) {
    return InvalidArgument(flag + ": the backend has no such option; " +
                           (known.empty() ? "it has none" : "it has: " + Joined(known)));
  }
  const std::vector<std::string>& values = option->values;
  for (const auto& [key, value] : plan.session_options) {
    if (key != name || values.empty()) continue;
    if (std::find(values.begin(), values.end(), value) != values.end()) continue;
    return InvalidArgument(flag + ": expected one of " + Joined(values) + ", got '" + value + "'");
  }
  return {};
}

Status CheckPluginOptions(const RunnerPlan& plan, const BackendInfo& backend) {
  for (const std::string& name : plan.plugin_options) {
    VERNIER_TRY(CheckPluginOption(plan, name, backend));
  }
  return {};
}

// What is wanted of a backend that can, by the option that it has for that.
void AddForRole(const BackendInfo& backend, OptionRole role, const std::string& value,
                OptionList& options) {
  const BackendOption* const option = backend.OptionFor(role);
  if (option != nullptr && !value.empty()) options.emplace_back(option->name, value);
}

// What the host can say of a session, unless its user has said it.
void AddMeant(const RunnerPlan& plan, const BackendInfo& backend, const MoreOptions& more,
              OptionList& options) {
  for (const auto& [meaning, value] : more.meant) {
    const BackendOption* const option = backend.OptionThatMeans(meaning);
    if (option == nullptr || HasSessionOption(plan, option->name)) continue;
    options.emplace_back(option->name, value);
  }
}

// Lists of numbers in a program's JSON have no type of their own.
void AddOutputTypes(std::span<const TensorInfo> outputs, OptionList& options) {
  for (const TensorInfo& output : outputs) {
    if (output.dtype == DType::kUndefined) continue;
    options.emplace_back("output_type", output.name + "=" + std::string(DTypeName(output.dtype)));
  }
}

}  // namespace

Result<OpenedModel> OpenModel(Worker& worker, const SessionToOpen& opening) {
  const RunnerPlan& plan = opening.runner;
  const ModelSource& model = opening.model;
  const OptionList& more = opening.more.named;
  VERNIER_TRY(CheckPluginOptions(plan, opening.backend));
  OpenRequest request = model.request();
  request.session = opening.session;
  request.options = plan.session_options;
  CompleteProfiles(plan, request.inputs, opening.found, request.options);
  AddForRole(opening.backend, OptionRole::kAlone, plan.alone ? "1" : "", request.options);
  AddForRole(opening.backend, OptionRole::kLayerTimes, plan.layer_times, request.options);
  AddMeant(plan, opening.backend, opening.more, request.options);
  request.options.insert(request.options.end(), more.begin(), more.end());
  if (plan.backend == "python") AddOutputTypes(model.declared_outputs(), request.options);
  const bool asked_elsewhere = std::any_of(
      more.begin(), more.end(), [](const auto& option) { return option.first == kEngineReport; });
  const EngineReportFile report =
      asked_elsewhere ? EngineReportFile() : EngineReportFile::For(plan);
  report.AddTo(request.options);
  OpenedModel opened;
  VERNIER_ASSIGN_OR_RETURN(opened.session, worker.Open(request, model.edited_bytes()));
  SessionDescription& session = opened.session;
  opened.engine = report.ReadBuild();
  AddSymbols(request.inputs, session.inputs);
  AddSymbols(model.declared_outputs(), session.outputs);
  for (const TensorInfo& output : model.declared_outputs()) {
    opened.own_outputs.push_back(output.name);
  }
  opened.computes_in = DTypeFromName(session.precision).value_or(DType::kUndefined);
  const bool in_half = plan.model.fp_to_fp16 && session.precision == kAsInTheModel;
  if (in_half) opened.computes_in = DType::kFloat16;
  if (session.precision == kAsInTheModel) session.precision = model.precision();
  return opened;
}

}  // namespace vernier
