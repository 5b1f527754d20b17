// Loads a model under a backend, and prints how fast it is.
#include <cstdio>

#include "vernier/session.h"

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: time_one MODEL BACKEND\n");
    return 2;
  }
  vernier::RunPlan plan;
  plan.runners = {vernier::MakeRunner("measured", argv[2], argv[1])};
  vernier::ProfileOptions profile;
  profile.runs = 20;
  profile.layers = false;

  const vernier::Result<vernier::RunRecord> record = vernier::Profile(plan, profile);
  if (!record.ok()) {
    std::fprintf(stderr, "%s\n", record.status().message().c_str());
    return 2;
  }
  std::printf("%s\n", vernier::FormatSummary(*record).c_str());
  return record->exit_code;
}
