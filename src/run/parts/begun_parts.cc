#include "run/parts/begun_parts.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <system_error>

#include "io/results/partial_folder.h"
#include "io/results/partial_places.h"
#include "run/feeds/shard_names.h"
#include "run/parts/shard_parts.h"
#include "util/files/file_lock.h"
#include "util/files/input_file.h"
#include "util/files/unique_fd.h"

namespace vernier {
namespace {

namespace fs = std::filesystem;

// Gives the lines of a text that comes in blocks.
class LineTaker {
 public:
  explicit LineTaker(const std::function<Status(std::string_view)>& take) : take_(take) {}

  Status Add(const std::shared_ptr<const InputFile>& file, uint64_t offset, size_t size) {
    const size_t known = text_.size();
    text_.resize(known + size);
    VERNIER_TRY(file->ReadAt(offset, std::as_writable_bytes(std::span(text_).subspan(known))));
    size_t begin = 0;
    for (size_t end = text_.find('\n', known); end != std::string::npos;
         end = text_.find('\n', begin)) {
      VERNIER_TRY(take_(std::string_view(text_).substr(begin, end - begin)));
      begin = end + 1;
    }
    text_.erase(0, begin);
    return {};
  }

 private:
  const std::function<Status(std::string_view)>& take_;
  std::string text_;  // of the last line, which may be written by half
};

}  // namespace

std::vector<std::string> FindBegunParts(const std::string& whole) {
  const fs::path folder = fs::path(whole).parent_path();
  std::vector<std::string> found;
  std::error_code error;
  for (fs::directory_iterator entry(folder.empty() ? "." : folder, error), end;
       !error && entry != end; entry.increment(error)) {
    std::string path = (folder / entry->path().filename()).string();
    const std::optional<ShardFileName> name = ReadShardFileName(path);
    if (name && name->partial && name->whole == whole) found.push_back(std::move(path));
  }
  std::ranges::sort(found);
  return found;
}

bool HoldBegunPart(int fd, const std::string& path) {
  const FileLock lock = TakeFileLock(fd);
  if (lock != FileLock::kOurs) return lock == FileLock::kUnknown;
  struct stat own = {}, named = {};
  return ::fstat(fd, &own) == 0 && ::stat(path.c_str(), &named) == 0 &&
         own.st_dev == named.st_dev && own.st_ino == named.st_ino;
}

Result<PartFile> BeginPart(const std::string& path, std::string& place) {
  constexpr int kMostTries = 16;  // each is another process that happens to remove parts just now
  for (int tries = 0; tries < kMostTries; ++tries) {
    place = FreePlace(path + kPartialSuffix);
    VERNIER_ASSIGN_OR_RETURN(PartFile part, PartFile::Create(place));
    if (HoldBegunPart(part.fd(), place)) return part;
  }
  return IoError("'" + place + "' is removed as soon as it is created");
}

void RemoveLeftParts(const std::string& path) {
  const std::optional<ShardFileName> own = ReadShardFileName(path);
  if (!own) return;
  for (const std::string& begun : FindBegunParts(own->whole)) {
    const std::optional<ShardFileName> name = ReadShardFileName(begun);
    if (!name || name->number != own->number || name->count != own->count) continue;
    const UniqueFd file(::open(begun.c_str(), O_RDONLY | O_CLOEXEC));
    if (file.valid() && TakeFileLock(file.get()) == FileLock::kOurs) ::unlink(begun.c_str());
  }
}

Result<int64_t> ReadBegunPart(const std::string& path,
                              const std::function<Status(const ShardHead&)>& head,
                              const std::function<Status(std::string_view)>& iteration) {
  constexpr uint64_t kBlock = uint64_t{1} << 20;
  const std::string what = "'" + path + "'";
  VERNIER_ASSIGN_OR_RETURN(const std::shared_ptr<const InputFile> file, InputFile::Open(path));
  bool begins = true;
  const std::function<Status(std::string_view)> take = [&](std::string_view line) -> Status {
    if (begins) {
      begins = false;
      VERNIER_ASSIGN_OR_RETURN(const ShardHead read, ReadShardHead(line, what));
      VERNIER_TRY(CheckShardHead(read, what));
      return head(read);
    }
    return IndexOfShardLine(line) ? iteration(line) : Status();
  };
  LineTaker lines(take);
  for (uint64_t at = 0; at < file->size(); at += kBlock) {
    const auto size = static_cast<size_t>(std::min(kBlock, file->size() - at));
    VERNIER_TRY(lines.Add(file, at, size).Annotate(what));
  }
  constexpr int64_t kMilli = 1000, kNanosInMilli = 1'000'000;
  return file->stamp().seconds * kMilli + file->stamp().nanoseconds / kNanosInMilli;
}

}  // namespace vernier
