#include "run/loaded_runs.h"

#include <filesystem>

namespace vernier {
namespace {

bool IsEmptyFolder(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_directory(path, error) && std::filesystem::is_empty(path, error);
}

}  // namespace

Result<LoadedRuns> LoadedRuns::Open(const std::vector<std::string>& paths) {
  LoadedRuns loaded;
  for (const std::string& path : paths) {
    if (IsEmptyFolder(path)) {
      loaded.runs_.push_back({path, path, 0});
      loaded.places_.push_back({});
      continue;
    }
    VERNIER_ASSIGN_OR_RETURN(std::unique_ptr<ResultsReader> opened, ResultsReader::Open(path));
    const std::shared_ptr<ResultsReader> reader = std::move(opened);
    for (size_t i = 0; i < reader->runs().size(); ++i) {
      const SavedRun& run = reader->runs()[i];
      loaded.runs_.push_back({run.name, path, static_cast<int64_t>(run.iterations)});
      loaded.places_.push_back({reader, i, i == 0});
    }
  }
  return loaded;
}

Result<IterationResult> LoadedRuns::Read(size_t run, int64_t iteration, Logger& logger) {
  const Place& place = places_[run];
  if (iteration == 0 && place.announces) {
    logger.Info("Loading inference results from " + runs_[run].path);
  }
  VERNIER_ASSIGN_OR_RETURN(IterationResult result,
                           place.reader->Read(place.run, static_cast<size_t>(iteration)));
  // The name inside an iteration is what the peer's comparison lines show.
  if (result.runner_name.empty()) result.runner_name = runs_[run].name;
  return result;
}

}  // namespace vernier
