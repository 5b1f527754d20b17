// MeasurePair for types of at most eight bits: there are at most 65,536 different pairs of
// elements, so counting them replaces all arithmetic on single elements. Internal to kernels.
#pragma once

#include <optional>

#include "kernels/measures/code_arrays.h"
#include "kernels/measures/pair_measures.h"
#include "kernels/measures/pair_source.h"

namespace vernier {

/// Are both types small enough, and the arrays large enough for it to pay?
bool SuitsCodeScan(const ElementSpan& a, const ElementSpan& b);

/// As ScanPair, which says what is left open; `ulp` is left out too.
template <typename T>
PairMeasures ScanCodes(const PairSource<T>& source, const MeasureRequest& request,
                       ThreadPool* pool);

/// The same of arrays that `arrays` reads; without `worst`. The bytes of `source` are not
/// looked at. Errors are those of `arrays`.
template <typename T>
Result<PairMeasures> ScanCodesElsewhere(CodeArrays& arrays, const PairSource<T>& source,
                                        const MeasureRequest& request);

}  // namespace vernier
