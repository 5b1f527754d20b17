#include "run/runner/own_python.h"

#include "backend/known/known_backends.h"
#include "backend/known/python_program.h"
#include "run/workers/worker_source.h"

namespace vernier {

std::string OwnPython(const RunnerPlan& runner) {
  for (const auto& [name, value] : runner.backend_options) {
    if (name == kOwnPython) return value;
  }
  return {};
}

Status UseOwnPython(const std::string& python, bool library_named, RunnerPlan& runner) {
  VERNIER_ASSIGN_OR_RETURN(const std::string program, FindPython(python));
  runner.backend_options.emplace_back(kOwnPython, program);
  // Those that have both would else be their plug-in's first.
  const bool has_both = IsPluginOrPython(runner.backend);
  if (has_both && runner.place == RunnerPlace::kAuto) runner.place = RunnerPlace::kPython;
  if (ServedByPython(runner)) return {};
  const bool known = FindKnownBackend(runner.backend) != nullptr;
  if (known && !IsKnownToHave(runner.backend, OptionMeaning::kLibrary)) {
    return InvalidArgument(TakesNothingOfPython(runner.backend));
  }
  if (library_named) {
    return InvalidArgument("--python and a library name two places of '" + runner.backend +
                           "'; give one of them");
  }
  return {};
}

}  // namespace vernier
