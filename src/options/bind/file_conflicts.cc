#include "options/bind/file_conflicts.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "batch/batch.h"
#include "batch/find_models.h"
#include "blame/bundle/bundle_folder.h"
#include "model/onnx/companion_files.h"
#include "options/bind/bind_run.h"
#include "options/bind/bind_runners.h"
#include "options/bind/default_files.h"
#include "options/table/command_words.h"
#include "options/table/given_field.h"
#include "options/table/saved_sides.h"
#include "session/plan/plan_files.h"
#include "util/files/paths.h"
#include "util/text/split_words.h"
#include "util/values/list_has.h"

namespace vernier {
namespace {

namespace fs = std::filesystem;

// The only option that may name a file that the command also reads, unless the caller forbids it.
constexpr std::string_view kInPlace = "output";
// Where Polygraphy has words of its own for what overlaps: session/plan/validate_plan.cc.
constexpr std::string_view kSaved[] = {"save_inputs_path", "save_outputs_path",
                                       "save_input_blob_path"};
constexpr std::string_view kLoaded[] = {"load_inputs_paths", "load_outputs_paths"};

enum class Folders : uint8_t { kLeftOut, kTaken };

struct NamedFile {
  std::string_view dest;
  std::string flag, path;
  fs::path place;
  bool shared = false;  // several commands, or runners, may write it
};

// PlaceOfFile() of very many files: the links of a folder are followed once.
class Places {
 public:
  fs::path Of(const std::string& path) {
    const fs::path file(path), name = file.filename();
    std::error_code failed;
    const bool plain =
        !name.empty() && name != "." && name != ".." && !fs::is_symlink(file, failed);
    if (!plain) return PlaceOfFile(path);
    const std::string folder = file.parent_path().string();
    const auto [known, is_new] = folders_.try_emplace(folder);
    if (is_new) known->second = PlaceOfFile(folder.empty() ? "." : folder);
    return known->second / name;
  }

 private:
  std::map<std::string, fs::path> folders_;
};

class Files {
 public:
  explicit Files(Folders folders = Folders::kLeftOut) : folders_(folders) {}

  void Add(std::string_view dest, std::string_view flag, const std::string& path,
           bool shared = false) {
    fs::path place = PlaceOf(path);
    if (!place.empty()) {
      files_.push_back({dest, std::string(flag), path, std::move(place), shared});
    }
  }

  const std::vector<NamedFile>& all() const { return files_; }

 private:
  // Where a file is or will be; empty for what holds no data: devices, pipes, folders as a rule.
  fs::path PlaceOf(const std::string& path) {
    std::error_code failed;
    const bool holds_data =
        IsPlaceOfData(path) || (folders_ == Folders::kTaken && fs::is_directory(path, failed));
    if (path.empty() || path == "-" || !holds_data) return {};
    return places_.Of(path);
  }

