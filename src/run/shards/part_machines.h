// Whether parts were computed where the same numbers come out.
#pragma once

#include <string>
#include <vector>

#include "run/shards/all_parts.h"
#include "util/log/log.h"
#include "vernier/status.h"

namespace vernier {

/// The same bits are promised for the same build of vernier, framework, device, precision, number
/// of threads and versions of Python packages. kMalformed where parts differ in one of these; with
/// `mixed` only a warning where this program is another build than theirs. Always kMalformed where
/// Python workers have imported other modules of the same name.
///
/// A note for each difference, of parts that were merged before as well. It names shards, by the
/// lowest numbers: it does not depend on which of them were merged first.
Result<std::vector<std::string>> CheckMachines(const Parts& parts, bool mixed, Logger& logger);

}  // namespace vernier
