// Prints which nodes of an ONNX model must stay float32, so that the rest can be float16.
#include <cstdio>
#include <cstdlib>

#include "vernier/compare_options.h"
#include "vernier/debug.h"

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: keep_float32 MODEL TOLERANCE\n");
    return 2;
  }
  const std::string model = argv[1];
  const double tolerance = std::strtod(argv[2], nullptr);

  // A mixed model is good if its outputs are those of the model, within the tolerance.
  const auto check = [&](const std::string& mixed) -> vernier::Result<bool> {
    vernier::RunPlan plan;
    plan.runners = {vernier::MakeRunner("float32", "onnxruntime", model),
                    vernier::MakeRunner("mixed", "onnxruntime", mixed)};
    plan.compare->atol.fallback = tolerance;
    plan.compare->rtol.fallback = 0;
    VERNIER_ASSIGN_OR_RETURN(const vernier::RunRecord record, vernier::Run(plan));
    return record.exit_code == 0;
  };
  const vernier::Result<vernier::Float32Record> found = vernier::FindFloat32Nodes(model, check);
  if (!found.ok()) {
    std::fprintf(stderr, "%s\n", found.status().message().c_str());
    return 1;
  }
  for (const vernier::Float32Node& node : found->kept) {
    std::printf("%s '%s' errs by %g in float16\n", node.op.c_str(), node.name.c_str(), node.error);
  }
  std::printf("%zu of %lld nodes stay float32 (%lld checks)\n", found->kept.size(),
              static_cast<long long>(found->nodes), static_cast<long long>(found->checks));
  return 0;
}
