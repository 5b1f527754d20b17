// What is wrong with a model, as the linter tells it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace vernier {

enum class LintLevel : uint8_t {
  kException,  ///< the model breaks a rule that runtimes rely on
  kWarning,    ///< it runs, but not everywhere or not as meant
  kInfo
};

/// "exception", "warning", "info": the words of Polygraphy's report.
std::string_view LintLevelName(LintLevel level);

/// Who says so: Polygraphy's word where its linter finds the fault, "vernier" where it does not,
/// and the backend's name for what a runtime said. Polygraphy lets ONNX Runtime judge the nodes,
/// and has the checker only for the graph around them.
namespace lint_source {
inline constexpr std::string_view kChecker = "onnx_checker";
inline constexpr std::string_view kRuntime = "onnxruntime";
inline constexpr std::string_view kLoader = "onnx_loader";
inline constexpr std::string_view kGraph = "onnx_graphsurgeon";
inline constexpr std::string_view kVernier = "vernier";
}  // namespace lint_source

struct LintFinding {
  LintLevel level = LintLevel::kException;
  std::string source;
  std::string_view rule;
  std::string message;
  std::vector<std::string> nodes;  ///< of the main graph; empty: the whole model
  std::string op;                  ///< operator of the only node
};

/// A rule that findings are named for.
struct LintRule {
  std::string_view name;
  LintLevel level;
  std::string_view source;   ///< empty: that of the runner
  std::string_view meaning;  ///< what breaks it, half a sentence
};

}  // namespace vernier
