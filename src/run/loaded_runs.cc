#include "run/loaded_runs.h"

namespace vernier {

Result<LoadedRuns> LoadedRuns::Open(const std::vector<std::string>& paths, Logger& logger) {
  LoadedRuns loaded;
  for (const std::string& path : paths) {
    logger.Info("Loading inference results from " + path);
    VERNIER_ASSIGN_OR_RETURN(std::unique_ptr<ResultsReader> opened, ResultsReader::Open(path));
    const std::shared_ptr<ResultsReader> reader = std::move(opened);
    for (size_t i = 0; i < reader->runs().size(); ++i) {
      const SavedRun& run = reader->runs()[i];
      loaded.runs_.push_back({run.name, path, static_cast<int64_t>(run.iterations)});
      loaded.places_.push_back({reader, i});
    }
  }
  return loaded;
}

Result<IterationResult> LoadedRuns::Read(size_t run, int64_t iteration) {
  const Place& place = places_[run];
  VERNIER_ASSIGN_OR_RETURN(IterationResult result,
                           place.reader->Read(place.run, static_cast<size_t>(iteration)));
  // The name inside an iteration is what the peer's comparison lines show.
  if (result.runner_name.empty()) result.runner_name = runs_[run].name;
  return result;
}

}  // namespace vernier
