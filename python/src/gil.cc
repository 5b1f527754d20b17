#include "gil.h"

#include <cxxabi.h>
#include <unistd.h>

namespace vernier::python {
namespace {

// What has to be left by unwinding is never left: a handler that ended would end the process.
[[noreturn]] void WaitForTheEnd() {
  while (true) ::pause();
}

PyGILState_STATE Ensure() {
  try {
    return PyGILState_Ensure();
  } catch (const abi::__forced_unwind&) {
    WaitForTheEnd();
  }
}

void Restore(PyThreadState* state) {
  try {
    PyEval_RestoreThread(state);
  } catch (const abi::__forced_unwind&) {
    WaitForTheEnd();
  }
}

}  // namespace

GilAcquire::GilAcquire() : state_(Ensure()) {}
GilAcquire::~GilAcquire() { PyGILState_Release(state_); }

GilRelease::GilRelease() : state_(PyEval_SaveThread()) {}
GilRelease::~GilRelease() { Restore(state_); }

}  // namespace vernier::python
