#include "run/parts/shard_sources.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <system_error>

#include "io/bytes/checksum.h"
#include "io/bytes/directory_listing.h"
#include "io/results/feed_reader.h"
#include "model/onnx/companion_files.h"
#include "model/onnx/model_type.h"
#include "run/feeds/image_feeds.h"
#include "run/feeds/token_sources.h"
#include "run/parts/imported_modules.h"
#include "util/files/mapped_file.h"
#include "util/text/split_text.h"
#include "vernier/compare_options.h"

namespace vernier {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostWithContent = 256;             // files of one option
constexpr uint64_t kMostWhole = uint64_t{64} << 20;  // bytes of so many files, all together
constexpr size_t kSampledOfMore = 64;                // of more files than that
constexpr size_t kMostEntries = 4096;                // of one option

enum class SourceContent : uint8_t { kNone, kSampled, kWhole };

// Sixteen blocks from the first bytes to the last: what is written anew has other bytes somewhere
// near each of them, and archives have their checksums at the end.
void AddSamples(std::span<const std::byte> bytes, Checksum& checksum) {
  constexpr size_t kBlock = size_t{64} << 10, kBlocks = 16;
  if (bytes.size() <= kBlock * kBlocks) return checksum.Add(bytes);
  const size_t step = (bytes.size() - kBlock) / (kBlocks - 1);
  for (size_t i = 0; i + 1 < kBlocks; ++i) checksum.Add(bytes.subspan(i * step, kBlock));
  checksum.Add(bytes.last(kBlock));
}

std::string HashOfFile(const std::string& path, SourceContent content) {
  const auto file = MappedFile::Open(path);
  if (!file.ok()) return "";
  Checksum checksum;
  if (content == SourceContent::kWhole) {
    checksum.Add((*file)->bytes());
  } else {
    AddSamples((*file)->bytes(), checksum);
  }
  return (*file)->CheckIntact().ok() ? ChecksumText(checksum.value()) : "";
}

// A path, looked up once: there may be very many.
struct FoundFile {
  std::string path;
  bool folder = false;
  int64_t size = 0;  // of a file, in bytes
};

FoundFile FindFile(const std::string& path) {
  FoundFile found{path};
  struct stat info = {};
  if (::stat(path.c_str(), &info) != 0) return found;
  found.folder = S_ISDIR(info.st_mode);
  if (S_ISREG(info.st_mode)) found.size = static_cast<int64_t>(info.st_size);
  return found;
}

ShardSource DescribeSource(const std::string& option, const FoundFile& file,
                           SourceContent content) {
  ShardSource source;
  source.option = option;
  source.path = file.path;
  source.size = file.size;
  if (content != SourceContent::kNone) source.hash = HashOfFile(file.path, content);
  return source;
}

// `step` files in one.
std::vector<ShardSource> GatherSources(const std::vector<ShardSource>& files, size_t step) {
  std::vector<ShardSource> entries;
  for (size_t begin = 0; begin < files.size(); begin += step) {
    const size_t end = std::min(begin + step, files.size());
    ShardSource entry = files[begin];
    entry.last = files[end - 1].path;
    entry.files = static_cast<int64_t>(end - begin);
    entry.size = 0;
    Checksum checksum;
    for (size_t i = begin; i < end; ++i) {
      entry.size += files[i].size;
      const std::string text =
          files[i].path + "\n" + std::to_string(files[i].size) + "\n" + files[i].hash;
      checksum.Add(std::as_bytes(std::span(text)));
    }
    entry.hash = ChecksumText(checksum.value());
    entries.push_back(std::move(entry));
  }
  return entries;
}

uint64_t SizeOfAll(const std::vector<FoundFile>& files) {
  uint64_t all = 0;
  for (const FoundFile& file : files) all += static_cast<uint64_t>(file.size);
  return all;
}

// "net.py:load" is net.py.
std::string FileOfScript(const std::string& word) {
  std::error_code failed;
  const size_t colon = word.rfind(':');
  if (colon == std::string::npos || fs::exists(word, failed)) return word;
  return word.substr(0, colon);
}

class SourceList {
 public:
  void AddWhole(const std::string& option, const std::string& path) {
    if (path.empty()) return;
    sources_.push_back(DescribeSource(option, FindFile(path), SourceContent::kWhole));
  }

  // With what it imports from its own folder.
  void AddScript(const std::string& option, const std::string& word) {
    const std::string script = FileOfScript(word);
    AddWhole(option, script);
    if (script.empty()) return;
    const std::string imported = option + ", imported by '" + script + "'";
    for (const std::string& module : FindImportedModules(script)) AddWhole(imported, module);
  }

