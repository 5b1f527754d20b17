// Polygraphy's RunResults JSON.
#pragma once

#include <memory>
#include <string>

#include "io/polygraphy/polygraphy_document.h"
#include "io/results/results_reader.h"
#include "vernier/status.h"

namespace vernier {

/// A file. kMalformed, in Polygraphy's words, when it holds something other than a RunResults.
Result<std::unique_ptr<ResultsReader::Source>> OpenJsonResults(const std::string& path);

/// One iteration, an IterationResult object of `document`. kMalformed, naming the file.
Result<IterationResult> DecodeJsonIteration(const PolygraphyDocument& document, JsonValue value);

}  // namespace vernier
