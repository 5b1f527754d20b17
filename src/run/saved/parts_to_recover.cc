#include "run/saved/parts_to_recover.h"

#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "io/results/partial_folder.h"
#include "io/results/partial_places.h"
#include "io/results/partial_results.h"
#include "io/results/results_reader.h"
#include "run/saved/saved_progress.h"
#include "util/values/plural_text.h"

namespace vernier {
namespace {

struct Candidate {
  std::string path;
  PartialManifest manifest;
  std::unique_ptr<ResultsReader> reader;

  size_t Total() const {
    size_t total = 0;
    for (const SavedRun& run : reader->runs()) total += run.iterations;
    return total;
  }

  // 'x.npz.partial' holds 5 iterations of a, 4 of b
  std::string Describe() const {
    std::string text = "'" + path + "' holds ";
    bool first = true;
    for (const SavedRun& run : reader->runs()) {
      text +=
          (first ? Counted(run.iterations, "iteration") : ", " + std::to_string(run.iterations)) +
          " of " + (manifest.inputs ? "inputs" : "'" + run.name + "'");
      first = false;
    }
    return text;
  }
};

Result<Candidate> Open(const std::string& path) {
  VERNIER_ASSIGN_OR_RETURN(PartialManifest manifest, ReadPartialManifest(path));
  VERNIER_ASSIGN_OR_RETURN(auto source, OpenPartialResults(path));
  return Candidate{path, std::move(manifest), ResultsReader::Of(std::move(source))};
}

// Parts without an iteration do not show what they are of.
bool AreOfOneRun(const Candidate& a, const Candidate& b) {
  return a.Total() > 0 && b.Total() > 0 && a.manifest.target == b.manifest.target &&
         a.manifest.inputs == b.manifest.inputs &&
         SameRunners(a.reader->runs(), b.manifest.runner_names) && BeginAlike(*a.reader, *b.reader);
}

// The other folders of parts of `name` that hold anything; what cannot be read is noted.
std::vector<Candidate> FindOthers(const Candidate& own, const std::string& name,
                                  std::vector<std::string>& notes) {
  std::vector<Candidate> others;
  for (const std::string& path : PartsBeside(name)) {
    std::error_code ignored;
    const bool same = std::filesystem::equivalent(path, own.path, ignored);
    if (same || !IsPartialFolder(path) || IsLeftOver(path)) continue;
    Result<Candidate> other = Open(path);
    if (!other.ok()) {
      notes.push_back(other.status().message() + "; it stays as it is");
    } else if (other->manifest.inputs == own.manifest.inputs && other->Total() > 0) {
      others.push_back(*std::move(other));
    }
  }
  return others;
}

}  // namespace

Result<PartsToRecover> ChooseParts(const std::string& named, const std::string& name) {
  PartsToRecover chosen{.folder = named, .notes = {}};
  VERNIER_ASSIGN_OR_RETURN(Candidate own, Open(named));
  std::vector<Candidate> all;
  if (!name.empty()) all = FindOthers(own, name, chosen.notes);
  size_t most = own.Total();
  for (const Candidate& other : all) {
    if (other.Total() <= most || !AreOfOneRun(own, other)) continue;
    most = other.Total();
    chosen.folder = other.path;
  }
  if (own.Total() > 0) all.insert(all.begin(), std::move(own));
  for (const Candidate& candidate : all) {
    if (candidate.path == chosen.folder) continue;
    chosen.notes.push_back(candidate.Describe() + "; it stays as it is");
  }
  return chosen;
}

}  // namespace vernier