  // Of a folder of test data each of its files.
  void AddListed(const std::string& option, const std::vector<std::string>& listed) {
    std::vector<FoundFile> paths;
    for (const std::string& path : listed) {
      const auto tensors = [](std::string_view name) { return name.ends_with(".pb"); };
      FoundFile file = FindFile(path);
      const Result<std::vector<std::string>> inside =
          file.folder ? ListDirectory(path, tensors) : std::vector<std::string>();
      const bool folder = inside.ok() && !inside->empty();
      if (folder) std::ranges::transform(*inside, std::back_inserter(paths), FindFile);
      if (!folder) paths.push_back(std::move(file));
    }
    // A data set that was made anew has other content in most of its files.
    const size_t every = paths.size() <= kMostWithContent ? 1 : paths.size() / kSampledOfMore;
    const bool few = every == 1 && SizeOfAll(paths) <= kMostWhole;
    const SourceContent looked_at = few ? SourceContent::kWhole : SourceContent::kSampled;
    std::vector<ShardSource> files;
    for (size_t i = 0; i < paths.size(); ++i) {
      const SourceContent content = i % every == 0 ? looked_at : SourceContent::kNone;
      files.push_back(DescribeSource(option, paths[i], content));
    }
    size_t step = 1;
    while (files.size() > kMostEntries * step) step *= 2;
    if (step > 1) files = GatherSources(files, step);
    std::ranges::move(files, std::back_inserter(sources_));
  }

  std::vector<ShardSource> Take() { return std::move(sources_); }

 private:
  std::vector<ShardSource> sources_;
};

// Files as they are read; a path that nothing is found for stands for itself.
std::vector<std::string> FilesListed(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    const Result<std::vector<std::string>> found = FeedReader::FilesOf({path});
    if (found.ok()) files.insert(files.end(), found->begin(), found->end());
    if (!found.ok()) files.push_back(path);
  }
  return files;
}

void AddInputSources(const RunPlan& plan, SourceList& sources) {
  const InputPlan& inputs = plan.inputs;
  if (!inputs.load_paths.empty()) {
    const Result<std::vector<std::string>> images = FindImages(inputs);
    const bool pictured = images.ok() && !images->empty();
    sources.AddListed("--load-inputs", pictured ? *images : FilesListed(inputs.load_paths));
  }
  sources.AddScript("--data-loader-script", inputs.script.path);
  sources.AddWhole("--like", inputs.like);
  sources.AddWhole("--initial-state", plan.steps.initial_state);
  sources.AddListed("saved outputs", FilesListed(plan.load_outputs));
}

void AddDecisionSources(const DecisionOptions& decisions, SourceList& sources) {
  for (const DecisionPlan& decision : decisions.decisions) {
    sources.AddScript("--decision", decision.script);
  }
  sources.AddWhole("--class-names", decisions.class_names);
}

// NAME.meta, NAME.index and NAME.data-00000-of-00001 of the checkpoint NAME in a folder; it may
// name folders below that.
std::vector<std::string> FilesOfCheckpoint(const std::string& folder, const std::string& name) {
  const fs::path prefix = fs::path(folder) / name;
  const std::string begin = prefix.filename().string() + ".";
  const auto is_of_it = [&](std::string_view file) { return file.starts_with(begin); };
  const auto files = ListDirectory(prefix.parent_path().string(), is_of_it);
  return files.ok() ? *files : std::vector<std::string>();
}

