#include "blame/sides/side_error_bounds.h"

#include "vernier/compare_options.h"

namespace vernier {

PairErrorBounds MakeSideBounds(const CompareOptions& options, const SideRunners& runners) {
  PairErrorBounds bounds(options);
  if (runners.reference != nullptr) bounds.AddRunner(kReferenceStream, *runners.reference);
  if (runners.quantises_alone) bounds.AddUnquantised(kReferenceStream);
  bounds.AddRunner(kCandidateStream, *runners.candidate);
  return bounds;
}

}  // namespace vernier
