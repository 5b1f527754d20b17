// What a program that uses these libraries has of its own in a run: runners, loaders and comparison
// functions that it serves itself.
#pragma once

#include <functional>
#include <string_view>

namespace vernier {

struct CallerObjects {
  /// A connected socket, the run's from then on, at whose other end the program serves the protocol
  /// of Python workers; -1: it cannot.
  std::function<int()> connect;
  /// The plan's scripts (loader, comparison, post-processing) are the program's objects, too.
  bool serves_scripts = false;
  /// The observer keeps outputs: none may stay on a device.
  bool keeps_outputs = false;
};

/// The backend option of a runner (backend "python") that is such an object.
inline constexpr std::string_view kServedByCaller = "served_by_caller";

}  // namespace vernier
