// Errors of the libraries as Python exceptions.
#pragma once

#include <utility>

#include "vernier/status.h"

namespace vernier::python {

/// Thrown towards Python only: nanobind turns it into the exception class of its code.
struct StatusError {
  Status status;
};

inline void Check(const Status& status) {
  if (!status.ok()) throw StatusError{status};
}

template <typename T>
T Check(Result<T> result) {
  if (!result.ok()) throw StatusError{std::move(result).status()};
  return *std::move(result);
}

}  // namespace vernier::python
