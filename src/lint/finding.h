// How the linter's findings are named.
#pragma once

#include <string_view>

#include "vernier/lint_record.h"

namespace vernier {

/// The source of a finding: Polygraphy's word if its linter finds the fault, "vernier" if it does
/// not, and the backend's name for what a runtime reported. Polygraphy lets ONNX Runtime judge the
/// nodes, and has the checker only for the graph around them.
namespace lint_source {
inline constexpr std::string_view kChecker = "onnx_checker";
inline constexpr std::string_view kRuntime = "onnxruntime";
inline constexpr std::string_view kLoader = "onnx_loader";
inline constexpr std::string_view kGraph = "onnx_graphsurgeon";
inline constexpr std::string_view kVernier = "vernier";
}  // namespace lint_source

/// A rule that findings are named for.
struct LintRule {
  std::string_view name;
  LintLevel level;
  std::string_view source;   ///< empty: that of the runner
  std::string_view meaning;  ///< what breaks it, half a sentence
};

}  // namespace vernier
