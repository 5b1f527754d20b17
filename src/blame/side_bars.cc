#include "blame/side_bars.h"

namespace vernier {

PairBars MakeSideBars(const CompareOptions& options, const SideRunners& runners) {
  PairBars bars(options);
  if (runners.reference != nullptr) bars.AddRunner(kReferenceStream, *runners.reference);
  if (runners.quantises_alone) bars.AddUnquantised(kReferenceStream);
  bars.AddRunner(kCandidateStream, *runners.candidate);
  return bars;
}

}  // namespace vernier
