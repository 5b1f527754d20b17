#include "io/results/partial_folder.h"

#include <fcntl.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "io/json/json_writer.h"
#include "io/results/partial_places.h"
#include "io/results/results_encoder.h"
#include "util/files/atomic_file.h"
#include "util/files/file_lock.h"

namespace vernier {
namespace {

namespace fs = std::filesystem;

Status WriteManifest(PartFile& file, const PartialManifest& manifest) {
  JsonWriter writer(file);
  writer.BeginObject();
  writer.Key("schema_version");
  writer.Integer(1);
  writer.Key("target");
  writer.String(manifest.target);
  writer.Key("format");
  writer.String(ResultsFormatName(manifest.format));
  writer.Key("runners");
  writer.BeginArray();
  for (const std::string& name : manifest.runner_names) writer.String(name);
  writer.EndArray();
  if (manifest.inputs) {
    writer.Key("inputs");
    writer.Bool(true);
  }
  if (manifest.origin.seed) {
    writer.Key("seed");
    writer.Integer(*manifest.origin.seed);
  }
  if (manifest.origin.batch_feeds > 1) {
    writer.Key("batch_feeds");
    writer.Integer(manifest.origin.batch_feeds);
  }
  if (manifest.origin.models) {
    writer.Key("models");
    writer.Integer(*manifest.origin.models);
  }
  writer.EndObject();
  return writer.Finish();
}

}  // namespace

std::string WithoutTrailingSlashes(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

bool IsPartialFolderInUse(const std::string& path) {
  const std::string manifest = path + "/" + kManifestName;
  const UniqueFd fd(::open(manifest.c_str(), O_RDONLY | O_CLOEXEC));
  return fd.valid() && TakeFileLock(fd.get()) == FileLock::kOthers;
}

void RemovePartialFolder(const std::string& path) {
  std::error_code ignored;
  for (const std::string& part : {std::string(kArchivePartName), JsonPartName(0)}) {
    fs::remove(path + "/" + part, ignored);
  }
  fs::remove_all(path, ignored);
}

Status PartialFolder::MakeRoom(Earlier earlier) {
  std::string free = path_;
  for (int n = 1; IsThere(free); ++n) {
    if (IsPartialFolderInUse(free)) {
      return IoError("'" + free + "' is in use: another run is saving there");
    }
    free = path_ + "." + std::to_string(n);
  }
  if (free == path_) return {};
  if (earlier == Earlier::kUntouched) {
    path_ = free;
    return {};
  }
  stale_ = free;
  std::error_code error;
  fs::rename(path_, stale_, error);
  if (error) {
    return IoError("'" + path_ +
                   "', left by an earlier run, cannot be renamed: " + error.message());
  }
  return {};
}

Result<PartialFolder> PartialFolder::Create(const PartialManifest& manifest, Earlier earlier) {
  PartialFolder folder;
  folder.path_ = WithoutTrailingSlashes(manifest.target) + kPartialSuffix;
  VERNIER_TRY(folder.MakeRoom(earlier));
  VERNIER_TRY(CreateDirectories(folder.path_));
  if (Status status = folder.Begin(manifest); !status.ok()) {
    folder.Remove();
    return status;
  }
  return folder;
}

Status PartialFolder::Begin(const PartialManifest& manifest) {
  VERNIER_ASSIGN_OR_RETURN(PartFile file, CreatePart(kManifestName));
  VERNIER_TRY(WriteManifest(file, manifest));
  lock_.Reset(::open((path_ + "/" + kManifestName).c_str(), O_RDONLY | O_CLOEXEC));
  // A file system without locks is no reason not to save.
  (void)TakeFileLock(lock_.get());
  VERNIER_ASSIGN_OR_RETURN(journal_, CreatePart(kJournalName));
  return {};
}

Result<PartFile> PartialFolder::CreatePart(std::string_view name) const {
  return PartFile::Create(path_ + "/" + std::string(name));
}

Status PartialFolder::Record(std::string_view lines) { return journal_->WriteText(lines); }

void PartialFolder::Remove() { RemovePartialFolder(path_); }

}  // namespace vernier
