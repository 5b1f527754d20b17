#include "blame/search/probe_effect.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "blame/judge/verdicts.h"
#include "blame/search/disturbing_probes.h"

namespace vernier {
namespace {

// The error of the model's outputs with `probes` exposed, as a ProbeTrial has it.
Result<double> ErrorWithProbes(const SearchSubject& subject, size_t iteration,
                               const std::vector<std::string>& probes) {
  constexpr double kCannotRun = std::numeric_limits<double>::infinity();
  std::vector<std::string> marked = probes;
  for (const std::string& output : subject.graph().OutputNames()) {
    const bool there = std::find(marked.begin(), marked.end(), output) != marked.end();
    if (!there) marked.push_back(output);
  }
  ProbeSide& candidate = subject.sides.candidate;
  const Result<std::unique_ptr<RunnerSession>> session = candidate.OpenMarked(marked);
  if (session.status().code() == StatusCode::kCancelled) return session.status();
  if (!session.ok()) return kCannotRun;
  const Result<TensorMap> outputs = candidate.Infer(**session, subject.unprobed.feeds[iteration]);
  if (outputs.status().code() == StatusCode::kCancelled) return outputs.status();
  (void)(*session)->Close();
  if (!outputs.ok()) return kCannotRun;
  return subject.unprobed.outputs.Error(iteration, *outputs);
}

}  // namespace

Status SearchProbeEffect(const SearchSubject& subject, const NameSet& visible,
                         BlameRecord& record) {
  DisturbanceRecord& disturbance = record.disturbance;
  if (!disturbance.measured) return {};
  DescribeMovement(disturbance);
  if (!disturbance.shown_at || !RepeatsItself(record)) return {};
  const double worst = std::max(disturbance.plain_error, disturbance.probed_error);
  if (ExplainedByRounding(record) && worst <= record.condition) return {};
  subject.context.logger.Start("Probing changed the result: searching for the probes that do it");
  // Of the batch that showed it: all tensors at once may be too many.
  NameSet disturbing(disturbance.shown_by.begin(), disturbance.shown_by.end());
  std::erase_if(disturbing, [&](std::string_view name) { return !visible.contains(name); });
  // On the iteration that showed the difference.
  const auto at = static_cast<size_t>(*disturbance.shown_at);
  const ProbeTrial trial = [&](const std::vector<std::string>& set) -> Result<double> {
    VERNIER_TRY(subject.context.CheckInterrupted());
    return ErrorWithProbes(subject, at, set);
  };
  return SearchDisturbance(subject.graph(), subject.graph().InOrder(disturbing), trial,
                           disturbance);
}

}  // namespace vernier
