// The runners that have a flag, and the names that --runner takes for them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "vernier/status.h"

namespace vernier {

struct RunnerKind {
  std::string_view flag_word;  ///< OptionRow::constant, and the first word of --runner
  std::string_view backend;    ///< of the plug-in or script
  std::string_view
      name_prefix;  ///< of runners without a label; Polygraphy's where it has the runner
};

/// Those with a flag, in the order of the help.
std::span<const RunnerKind> RunnerKinds();

/// A word of --runner that no row names is a plug-in's own name: out-of-tree backends need no flag.
RunnerKind KindOf(std::string_view word);

/// The word of the flag for a backend as --runner names it: "onnxrt" for "onnxruntime" too. A word
/// that no flag has stays as it is.
std::string_view RunnerFlagWord(std::string_view backend);

/// kInvalidArgument, with the nearest name and all others, for a backend that has no flag and is no
/// plug-in on the search path, which begins with `dirs`. What has a flag may still not be
/// installed.
Status CheckBackendName(const std::string& backend, const std::vector<std::string>& dirs);

}  // namespace vernier
