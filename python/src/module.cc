// vernier._native: what the Python package needs of the C++ libraries. People use the package,
// whose classes hold these.
#include "bindings.h"
#include "core/version.h"

NB_MODULE(_native, module) {
  using namespace vernier::python;  // NOLINT: the macro's body is a function
  module.attr("VERSION") = vernier::kVersion;
  BindErrors(module);
  BindTensors(module);
  BindResults(module);
  BindOptions(module);
  BindComparison(module);
  BindRun(module);
  BindRunner(module);
  BindReports(module);
  BindInvestigations(module);
}
