// The words of a command line that make a plan: the inverse of BindRun().
#pragma once

#include <string>
#include <vector>

#include "options/bind/bind_run.h"
#include "vernier/run_plan.h"
#include "vernier/status.h"

namespace vernier {

/// "run m.onnx --onnxrt ..." or "compare a.json b.json ...": a command, and what differs from a new
/// plan. The words are bound again, and what they make is compared with `plan`: they give the same
/// run. Not compared are the times in names of runners, `command`, and the hashes of inputs that
/// -vv asks for. kUnimplemented for a plan that no words make, as a run file may have one: it says
/// which setting has none. Of `invocation` only as_polygraphy counts: its name is lenient by
/// itself.
Result<std::vector<std::string>> PlanWords(const RunPlan& plan, const Invocation& invocation);

}  // namespace vernier
