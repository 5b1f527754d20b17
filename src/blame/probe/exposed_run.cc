#include "blame/probe/exposed_run.h"

#include <algorithm>
#include <limits>
#include <memory>

namespace vernier {

Result<double> RunExposed(const ExposedScene& scene, const std::vector<std::string>& probes) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  std::vector<std::string> marked = probes;
  for (const std::string& output : scene.outputs) {
    const bool there = std::find(marked.begin(), marked.end(), output) != marked.end();
    if (!there) marked.push_back(output);
  }
  const Result<std::unique_ptr<LiveRunner>> session = scene.candidate->OpenMarked(marked);
  if (session.status().code() == StatusCode::kCancelled) return session.status();
  if (!session.ok()) return kInfinity;
  const Result<TensorMap> outputs = scene.candidate->Infer(**session, *scene.feed);
  if (outputs.status().code() == StatusCode::kCancelled) return outputs.status();
  (void)(*session)->Close();
  if (!outputs.ok()) return kInfinity;
  return scene.plain->Error(scene.iteration, *outputs);
}

}  // namespace vernier
