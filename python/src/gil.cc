#include "gil.h"

#include <cxxabi.h>
#include <unistd.h>

namespace vernier::python {
namespace {

// What has to be left by unwinding is never left: a handler that ended would end the process.
[[noreturn]] void WaitForTheEnd() {
  while (true) ::pause();
}

// Calls into Python. `call` must have nothing to destroy, which would be done without the GIL.
template <typename Call>
auto OrWait(const Call& call) {
  try {
    return call();
  } catch (const abi::__forced_unwind&) {
    WaitForTheEnd();
  }
}

}  // namespace

GilAcquire::GilAcquire() : state_(OrWait([] { return PyGILState_Ensure(); })) {}
GilAcquire::~GilAcquire() { PyGILState_Release(state_); }

GilRelease::GilRelease() : state_(PyEval_SaveThread()) {}
GilRelease::~GilRelease() {
  OrWait([this] { PyEval_RestoreThread(state_); });
}

PyObject* CallBack(PyObject* function, std::initializer_list<PyObject*> arguments,
                   const char* where) {
  PyObject* const place = PyUnicode_FromString(where);
  PyObject* const words = PyTuple_New(static_cast<Py_ssize_t>(arguments.size()));
  Py_ssize_t at = 0;
  for (PyObject* argument : arguments) {
    Py_INCREF(argument);
    PyTuple_SetItem(words, at++, argument);
  }
  return OrWait([=] {
    PyObject* const result = PyObject_CallObject(function, words);
    if (result == nullptr) PyErr_WriteUnraisable(place);
    Py_XDECREF(words);
    Py_XDECREF(place);
    return result;
  });
}

}  // namespace vernier::python
