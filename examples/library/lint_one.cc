// Prints what is wrong with an ONNX model, by rules and by what a backend makes of it.
#include <cstdio>

#include "vernier/checks.h"

int main(int argc, char** argv) {
  if (argc != 2 && argc != 3) {
    std::fprintf(stderr, "usage: lint_one MODEL [BACKEND]\n");
    return 2;
  }
  vernier::RunPlan plan;
  if (argc == 3) plan.runners = {vernier::MakeRunner("asked", argv[2], argv[1])};
  vernier::LintOptions lint;
  lint.model.path = argv[1];

  const vernier::Result<vernier::Checked<vernier::LintRecord>> checked =
      vernier::CheckLint(plan, lint);
  if (!checked.ok()) {
    std::fprintf(stderr, "%s\n", checked.status().message().c_str());
    return 2;
  }
  const vernier::LintRecord& record = checked->record;
  for (const vernier::LintFinding& finding : record.findings) {
    std::printf("%s: %s [%s]\n", std::string(vernier::LintLevelName(finding.level)).c_str(),
                finding.message.c_str(), finding.rule.c_str());
  }
  std::printf("%zu nodes passed, %zu failed, %zu were not run\n", record.passing.size(),
              record.failing.size(), record.not_run.size());
  if (!record.failure.empty()) std::fprintf(stderr, "%s\n", record.failure.c_str());
  return checked->exit_code;
}
