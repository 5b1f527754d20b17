// Reads what a writer left in NAME.partial.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "io/journal/journal.h"
#include "io/results/partial_folder.h"
#include "io/results/results_reader.h"
#include "vernier/status.h"

namespace vernier {

/// Whether the path is a folder with a manifest and a journal of ours.
bool IsPartialFolder(const std::string& path);

/// Whether the folder has a manifest and parts, but no journal, which is there before them.
bool LacksJournal(const std::string& path);

/// kMalformed when the manifest is missing or damaged.
Result<PartialManifest> ReadPartialManifest(const std::string& folder);

/// What the iterations of such a folder were computed with, as far as its journal says it.
std::vector<JournalSource> ReadPartialSources(const std::string& folder);

/// Whether the folder is only what could not be removed after its target had been saved whole.
bool IsLeftOver(const std::string& folder);

/// The iterations that are in the journal and in the parts, one runner after another as in the
/// manifest. Of inputs there is one runner, whose outputs are the feeds. All files are open
/// afterwards: the folder may be renamed. What is reported is what the journal promises: an
/// iteration is kMalformed when it is read where its bytes are not those that were written (the
/// machine lost power), where its line in the journal is damaged, or where the part is missing. A
/// runner whose last lines are damaged has fewer iterations; Damage() then says that there were
/// more.
Result<std::unique_ptr<ResultsReader::Source>> OpenPartialResults(const std::string& folder);

}  // namespace vernier
