#include "cli/script/python_script_writer.h"
#include "compare/functions/metric_table.h"
#include "util/values/joined.h"
#include "vernier/compare_options.h"

namespace vernier {
namespace {

// "L2CompareFunc".
std::string ClassNameOf(CompareFunction function) {
  if (function == CompareFunction::kSimple) return "SimpleCompareFunc";
  if (function == CompareFunction::kIndices) return "IndicesCompareFunc";
  return std::string(FindMetric(function)->polygraphy) + "CompareFunc";
}

}  // namespace

void PythonScript::FillSimple(PythonCall& call) const {
  const CompareOptions& options = plan_.compare;
  PerOutput<std::string> stats;
  const auto only = [](const std::vector<ErrorStat>& list) {
    return std::string(ErrorStatName(list.empty() ? ErrorStat::kElemwise : list.front()));
  };
  if (options.check_error_stat.fallback) stats.fallback = only(*options.check_error_stat.fallback);
  for (const auto& [name, list] : options.check_error_stat.entries) {
    stats.entries.emplace_back(name, only(list));
  }
  call.AddGiven("rtol", options.rtol)
      .AddGiven("atol", options.atol)
      .AddGiven("check_error_stat", stats)
      .AddGiven("error_quantile", options.error_quantile)
      .AddIf(options.infinities_compare_equal, "infinities_compare_equal", "True");
  const PicturePlan& pictures = plan_.pictures;
  call.AddIf(!pictures.heatmaps.empty(), "save_heatmaps", QuotePython(pictures.heatmaps))
      .AddIf(pictures.show_heatmaps, "show_heatmaps", "True")
      .AddIf(!pictures.error_plots.empty(), "save_error_metrics_plot",
             QuotePython(pictures.error_plots))
      .AddIf(pictures.show_error_plots, "show_error_metrics_plot", "True");
}

void PythonScript::FillThreshold(CompareFunction function, PythonCall& call) const {
  const CompareOptions& options = plan_.compare;
  switch (function) {
    case CompareFunction::kSimple:
      FillSimple(call);
      break;
    case CompareFunction::kIndices:
      call.AddGiven("index_tolerance", options.index_tolerance);
      break;
    default:
      call.AddGiven(FindMetric(function)->threshold, options.thresholds[function]);
      break;
  }
}

void PythonScript::Functions() {
  if (plan_.compare_script.given()) {
    functions_.push_back(FromScript(plan_.compare_script));
    return;
  }
  const CompareOptions& options = plan_.compare;
  Title("Comparison Functions");
  for (const CompareFunction function : options.functions) {
    PythonCall call = Compare(ClassNameOf(function));
    FillThreshold(function, call);
    call.AddIf(options.no_shape_check && function != CompareFunction::kIndices, "check_shapes",
               "False")
        .AddIf(options.fail_fast, "fail_fast", "True");
    const std::string name = std::string(CompareFunctionName(function)) + "_compare_func";
    Let(name, call.Text());
    functions_.push_back(name);
  }
}

void PythonScript::Postprocessing() {
  std::string function;
  if (plan_.postprocess_script.given()) {
    function = FromScript(plan_.postprocess_script);
  } else if (plan_.postprocess.fallback || !plan_.postprocess.entries.empty()) {
    function = Compare("TopKPostprocessFunc").Add(PythonOf(plan_.postprocess)).Text();
  }
  if (!function.empty()) {
    Title("Postprocessing");
    Let("runs", "Comparator.postprocess(runs, " + function + ")");
  }
  if (!plan_.validate || IsSequential()) return;
  Title("Output Validation");
  Let("runs", "Comparator.validate(runs, check_inf=True, check_nan=True)");
}

void PythonScript::Verdict() {
  Import("polygraphy.comparator", "Comparator");
  Title("Accuracy Comparison");
  PythonCall call("Comparator.compare_accuracy");
  call.Add("runs").Add("compare_func", "[" + Joined(functions_) + "]");
  call.AddIf(plan_.compare->fail_fast, "fail_fast", "True")
      .AddIf(plan_.compare->check_average, "check_average", "True");
  Let("accuracy_results", call.Text());
  if (!plan_.save.accuracy.empty()) {
    body_ += "accuracy_results.save(" + QuotePython(plan_.save.accuracy) + ")\n";
  }
  Let("success", "bool(accuracy_results)");
  if (plan_.validate && IsSequential()) {
    body_ += "success &= all(Comparator.validate(runs, check_inf=True, check_nan=True))\n";
  }
  Import("polygraphy.exception", "PolygraphyException");
  body_ += "\n# Report Results\nif not success:\n    raise PolygraphyException('FAILED')\n";
}

}  // namespace vernier
