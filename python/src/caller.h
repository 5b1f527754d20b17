// Objects of the Python program that take part in a run: callables as runners, feeds, comparison
// functions. They are served in this process, in the protocol of Python workers.
#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <string_view>
#include <vector>

#include "named_tensors.h"
#include "options/words/arg_parser.h"
#include "run/workers/embedder.h"
#include "vernier/run_plan.h"

namespace vernier::python {

/// A callable as a runner: its place among the runners, its name, and how it is found.
struct CallerRunner {
  size_t position = 0;
  std::string name;
  std::string path;
  std::string function;
};

/// What a run has of the Python program. `connect` gives a socket at whose other end that program's
/// objects are served.
struct Caller {
  nanobind::object connect;
  std::vector<CallerRunner> runners;
  ScriptFunction feeds;
  ScriptFunction comparison;
  ScriptFunction postprocessing;
  bool decides = false;  ///< words of --decision name its objects

  /// From the package's dictionary: "connect", "runners" (a list of four), "feeds", "comparison"
  /// and "postprocessing" (pairs of path and function), "decides".
  static Caller From(const nanobind::dict& said);

  /// kInvalidArgument, naming the option and the function by which the package calls `comparison`,
  /// for what has no effect beside it. A lenient call has it ignored.
  Status CheckOptions(const ParsedArgs& args, std::string_view called) const;

  /// Has them take part in the plan. `model` is the run's, for runners that want to know it.
  void JoinPlan(const ModelPlan& model, RunPlan& plan) const;

  /// For the run of that plan; this must outlive it.
  Embedder Objects(bool keeps_outputs) const;
};

}  // namespace vernier::python
