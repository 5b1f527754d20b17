// Loads a model under two backends, and prints whether they agree.
#include <cstdio>

#include "vernier/compare_options.h"
#include "vernier/session.h"

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: compare_two MODEL BACKEND BACKEND\n");
    return 2;
  }
  vernier::RunPlan plan;
  plan.runners = {vernier::MakeRunner("reference", argv[2], argv[1]),
                  vernier::MakeRunner("candidate", argv[3], argv[1])};
  plan.inputs.iterations = 3;
  plan.compare->tolerance.fallback = vernier::ToleranceRule::kAuto;

  const vernier::Result<vernier::RunRecord> record = vernier::Run(plan);
  if (!record.ok()) {
    std::fprintf(stderr, "%s\n", record.status().message().c_str());
    return 2;
  }
  for (const vernier::PairRecord& pair : record->pairs) {
    for (const vernier::OutputRecord& output : pair.outputs) {
      std::printf("%s: %d of %d iterations agree\n", output.name.c_str(), int(output.passed),
                  int(output.compared));
    }
  }
  std::printf("%s\n", vernier::FormatSummary(*record).c_str());
  return record->exit_code;
}
