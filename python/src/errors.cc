#include "bindings.h"
#include "status_error.h"

namespace nb = nanobind;

namespace vernier::python {
namespace {

// The package has the classes; it makes the exception of a code.
void Translate(const std::exception_ptr& error, void*) {
  try {
    std::rethrow_exception(error);
  } catch (const StatusError& found) {
    const nb::object made =
        nb::module_::import_("vernier._errors")
            .attr("make")(static_cast<int>(found.status.code()), found.status.message().c_str());
    PyErr_SetObject(made.type().ptr(), made.ptr());
  }
}

}  // namespace

void BindErrors(nb::module_&) { nb::register_exception_translator(Translate); }

}  // namespace vernier::python
