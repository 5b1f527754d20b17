#include "run/saved/saved_runs.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "io/bytes/directory_listing.h"
#include "io/results/feed_sources.h"
#include "io/results/file_kind.h"
#include "io/results/iteration_directory.h"
#include "io/results/saved_tensors.h"
#include "run/feeds/shard_names.h"
#include "util/text/number_text.h"

namespace vernier {
namespace {

constexpr ArchiveAccess kAccess = ArchiveAccess::kMapWhereFaster;

bool IsEmptyFolder(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_directory(path, error) && std::filesystem::is_empty(path, error);
}

bool IsPolygraphyFile(const std::string& path) {
  if (IsDirectory(path)) {
    const auto files = ListJsonFiles(path);
    return files.ok() && !files->empty();
  }
  const Result<FileKind> kind = DetectFileKind(path);
  return !kind.ok() || *kind == FileKind::kJson;
}

Result<SavedTensors> OpenPath(const std::string& path, LoadRule rule) {
  if (rule == LoadRule::kOutputs && IsPolygraphyFile(path)) {
    VERNIER_ASSIGN_OR_RETURN(auto reader, ResultsReader::Open(path, kAccess));
    return SavedTensors{SavedKind::kOutputs, std::move(reader)};
  }
  return OpenSavedTensors(path, SavedKind::kOutputs, kAccess);
}

constexpr std::string_view kTestDataSet = "test_data_set_";

// Of ONNX test data. Empty where a folder is not called by a number.
std::vector<int64_t> NumbersOfSets(const std::string& path) {
  const Result<std::vector<std::string>> sets = ListTestDataSets(path);
  std::vector<int64_t> numbers;
  if (!sets.ok()) return numbers;
  for (const std::string& set : *sets) {
    const std::string name = std::filesystem::path(set).filename().string();
    const std::optional<int64_t> number = ParseInt(name.substr(kTestDataSet.size()));
    if (!number || *number < 0) return {};
    numbers.push_back(*number);
  }
  return numbers;
}

std::vector<int64_t> NumbersOf(const std::string& path) {
  if (!IsDirectory(path)) return {};
  const std::vector<int64_t> numbers = SavedIterations(path);
  return numbers.empty() ? NumbersOfSets(path) : numbers;
}

std::string PathOfNumber(const std::string& path, uint64_t number) {
  if (!SavedIterations(path).empty()) return IterationFilePath(path, number);
  return (std::filesystem::path(path) / (std::string(kTestDataSet) + std::to_string(number)))
      .string();
}

// Whether runners infer iterations of other numbers: those of their inputs, or 0, 1, 2.
bool InferOthers(const RunPlan& plan, const std::vector<int64_t>& numbers) {
  const std::vector<std::string>& inputs = plan.inputs.load_paths;
  return !plan.runners.empty() && (inputs.size() != 1 || NumbersOf(inputs.front()) != numbers);
}

// Iterations are compared by their place: behind a gap they would meet those of other feeds.
Status CheckGaps(const RunPlan& plan) {
  const std::vector<std::string>& paths = plan.load_outputs;
  if (paths.empty()) return {};
  const std::vector<int64_t> first = NumbersOf(paths.front());
  bool alike = !InferOthers(plan, first);
  std::string gap;
  for (const std::string& path : paths) {
    const std::vector<int64_t> numbers = NumbersOf(path);
    alike &= numbers == first;
    for (size_t n = 0; n < numbers.size() && gap.empty(); ++n) {
      if (numbers[n] == static_cast<int64_t>(n)) continue;
      gap = "'" + path + "' lacks iteration " + std::to_string(n) + ": '" + PathOfNumber(path, n) +
            "' is not there, and those after it would be compared with others; add it, or rename "
            "the files (--lenient takes them in order)";
    }
  }
  return gap.empty() || alike ? Status() : Malformed(gap);
}

// The number that a file gives to its first iteration.
uint64_t FirstOf(const std::string& path) {
  const Result<SavedTensors> saved = OpenSavedTensors(path, SavedKind::kInputs);
  return !saved.ok() || saved->reader->runs().empty() ? 0 : saved->reader->runs().front().first;
}

// Files that number their iterations from elsewhere than 0 may do so alike.
Status CheckFirstNumbers(const RunPlan& plan, const std::vector<SavedRuns::Run>& runs) {
  const auto shifted = std::ranges::find_if(runs, [](const auto& run) { return run.first != 0; });
  if (shifted == runs.end()) return {};
  const bool alike =
      std::ranges::all_of(runs, [&](const auto& run) { return run.first == shifted->first; });
  const std::vector<std::string>& inputs = plan.inputs.load_paths;
  const bool of_live = !plan.runners.empty();
  if (alike && (!of_live || (inputs.size() == 1 && FirstOf(inputs.front()) == shifted->first))) {
    return {};
  }
  return Malformed("'" + shifted->path + "' begins with iteration " +
                   std::to_string(shifted->first) +
                   ", which would be compared with iteration 0: number its iterations from 0 "
                   "(--lenient takes them in order)");
}

// Of a path that names no runner: itself, or the folder that "." stands for.
std::string NameOfPlace(const std::string& path) {
  const std::filesystem::path normal = std::filesystem::path(path).lexically_normal();
  if (normal != "." && normal != "./") return path;
  std::error_code error;
  const std::string name = std::filesystem::current_path(error).filename().string();
  return error || name.empty() ? path : name;
}

}  // namespace

Result<SavedRuns> SavedRuns::Open(const RunPlan& plan, LoadRule rule) {
  const bool in_order = plan.lenient && !plan.strict;
  if (!in_order) {
    VERNIER_TRY(CheckGaps(plan));
    VERNIER_TRY(CheckFoldersOfShards(plan.load_outputs));
    VERNIER_TRY(CheckSidesOfShards(plan.load_outputs));
  }
  VERNIER_ASSIGN_OR_RETURN(SavedRuns loaded, Open(plan.load_outputs, rule, plan.load_labels));
  if (!in_order) VERNIER_TRY(CheckFirstNumbers(plan, loaded.runs_));
  return loaded;
}

Result<SavedRuns> SavedRuns::Open(const std::vector<std::string>& paths, LoadRule rule,
                                  const std::vector<std::string>& labels) {
  SavedRuns loaded;
  for (size_t place = 0; place < paths.size(); ++place) {
    const std::string& path = paths[place];
    const std::string label = place < labels.size() ? labels[place] : "";
    const bool labelled = !label.empty();
    if (IsEmptyFolder(path)) {
      loaded.runs_.push_back({labelled ? label : path, path, 0, false, labelled});
      loaded.places_.push_back({});
      continue;
    }
    VERNIER_ASSIGN_OR_RETURN(SavedTensors saved, OpenPath(path, rule));
    const std::shared_ptr<ResultsReader> reader = std::move(saved.reader);
    for (size_t i = 0; i < reader->runs().size(); ++i) {
      const SavedRun& run = reader->runs()[i];
      std::string name = run.name.empty() ? NameOfPlace(path) : run.name;
      if (labelled) name = label + (reader->runs().size() > 1 ? ": " + name : "");
      loaded.runs_.push_back({std::move(name), path, static_cast<int64_t>(run.iterations),
                              saved.positional, labelled, run.first, run.steps});
      loaded.places_.push_back({reader, i, i == 0});
    }
  }
  return loaded;
}

bool SavedRuns::AreTheSame(size_t a, size_t b) const {
  if (places_[a].run != places_[b].run) return false;
  std::error_code error;
  return std::filesystem::equivalent(runs_[a].path, runs_[b].path, error);
}

std::optional<uint64_t> SavedRuns::FeedOf(int64_t iteration) const {
  for (size_t i = 0; i < runs_.size(); ++i) {
    if (const std::optional<uint64_t> feed = FeedOf(i, iteration)) return feed;
  }
  return std::nullopt;
}

std::optional<uint64_t> SavedRuns::FeedOf(size_t run, int64_t iteration) const {
  if (iteration >= runs_[run].iterations) return std::nullopt;
  return places_[run].reader->FeedOf(places_[run].run, static_cast<size_t>(iteration));
}

std::vector<int64_t> SavedRuns::StepsOf(size_t run) const {
  std::vector<int64_t> steps;
  std::optional<uint64_t> last;
  for (int64_t i = 0; i < runs_[run].iterations; ++i) {
    const std::optional<uint64_t> feed = FeedOf(run, i);
    if (!feed) return {};
    if (feed != last) steps.push_back(0);
    ++steps.back();
    last = feed;
  }
  const bool any = std::ranges::any_of(steps, [](int64_t count) { return count > 1; });
  return any ? steps : std::vector<int64_t>();
}

Status SavedRuns::CheckIntact() const {
  for (const Place& place : places_) {
    if (place.reader != nullptr) VERNIER_TRY(place.reader->CheckIntact());
  }
  return {};
}

Result<IterationResult> SavedRuns::Read(size_t run, int64_t iteration, Logger& logger) {
  const Place& place = places_[run];
  if (iteration == 0 && place.announces) {
    logger.Info("Loading inference results from " + runs_[run].path);
  }
  VERNIER_ASSIGN_OR_RETURN(IterationResult result,
                           place.reader->Read(place.run, static_cast<size_t>(iteration)));
  // The name inside an iteration is what Polygraphy's comparison lines show.
  if (result.runner_name.empty() || runs_[run].labelled) result.runner_name = runs_[run].name;
  return result;
}

}  // namespace vernier
