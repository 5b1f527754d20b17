// From the findings about layers and outputs to the layers to blame.
#pragma once

#include <string>

#include "blame/probe/search_subject.h"
#include "blame/search/blame_run.h"
#include "blame/sides/reference_probe.h"

namespace vernier {

/// There is no verdict, and this is why: logged, an error of the record, and incomplete.
void GiveUp(std::string why, Logger& logger, BlameOutcome& outcome);

/// Fills culprits and what follows from the layers of `outcome.record`: searches within bodies of
/// culprits, and judges the outputs beyond the layers. `outcome.record.error` is there where the
/// search did not come to its end. The runners' workers may be released.
void Conclude(const SearchSubject& subject, const ReferenceSource& source, BlameOutcome& outcome);

}  // namespace vernier
