#include "blame/search/engine_builds.h"

#include <string>

#include "util/counted.h"
#include "util/number_text.h"

namespace vernier {
namespace {

// Engines of one batch. The candidate's layers run alone from the reference's tensors; what it
// fuses is looked at once more, on the way and alone.
size_t BuildsOfBatch(const SearchSides& sides, bool fuses) {
  const size_t reference = sides.reference && sides.reference->BuildsEngines() ? 1 : 0;
  const size_t candidate = sides.candidate.BuildsEngines() ? (fuses ? 4 : 2) : 0;
  return reference + candidate;
}

// Those of the models as they are.
size_t BuildsOfModels(const SearchSides& sides) {
  return (sides.reference && sides.reference->BuildsEngines() ? 1U : 0U) +
         (sides.candidate.BuildsEngines() ? 1U : 0U);
}

}  // namespace

void AnnounceBuilds(const SearchSides& sides, Logger& logger) {
  const size_t models = BuildsOfModels(sides);
  if (models == 0) return;
  logger.Info("TensorRT builds at least " +
              Counted(models + BuildsOfBatch(sides, false), "engine") +
              " for this search, which share the timings of kernels; the first is under way");
}

void ForecastBuilds(const SearchSubject& subject, size_t batches) {
  const SearchSides& sides = subject.sides;
  const size_t each = BuildsOfBatch(sides, !subject.unprobed.fused_away.empty());
  if (each == 0 || batches == 0) return;
  const bool of_reference = sides.reference && sides.reference->BuildsEngines();
  const LiveRunner& first =
      of_reference ? *subject.unprobed.reference : *subject.unprobed.candidate;
  subject.context.logger.Info(
      "The first engine took " + FormatG(first.Describe().load_seconds, 3) + " s; about " +
      std::to_string(each * batches) + " more are built, for " +
      (batches == 1 ? "1 batch" : std::to_string(batches) + " batches") + " of layers");
}

}  // namespace vernier
