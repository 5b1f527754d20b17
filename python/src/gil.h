// The interpreter's lock, for threads that outlive the interpreter.
#pragma once

#include <Python.h>

#include <initializer_list>

namespace vernier::python {

/// Taken by a thread that may not have it. Once the interpreter ends, a thread waits here for the
/// end of the process: Python does so since 3.13, and before that unwinds the thread's stack, which
/// no destructor survives.
class GilAcquire {
 public:
  GilAcquire();
  ~GilAcquire();
  GilAcquire(const GilAcquire&) = delete;
  GilAcquire& operator=(const GilAcquire&) = delete;

 private:
  PyGILState_STATE state_;
};

/// Given up by a thread that has it, and taken back, in which it is as GilAcquire.
class GilRelease {
 public:
  GilRelease();
  ~GilRelease();
  GilRelease(const GilRelease&) = delete;
  GilRelease& operator=(const GilRelease&) = delete;

 private:
  PyThreadState* state_;
};

/// Calls a Python function with the GIL, on a thread of the libraries. What the function raises is
/// printed as of `where`, and the result is nullptr; otherwise a new reference. Where the
/// interpreter ends in the meantime, the thread waits as in GilAcquire: the function may have given
/// the GIL up.
PyObject* CallBack(PyObject* function, std::initializer_list<PyObject*> arguments,
                   const char* where);

}  // namespace vernier::python
