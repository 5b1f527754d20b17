#include "cli/commands/inspect_subject.h"

#include <string>
#include <string_view>

#include "inference/inspection.h"
#include "options/table/command_words.h"
#include "options/table/given_field.h"
#include "options/table/groups.h"

namespace vernier {
namespace {

bool IsOfNetworks(const OptionRow& row) {
  return TensorRtParserGroup().Has(row.dest) || TensorRtNetworkGroup().Has(row.dest);
}

// Of a build, of which there is none here.
bool IsTimingCache(const OptionRow& row) {
  return TensorRtEngineGroup().Has(row.dest) && row.Files() == FileUse::kCache;
}

bool IsOfEngines(const OptionRow& row) {
  return SetsField<&InspectionPlan::tensor_ranges>(row) ||
         (TensorRtEngineGroup().Has(row.dest) && !IsTimingCache(row));
}

bool IsOfValuesAndPages(const OptionRow& row) {
  return SetsField<&InspectionPlan::layer>(row) || SetsField<&SavedSideWords::loaded>(row) ||
         SetsField<&InspectionPlan::unbounded_sizes>(row) ||
         SetsField<&InspectionPlan::draws>(row) || SetsField<&InspectionPlan::page>(row);
}

bool IsOfOnnxFiles(const OptionRow& row) {
  return SetsField<&ModelPlan::shape_inference>(row) || OnnxLoadGroup().Has(row.dest);
}

// Why an option cannot be given for this subject; empty: it can.
std::string_view WhyNot(const OptionRow& row, InspectedSubject subject) {
  if (subject != InspectedSubject::kNetwork && IsOfNetworks(row)) {
    return "only with --display-as trt, which shows TensorRT's network";
  }
  if (subject != InspectedSubject::kEngine && IsOfEngines(row)) return "only for a TensorRT engine";
  if (subject == InspectedSubject::kNetwork && IsOfValuesAndPages(row)) {
    return "not with --display-as trt, which shows a network and no values";
  }
  if (subject == InspectedSubject::kEngine && (IsOfValuesAndPages(row) || IsOfOnnxFiles(row))) {
    return "an engine has nothing of the kind";
  }
  return "";
}

// Why it changes nothing; empty: it does.
std::string_view WhyIdle(const OptionRow& row, bool needs_tensorrt) {
  if (IsTimingCache(row)) return "nothing is built";
  if (TensorFlowRefusedGroup().Has(row.dest)) return "this is not a TensorFlow model";
  const bool loads = TensorRtRunGroup().Has(row.dest) || TensorRtPluginGroup().Has(row.dest);
  return loads && !needs_tensorrt ? "nothing needs TensorRT" : "";
}

}  // namespace

Status CheckSubject(const ParsedArgs& args, InspectedSubject subject, Logger& log) {
  const bool needs_tensorrt = subject != InspectedSubject::kGraph || !args.Runners().empty();
  for (const GivenOption& given : args.given()) {
    const std::string flag(given.flag);
    const std::string_view why = WhyNot(*given.row, subject);
    if (!why.empty()) return InvalidArgument(flag + ": " + std::string(why));
    const std::string_view idle = WhyIdle(*given.row, needs_tensorrt);
    if (!idle.empty()) log.Warning(flag + " has no effect: " + std::string(idle));
  }
  return {};
}

}  // namespace vernier
