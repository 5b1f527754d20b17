#include "run/shards/begun_parts.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <span>
#include <system_error>

#include "io/recovery/partial_folder.h"
#include "run/shards/shard_parts.h"
#include "run/shards/shard_writer.h"
#include "util/input_file.h"
#include "util/number_text.h"

namespace vernier {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kDigits = "0123456789";

// Takes ".partial" or ".partial.12" off the end, if it is there.
bool TakePartialOff(std::string_view& name) {
  constexpr std::string_view kPartial = kPartialSuffix;
  const size_t at = name.rfind(kPartial);
  if (at == std::string_view::npos) return false;
  const std::string_view behind = name.substr(at + kPartial.size());
  const bool numbered = behind.starts_with('.') && behind.size() > 1 &&
                        behind.find_first_not_of(kDigits, 1) == std::string_view::npos;
  if (!behind.empty() && !numbered) return false;
  name = name.substr(0, at);
  return true;
}

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

std::optional<ShardPartName> ReadShardPartName(const std::string& path) {
  const fs::path place(path);
  const std::string file = place.filename().string();
  std::string_view name = file;
  ShardPartName read;
  read.partial = TakePartialOff(name);
  constexpr std::string_view kShard = ".shard-", kOf = "-of-";
  const size_t shard = name.rfind(kShard);
  if (shard == std::string_view::npos) return std::nullopt;
  std::string_view rest = name.substr(shard + kShard.size());
  const auto take = [&rest]() {
    const size_t end = std::min(rest.find_first_not_of(kDigits), rest.size());
    const std::optional<int64_t> number = ParseInt(rest.substr(0, end));
    rest.remove_prefix(end);
    return number.value_or(0);
  };
  read.number = take();
  if (!rest.starts_with(kOf)) return std::nullopt;
  rest.remove_prefix(kOf.size());
  read.count = take();
  if (read.number < 1 || read.count < read.number) return std::nullopt;
  read.whole =
      (place.parent_path() / (std::string(name.substr(0, shard)) + std::string(rest))).string();
  return read;
}

std::vector<std::string> FindBegunParts(const std::string& whole) {
  const fs::path folder = fs::path(whole).parent_path();
  std::vector<std::string> found;
  std::error_code error;
  for (fs::directory_iterator entry(folder.empty() ? "." : folder, error), end;
       !error && entry != end; entry.increment(error)) {
    std::string path = (folder / entry->path().filename()).string();
    const std::optional<ShardPartName> name = ReadShardPartName(path);
    if (name && name->partial && name->whole == whole) found.push_back(std::move(path));
  }
  std::ranges::sort(found);
  return found;
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
