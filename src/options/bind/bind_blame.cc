#include "options/bind/bind_blame.h"

#include <filesystem>

#include "backend/python_program.h"
#include "options/bind/bind_runners.h"
#include "options/bind/file_conflicts.h"
#include "run/runner/own_python.h"
#include "util/shell_words.h"

namespace vernier {

Result<BlameOptions> BindBlame(const ParsedArgs& args, const RunPlan& run) {
  VERNIER_TRY(CheckBundlePlace(args));
  BlameOptions options;
  VERNIER_TRY(BindOptions(args, {}, {options}));
  for (const RunnerPlan& runner : run.runners) {
    std::vector<std::string> words = RunnerWords(runner);
    std::string python = OwnPython(runner);
    if (python.empty()) python = run.execution.python;
    if (!python.empty() && IsPythonBackend(runner.backend)) {
      const bool is_path = python.find('/') != std::string::npos;
      words.insert(words.end(),
                   {"--python", is_path ? std::filesystem::absolute(python).string() : python});
    }
    options.runner_words.push_back(JoinForShell(words));
  }
  return options;
}

}  // namespace vernier
