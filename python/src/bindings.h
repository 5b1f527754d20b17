// The parts of the extension module. Each adds its classes and functions.
#pragma once

#include <nanobind/nanobind.h>

namespace vernier::python {

void BindErrors(nanobind::module_& module);
void BindTensors(nanobind::module_& module);
void BindResults(nanobind::module_& module);
void BindOptions(nanobind::module_& module);
void BindComparison(nanobind::module_& module);
void BindRun(nanobind::module_& module);
void BindRunner(nanobind::module_& module);
void BindReports(nanobind::module_& module);
void BindInvestigations(nanobind::module_& module);

}  // namespace vernier::python
