#include "run/saved_progress.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <system_error>
#include <utility>

#include "compare/comparator.h"
#include "io/directory_listing.h"
#include "io/partial_folder.h"
#include "io/partial_results.h"
#include "io/results_format.h"

namespace vernier {
namespace {

namespace fs = std::filesystem;

std::pair<dev_t, ino_t> IdentityOf(const std::string& path) {
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0) return {};
  return {info.st_dev, info.st_ino};
}

bool IsThere(const std::string& path) {
  std::error_code ignored;
  return fs::exists(fs::symlink_status(path, ignored));
}

bool HoldsFiles(const std::string& path) {
  std::error_code error;
  return IsDirectory(path) && !fs::is_empty(path, error) && !error;
}

// Whether all that a folder holds is what a killed write left of a file.
bool HoldsOnlyBeginnings(const std::string& path) {
  std::error_code error;
  for (fs::directory_iterator entry(path, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (!name.starts_with('.') || !name.ends_with(".tmp")) return false;  // see AtomicFile
  }
  return !error;
}

std::string FreeName(const std::string& path) {
  std::string name = path;
  for (int n = 1; IsThere(name) || IsThere(name + kPartialSuffix); ++n) {
    name = path + "." + std::to_string(n);
  }
  return name;
}

Status Rename(const std::string& from, const std::string& to) {
  std::error_code error;
  if (IsThere(from)) fs::rename(from, to, error);
  if (error) return IoError("'" + from + "' cannot be renamed: " + error.message());
  return {};
}

// A folder of per-iteration files cannot be added to: it makes way, with the parts beside it.
Status MakeWay(const std::string& path, Logger& logger) {
  const std::string parts = path + kPartialSuffix;
  if (IsPartialFolderInUse(parts)) {
    return Malformed("--resume: '" + parts + "' is in use: a run is saving there");
  }
  if (!HoldsFiles(path) && !IsThere(parts)) return {};
  const std::string earlier = FreeName(path + kEarlierSuffix);
  VERNIER_TRY(Rename(path, earlier));
  VERNIER_TRY(Rename(parts, earlier + kPartialSuffix));
  logger.Info("--resume: '" + path + "' is now '" + earlier + "', until everything is in '" + path +
              "' again");
  return {};
}

void RemoveAll(const std::string& path) {
  std::error_code ignored;
  fs::remove_all(path, ignored);
}

// Everything beside `path` whose name begins as it does.
std::vector<std::string> Siblings(const std::string& path, const std::string& beginning) {
  const fs::path parent = fs::path(path).parent_path();
  const std::string folder = parent.empty() ? "." : parent.string();
  const std::string name = fs::path(beginning).filename().string();
  std::vector<std::string> found;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    if (entry->path().filename().string().starts_with(name)) {
      found.push_back((parent / entry->path().filename()).string());
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

Result<std::unique_ptr<ResultsReader>> OpenSaved(const std::string& path) {
  if (!IsPartialFolder(path)) return ResultsReader::Open(path);
  VERNIER_ASSIGN_OR_RETURN(auto source, OpenPartialResults(path));
  return ResultsReader::Of(std::move(source));
}

int64_t TotalOf(const ResultsReader& reader) {
  int64_t total = 0;
  for (const SavedRun& run : reader.runs()) total += static_cast<int64_t>(run.iterations);
  return total;
}

bool SameRunners(const std::vector<SavedRun>& saved, const std::vector<std::string>& runners) {
  return std::ranges::equal(saved, runners, [](const SavedRun& run, const std::string& name) {
    return WithoutTime(run.name) == WithoutTime(name);
  });
}

bool SameBits(const TensorMap& a, const TensorMap& b) {
  return std::ranges::equal(a, b, [](const NamedTensor& x, const NamedTensor& y) {
    return x.name == y.name && x.tensor.dtype() == y.tensor.dtype() &&
           x.tensor.dims() == y.tensor.dims() &&
           std::ranges::equal(x.tensor.bytes(), y.tensor.bytes());
  });
}

// Whether both begin with the same outputs.
bool BeginAlike(ResultsReader& a, ResultsReader& b) {
  for (size_t i = 0; i < a.runs().size(); ++i) {
    if (a.runs()[i].iterations == 0 || b.runs()[i].iterations == 0) continue;
    const auto first = a.Read(i, 0), second = b.Read(i, 0);
    return first.ok() && second.ok() && SameBits(first->outputs, second->outputs);
  }
  return true;
}

// What differs, in a few words.
std::string DescribeDifference(const IterationComparison& comparison) {
  for (const OutputComparison& output : comparison.outputs) {
    if (!output.passed()) return "output '" + output.a_name + "' differs";
  }
  for (const auto* names : {&comparison.pairing.left_only, &comparison.pairing.right_only}) {
    if (!names->empty()) return "output '" + names->front() + "' is on one side only";
  }
  return "the outputs differ";
}

}  // namespace

std::string WithoutTime(const std::string& name) {
  constexpr std::string_view kMark = "-runner-N";
  const size_t mark = name.find(kMark);
  if (mark == std::string::npos) return name;
  size_t end = mark + kMark.size();
  while (end < name.size() && std::isdigit(static_cast<unsigned char>(name[end])) != 0) ++end;
  return end < name.size() && name[end] == '-' ? name.substr(0, end) : name;
}

struct SavedProgress::Candidate {
  std::string path;
  std::unique_ptr<ResultsReader> reader;
  int64_t total = 0;
};

Result<std::vector<SavedProgress::Candidate>> SavedProgress::Collect(const std::string& path,
                                                                     Logger& logger) {
  std::vector<std::string> paths;
  if (ResultsFormatFor(path) == ResultsFormat::kJsonDirectory) {
    VERNIER_TRY(MakeWay(path, logger));
    paths = Siblings(path, path + kEarlierSuffix);
  } else {
    paths = Siblings(path, path + kPartialSuffix);
    if (IsThere(path)) paths.push_back(path);
  }
  std::vector<Candidate> candidates;
  for (const std::string& place : paths) {
    const bool parts =
        fs::path(place).filename().string().find(kPartialSuffix) != std::string::npos;
    // Killed before anything was written.
    if (parts && !IsPartialFolder(place)) continue;
    const bool folder = !parts && IsDirectory(place);
    if (folder && !HoldsFiles(place)) continue;
    if (folder ? HoldsOnlyBeginnings(place) : parts && IsLeftOver(place)) {
      RemoveAll(place);
      continue;
    }
    Result<std::unique_ptr<ResultsReader>> reader = OpenSaved(place);
    if (!reader.ok()) {
      return Malformed("--resume: " + reader.status().message() + "; move '" + place +
                       "' away to start anew");
    }
    const int64_t total = TotalOf(**reader);
    if (total > 0) {
      candidates.push_back({place, *std::move(reader), total});
    } else if (parts) {
      RemoveAll(place);
    }
  }
  return candidates;
}

Result<std::unique_ptr<SavedProgress>> SavedProgress::Find(const SavePlan& plan,
                                                           const std::vector<std::string>& runners,
                                                           Logger& logger) {
  const std::string path = WithoutTrailingSlashes(plan.outputs);
  VERNIER_ASSIGN_OR_RETURN(std::vector<Candidate> candidates, Collect(path, logger));
  if (candidates.empty()) {
    logger.Info("--resume: nothing was saved at '" + plan.outputs +
                "' yet; starting with the first iteration");
    return std::unique_ptr<SavedProgress>();
  }
  const auto best = std::ranges::max_element(candidates, {}, &Candidate::total);
  std::unique_ptr<SavedProgress> progress(new SavedProgress);
  progress->target_ = path;
  progress->place_ = best->path;
  progress->runners_ = runners;
  progress->reader_ = std::move(best->reader);
  VERNIER_TRY(progress->CheckRunners());
  candidates.erase(best);
  progress->NoteOthers(candidates);
  std::string counts;
  for (size_t i = 0; i < runners.size(); ++i) {
    counts +=
        (counts.empty() ? "" : ", ") + runners[i] + ": " + std::to_string(progress->iterations(i));
  }
  logger.Info("--resume: going on from '" + progress->place_ + "'; iterations that are there: " +
              counts + ". The first and the last are made again, to see that they are the same.");
  return progress;
}

Status SavedProgress::CheckRunners() const {
  if (SameRunners(reader_->runs(), runners_)) return {};
  const auto add = [](std::string& list, const std::string& name) {
    list += (list.empty() ? "'" : ", '") + WithoutTime(name) + "'";
  };
  std::string saved, asked;
  for (const SavedRun& run : reader_->runs()) add(saved, run.name);
  for (const std::string& name : runners_) add(asked, name);
  return Malformed("--resume: '" + place_ + "' is of the runners " + saved + ", this run has " +
                   asked + "; move it away to start anew");
}

// Shorter ones of the same command: killed while they resumed, say.
void SavedProgress::NoteOthers(std::vector<Candidate>& candidates) {
  if (place_ != target_) superseded_.push_back(IdentityOf(place_));
  for (Candidate& other : candidates) {
    if (other.path == target_ || !SameRunners(other.reader->runs(), runners_)) continue;
    if (BeginAlike(*reader_, *other.reader)) superseded_.push_back(IdentityOf(other.path));
  }
}

int64_t SavedProgress::iterations(size_t runner) const {
  return static_cast<int64_t>(reader_->runs()[runner].iterations);
}

int64_t SavedProgress::most_iterations() const {
  int64_t most = 0;
  for (size_t i = 0; i < runners_.size(); ++i) most = std::max(most, iterations(i));
  return most;
}

bool SavedProgress::IsSample(size_t runner, int64_t iteration) const {
  const int64_t count = iterations(runner);
  return iteration >= 0 && iteration < count && (iteration == 0 || iteration == count - 1);
}

bool SavedProgress::Has(size_t runner, int64_t iteration) const {
  return iteration >= 0 && iteration < iterations(runner) && !IsSample(runner, iteration);
}

Result<IterationResult> SavedProgress::Take(size_t runner, int64_t iteration) {
  VERNIER_ASSIGN_OR_RETURN(IterationResult result,
                           reader_->Read(runner, static_cast<size_t>(iteration)));
  result.runner_name = runners_[runner];  // the time in it is that of this run
  return result;
}

Status SavedProgress::Check(size_t runner, int64_t iteration, const IterationResult& made) {
  VERNIER_ASSIGN_OR_RETURN(const IterationResult saved,
                           reader_->Read(runner, static_cast<size_t>(iteration)));
  if (SameBits(saved.outputs, made.outputs)) return {};
  const IterationComparison comparison = CompareIteration(saved, made, CompareOptions{}, {});
  const Pairing& pairing = comparison.pairing;
  const bool all = pairing.left_only.empty() && pairing.right_only.empty();
  if (all && comparison.passed()) return {};
  return Malformed("--resume: '" + place_ + "' was not saved by this command: in iteration " +
                   std::to_string(iteration) + " of " + runners_[runner] + " " +
                   DescribeDifference(comparison) +
                   ". Was it another model, another seed or were other inputs loaded? Move it "
                   "away to start anew");
}

void SavedProgress::Remove() {
  reader_ = nullptr;
  const std::string beginning = target_ + ".";  // NAME.partial..., NAME.earlier...
  for (const std::string& path : Siblings(target_, beginning)) {
    const auto identity = IdentityOf(path);
    if (std::ranges::find(superseded_, identity) == superseded_.end()) continue;
    RemoveAll(path);
    // The files that belong to parts of a folder.
    if (path.ends_with(kPartialSuffix) && path.find(kEarlierSuffix) != std::string::npos) {
      RemoveAll(path.substr(0, path.size() - std::string_view(kPartialSuffix).size()));
    }
  }
}

}  // namespace vernier
