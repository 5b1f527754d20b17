// What vernier knows about the runtimes of ONNX models in backends/ without loading them:
// runner.def in the folder of each, one row
//
//   VERNIER_ONNX_RUNTIME(name, package, help, enables)
//
// of literals: the name of the plug-in, of its flag and the first word of --runner; the package
// that pip installs, in whose environment --python finds the library (the plug-in's option `lib`);
// the help of the flag; and what works with it, for `vernier doctor`. To use the rows, define the
// macro and include "backend/known/onnx_runtimes.def", which the build generates from all folders,
// even those that it does not build.
#pragma once

#include <string_view>

namespace vernier {

#define VERNIER_ONNX_RUNTIME(name, package, help, enables) name,
inline constexpr std::string_view kOnnxRuntimes[] = {
#include "backend/known/onnx_runtimes.def"
};
#undef VERNIER_ONNX_RUNTIME

}  // namespace vernier
