// The faults of a model, as plain data.
#pragma once

#include <cstddef>
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

struct LintFinding {
  LintLevel level = LintLevel::kException;
  /// Who found it: "onnx_checker", "onnx_loader", "onnx_graphsurgeon" or "onnxruntime" where
  /// Polygraphy's linter finds the same, "vernier" where it does not, and the name of a backend for
  /// what a runner reported.
  std::string source;
  std::string rule;     ///< its name in docs/lint.md: "dangling-input"
  std::string message;  ///< one sentence; names tensors and nodes in quotes
  /// Nodes of the main graph, in the file's order; empty: the whole model. A node without a name is
  /// "polygraphy_unnamed_node_<index>".
  std::vector<std::string> nodes;
  std::string op;  ///< operator of the only node; empty for none or several
};

/// Of one model. Nodes are those of the main graph by their names, in the file's order; names that
/// repeat are listed once in `passing` and `failing`.
struct LintRecord {
  std::vector<LintFinding> findings;  ///< those of rules first, then those of runners
  std::vector<std::string> failing;   ///< nodes with an exception
  /// The others, without those that no output depends on and those that wait for a failing one;
  /// where something was run and there is an exception, only those that ran.
  std::vector<std::string> passing;
  std::vector<std::string> not_run;  ///< nodes that no runner computed: all, if none was used
  std::vector<std::string> runners;  ///< who ran nodes: "onnxruntime 1.31.1"
  std::string failure;  ///< why a runner could not be used; empty: all were. Not in the JSON.

  size_t Count(LintLevel level) const;
  /// Without an exception. Warnings do not count.
  bool valid() const { return Count(LintLevel::kException) == 0; }
};

/// {"summary": {"passing", "failing"}, "lint_entries": [...]} as Polygraphy writes it; each entry
/// has its "rule" besides, and "vernier" says what was run.
std::string ToJson(const LintRecord& record);

}  // namespace vernier