  Folders folders_;
  Places places_;
  std::vector<NamedFile> files_;
};

// A script may be followed by the name of a function, a runner's words by anything.
void AddScripts(std::string_view dest, std::string_view flag, std::string word, Files& files) {
  const size_t colon = word.rfind(':');
  std::error_code failed;
  if (colon != std::string::npos && !fs::exists(word, failed)) word.resize(colon);
  if (fs::exists(word, failed)) files.Add(dest, flag, word);
}

// The words of --runner or --model-runner, of KEY=VALUE the value.
std::vector<std::string> WordsOfRunner(const RunnerChoice& runner) {
  Result<std::vector<std::string>> words = SplitWords(runner.value);
  if (!words.ok()) return {};
  for (std::string& word : *words) word.erase(0, word.find('=') + 1);
  return std::move(*words);
}

// Is one file written where a word of the option says? Folders are AddFolders()'s.
bool WritesFile(const GivenOption& given) {
  const FileUse use = given.row->Files();
  return IsWritten(use) && use != FileUse::kWritesInto && use != FileUse::kReplaces;
}

// What a runner of --runner saves is in its words too, and is not read.
std::vector<std::string> WordsReadByRunners(const ParsedArgs& args) {
  std::vector<std::string> words;
  for (const RunnerChoice& runner : args.Runners()) {
    if (runner.kind == "runner")
      std::ranges::move(WordsOfRunner(runner), std::back_inserter(words));
  }
  ForEachOptionOfRunners(args, [&](const std::string&, const GivenOption& given) {
    if (!WritesFile(given)) return;
    for (const std::string& value : given.values) {
      const auto word = std::ranges::find(words, value);
      if (word != words.end()) words.erase(word);
    }
  });
  return words;
}

// What --output-dir has written where no option names another place.
void AddWrittenByDefault(const ParsedArgs& args, Files& written) {
  if (FolderOfResults(args).empty()) return;
  constexpr std::pair<std::string_view, const char*> kDefaults[] = {
      {"save_record", kDefaultRecord}, {"reports", kDefaultReport}, {"log_file", kDefaultLog}};
  for (const auto& [dest, name] : kDefaults) {
    if (args.Has(dest)) continue;
    written.Add("output_dir", FlagOf<&ResultFolder::path>(args), InOutputFolder(args, name));
  }
}

void AddWritten(const ParsedArgs& args, Files& written) {
  const auto add = [&](const std::string_view flag, const GivenOption& given) {
    if (!WritesFile(given)) return;
    const FileUse use = given.row->Files();
    for (const std::string& word : given.values) {
      written.Add(given.row->dest, flag,
                  use == FileUse::kWrites ? InOutputFolder(args, word) : word,
                  use == FileUse::kCache);
    }
  };
  for (const GivenOption& given : args.given()) add(given.flag, given);
  ForEachOptionOfRunners(args, add);
  AddWrittenByDefault(args, written);
}

void AddFolders(const ParsedArgs& args, Files& written) {
  for (const GivenOption& given : args.given()) {
    if (given.row->Files() != FileUse::kWritesInto) continue;
    for (const std::string& word : given.values) written.Add(given.row->dest, given.flag, word);
  }
}

// A pattern that the shell has left alone names files too.
void AddModelsOfBatch(const ParsedArgs& args, Files& read) {
  const Result<std::vector<BatchModel>> models =
      FindBatchModels(ReadField<&BatchPlan::models>(args));
  if (!models.ok()) return;
  for (const BatchModel& model : *models)
    read.Add("models", FlagOf<&BatchPlan::models>(args), model.path);
}

// `[OUTPUT:]FILE`
std::string WithoutOutput(const std::string& word) {
  std::error_code ignored;
  const size_t colon = fs::exists(word, ignored) ? std::string::npos : word.rfind(':');
  return colon == std::string::npos ? word : word.substr(colon + 1);
}

void AddWord(const GivenOption& given, const std::string& word, Files& read) {
  const std::string_view dest = given.row->dest;
  switch (given.row->Files()) {
    case FileUse::kReads:
    case FileUse::kReadsModels:
      return AddScripts(dest, given.flag, word, read);
    case FileUse::kReadsSides:
      return AddScripts(dest, given.flag, SplitSavedSide(word).path, read);
    case FileUse::kReadsByOutput:
      return read.Add(dest, given.flag, WithoutOutput(word));
    case FileUse::kReadsWords:
      if (word.starts_with('@')) read.Add(dest, given.flag, word.substr(1));
      return;
    default:
      return;
  }
}

void AddRead(const ParsedArgs& args, Files& read) {
  for (const GivenOption& given : args.given()) {
    for (const std::string& word : given.values) AddWord(given, word, read);
  }
  if (IsGiven<&BatchPlan::models>(args)) AddModelsOfBatch(args, read);
  for (const std::string& word : WordsReadByRunners(args)) {
    AddScripts("runners", "--runner", word, read);
  }
  for (const RunnerChoice& runner : args.Runners()) {
    if (runner.kind == "runner") continue;
    for (const std::string& word : WordsOfRunner(runner)) {
      AddScripts("runners", "--" + std::string(runner.kind), word, read);
    }
  }
}

// Where the weights of models may lie: in a model's own folder (empty), in that of the run, or in
// any that a runner's words name.
std::set<std::string> WeightFolders(const ParsedArgs& args) {
  std::set<std::string> folders = {ReadField<&ModelPlan::external_data_dir>(args)};
  std::error_code failed;
  for (const RunnerChoice& runner : args.Runners()) {
    folders.emplace();
    for (const std::string& word : WordsOfRunner(runner)) {
      if (fs::is_directory(word, failed)) folders.insert(word);
    }
  }
  return folders;
}

// External weights, which no word names. Models are opened only where something could be lost.
void AddWeights(const ParsedArgs& args, std::span<const NamedFile> written,
                std::span<const std::string> read, Files& weights) {
  const bool replaces = std::any_of(written.begin(), written.end(), [](const NamedFile& file) {
    std::error_code ignored;
    return fs::exists(file.place, ignored);
  });
  if (!replaces) return;
  for (const std::string& folder : WeightFolders(args)) {
    for (const std::string& file : read) {
      for (const std::string& path : CompanionFiles(file, folder)) {
        weights.Add("model_file", "weights of the model", path);
      }
    }
  }
}

Status CheckAgainst(const NamedFile& written, std::span<const NamedFile> read) {
  for (const NamedFile& other : read) {
    const bool reported_elsewhere = ListHas(kSaved, written.dest) && ListHas(kLoaded, other.dest);
    if (written.place == other.place && !reported_elsewhere) {
      return WouldOverwrite(written.flag, written.path, "command", other.flag);
    }
  }
  return {};
}

Status CheckBetween(const NamedFile& a, const NamedFile& b) {
  const bool reported_elsewhere = ListHas(kSaved, a.dest) && ListHas(kSaved, b.dest);
  const bool one_cache = a.shared && a.dest == b.dest;
  if (a.place != b.place || reported_elsewhere || one_cache) return {};
  return WouldBeWrittenTwice(a.flag, b.flag, b.path);
}

std::vector<std::string> PathsOf(const Files& files) {
  std::vector<std::string> paths;
  for (const NamedFile& file : files.all()) paths.push_back(file.path);
  return paths;
}

// A file, and which of several commands it is a file of.
struct OwnedFile {
  const NamedCommand* owner;
  NamedFile file;
};

using FilesByPlace = std::multimap<fs::path, OwnedFile>;

void AddOwned(const NamedCommand& owner, const Files& files, FilesByPlace& all) {
  for (const NamedFile& file : files.all()) all.emplace(file.place, OwnedFile{&owner, file});
}

// The first that another command has at the place of `file`, or null.
const OwnedFile* OfAnother(const FilesByPlace& all, const OwnedFile& file) {
  const auto [first, last] = all.equal_range(file.file.place);
  const auto found = std::find_if(
      first, last, [&](const auto& entry) { return entry.second.owner != file.owner; });
  return found == last ? nullptr : &found->second;
}

Status CheckNotRead(const OwnedFile& written, const FilesByPlace& read) {
  const OwnedFile* const other = OfAnother(read, written);
  if (other == nullptr) return {};
  return InvalidArgument(written.file.flag + " of " + written.owner->name + " would overwrite '" +
                         written.file.path + "', which " + other->owner->name + " reads" +
                         (other->file.flag.empty() ? "" : " (" + other->file.flag + ")") +
                         ": name another file");
}

Status CheckWrittenOnce(const OwnedFile& written, const FilesByPlace& all) {
  const OwnedFile* const other = OfAnother(all, written);
  if (other == nullptr) return {};
  if (written.file.shared && other->file.shared) return {};
  return InvalidArgument(written.file.flag + " of " + written.owner->name + " and " +
                         other->file.flag + " of " + other->owner->name + " would both write '" +
                         written.file.path + "': name two files");
}

}  // namespace

Status CheckBundlePlace(const ParsedArgs& args) {
  const std::string folder = ReadField<&BlameOptions::bundle>(args);
  if (folder.empty()) return {};
  std::error_code failed;
  fs::path place = fs::weakly_canonical(fs::absolute(folder, failed), failed);
  if (!place.has_filename()) place = place.parent_path();
  Files read(Folders::kTaken), written(Folders::kTaken);
  AddRead(args, read);
  for (const NamedFile& file : read.all()) {
    if (!LiesWithin(file.place, place)) continue;
    return InvalidArgument("--bundle: '" + folder + "' holds '" + file.path +
                           "', which is read by this command" +
                           (file.flag.empty() ? "" : " (" + file.flag + ")") +
                           ", and is replaced as a whole: name another folder");
  }
  VERNIER_TRY(CheckBundleFolder(folder));
  AddWritten(args, written);
  AddFolders(args, written);
  for (const NamedFile& file : written.all()) {
    if (!LiesWithin(file.place, place)) continue;
    return InvalidArgument(file.flag + ": '" + file.path +
                           "' is in the folder of --bundle, which is replaced as a whole: name "
                           "another place");
  }
  return {};
}

std::vector<std::string> FilesRead(const ParsedArgs& args) {
  Files read;
  AddRead(args, read);
  return PathsOf(read);
}

Status CheckFileConflicts(const ParsedArgs& args, std::string_view output,
                          std::span<const std::string> also_read) {
  Files written, read, kept;
  AddWritten(args, written);
  AddRead(args, read);
  for (const std::string& path : also_read) kept.Add("", "", path);
  std::vector<std::string> all_read = PathsOf(read);
  all_read.insert(all_read.end(), also_read.begin(), also_read.end());
  AddWeights(args, written.all(), all_read, kept);
  const std::span<const NamedFile> all = written.all();
  for (size_t i = 0; i < all.size(); ++i) {
    const bool may_replace = all[i].dest == kInPlace && output != kInPlace;
    if (!may_replace) VERNIER_TRY(CheckAgainst(all[i], read.all()));
    VERNIER_TRY(CheckAgainst(all[i], kept.all()));
    for (const NamedFile& before : all.first(i)) VERNIER_TRY(CheckBetween(before, all[i]));
  }
  return CheckBundlePlace(args);
}

Status CheckFilesBetween(std::span<const NamedCommand> commands) {
  FilesByPlace written, read;
  std::vector<NamedFile> all_written;
  for (const NamedCommand& command : commands) {
    Files files;
    AddWritten(*command.args, files);
    for (const std::string& path : command.logs) files.Add("log_dir", "--log-dir", path);
    AddOwned(command, files, written);
    all_written.insert(all_written.end(), files.all().begin(), files.all().end());
  }
  for (const NamedCommand& command : commands) {
    Files files;
    AddRead(*command.args, files);
    AddWeights(*command.args, all_written, FilesRead(*command.args), files);
    AddOwned(command, files, read);
  }
  for (const auto& [place, file] : written) {
    VERNIER_TRY(CheckNotRead(file, read));
    VERNIER_TRY(CheckWrittenOnce(file, written));
  }
  return {};
}

}  // namespace vernier