// The files of a model that is a folder. A folder of other formats may be one in which everything
// lies, what the run saves, too.
std::vector<std::string> FilesOfModel(const RunnerPlan& runner) {
  const ModelPlan& model = runner.model;
  for (const auto& [key, value] : runner.session_options) {
    if (key == "ckpt" && !value.empty()) return FilesOfCheckpoint(model.path, value);
  }
  std::vector<std::string> files;
  const std::optional<ModelType> type = ModelTypeFromName(model.type);
  if (!type || !IsTensorFlowModel(*type)) return files;
  std::error_code error;
  // Folders of unknown content are taken for checkpoints, too.
  const bool known =
      *type != ModelType::kCheckpoint || fs::exists(model.path + "/checkpoint", error);
  if (!known) return files;
  for (fs::recursive_directory_iterator entry(model.path, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code ignored;
    if (entry->is_regular_file(ignored)) files.push_back(entry->path().string());
  }
  std::ranges::sort(files);
  return files;
}

// A model in Python, and scripts that change how TensorRT builds.
void AddScriptsOf(const RunnerPlan& runner, SourceList& sources) {
  const std::string option = "runner '" + runner.name + "'";
  for (const auto* options : {&runner.session_options, &runner.backend_options}) {
    for (const auto& [key, value] : *options) {
      for (const std::string& word : SplitAt(value, '\n')) {
        const std::string file = FileOfScript(word);
        std::error_code failed;
        const bool program = key == "word" && std::filesystem::is_regular_file(file, failed);
        if (file.ends_with(".py")) {
          sources.AddScript(option, file);
        } else if (program) {  // or what it is given
          sources.AddWhole(option, file);
        }
      }
    }
  }
  const std::string model = FileOfScript(runner.model.path);
  if (model != runner.model.path || model.ends_with(".py")) sources.AddScript(option, model);
  sources.AddListed(option, CompanionFiles(runner.model.path, runner.model.external_data_dir));
  sources.AddListed(option, FilesOfModel(runner));
}

std::string NameOfSource(const ShardSource& source) {
  const std::string name = source.last.empty() || source.last == source.path
                               ? "'" + source.path + "'"
                               : "one of the " + std::to_string(source.files) + " files from '" +
                                     source.path + "' to '" + source.last + "'";
  return name + " (" + source.option + ")";
}

std::string DescribeOtherSource(const ShardSource& a, const ShardSource& b, size_t place,
                                const std::pair<std::string, std::string>& where) {
  if (a.path != b.path) {
    return "file " + std::to_string(place) + " of " + a.option + " is '" + a.path + "' " +
           where.first + ", and '" + b.path + "' " + where.second;
  }
  if (a.size != b.size) {
    return NameOfSource(a) + " has " + std::to_string(a.size) + " bytes " + where.first + ", and " +
           std::to_string(b.size) + " " + where.second;
  }
  return NameOfSource(a) + " has other content " + where.first + " than " + where.second;
}

}  // namespace

std::vector<ShardSource> FindShardSources(const RunPlan& plan) {
  SourceList sources;
  AddInputSources(plan, sources);
  sources.AddScript("--postprocess-func-script", plan.postprocess_script.path);
  sources.AddScript("--compare-func-script", plan.compare_script.path);
  if (const auto script = ScriptOfTokens(plan.compare->tokens)) {
    sources.AddScript("--tokens", script->path);
  } else if (GivesTokens(plan.compare->tokens)) {
    sources.AddWhole("--tokens", plan.compare->tokens);
  }
  AddDecisionSources(plan.decisions, sources);
  for (const RunnerPlan& runner : plan.runners) AddScriptsOf(runner, sources);
  return sources.Take();
}

uint64_t HashOfRunners(const RunPlan& plan) {
  SourceList sources;
  for (const RunnerPlan& runner : plan.runners) {
    sources.AddWhole("model", runner.model.path);
    AddScriptsOf(runner, sources);
  }
  Checksum checksum;
  for (const ShardSource& source : sources.Take()) {
    const std::string text = std::to_string(source.size) + " " + source.hash + "\n";
    checksum.Add(std::as_bytes(std::span(text)));
  }
  return checksum.value();
}

std::string HashOfSource(const std::string& path) {
  return HashOfFile(path, SourceContent::kSampled);
}

std::string DifferenceOfSources(const std::vector<ShardSource>& a,
                                const std::vector<ShardSource>& b,
                                const std::pair<std::string, std::string>& where) {
  size_t place = 0;  // among the files of this option
  for (size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    const ShardSource* x = i < a.size() ? &a[i] : nullptr;
    const ShardSource* y = i < b.size() ? &b[i] : nullptr;
    const bool goes_on = i > 0 && x != nullptr && x->option == a[i - 1].option;
    place = goes_on ? place + 1 : 1;
    if (x != nullptr && y != nullptr && *x == *y) continue;
    if (x != nullptr && y != nullptr && x->option == y->option) {
      return DescribeOtherSource(*x, *y, place, where);
    }
    // Entries of one option follow each other: one list has no more of them.
    const auto alike = [x](const ShardSource& other) { return other.option == x->option; };
    const bool only_first =
        x != nullptr && (y == nullptr || std::none_of(&b[i], b.data() + b.size(), alike));
    return only_first
               ? NameOfSource(*x) + " was there " + where.first + ", and not " + where.second
               : NameOfSource(*y) + " was there " + where.second + ", and not " + where.first;
  }
  return "";
}

}  // namespace vernier
