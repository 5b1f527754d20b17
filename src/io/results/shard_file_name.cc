#include "io/results/shard_file_name.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <string_view>

#include "io/recovery/partial_folder.h"
#include "util/number_text.h"

namespace vernier {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kNumberDigits = "0123456789";

// Takes ".partial" or ".partial.12" off the end, if it is there.
bool TakePartialOff(std::string_view& name) {
  constexpr std::string_view kPartial = kPartialSuffix;
  const size_t at = name.rfind(kPartial);
  if (at == std::string_view::npos) return false;
  const std::string_view behind = name.substr(at + kPartial.size());
  const bool numbered = behind.starts_with('.') && behind.size() > 1 &&
                        behind.find_first_not_of(kNumberDigits, 1) == std::string_view::npos;
  if (!behind.empty() && !numbered) return false;
  name = name.substr(0, at);
  return true;
}

bool TakeWordOff(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  return true;
}

int64_t TakeNumberOff(std::string_view& text) {
  const size_t end = std::min(text.find_first_not_of(kNumberDigits), text.size());
  const std::optional<int64_t> number = ParseInt(text.substr(0, end));
  text.remove_prefix(end);
  return number.value_or(0);
}

}  // namespace

std::optional<ShardFileName> ReadShardFileName(const std::string& path) {
  const fs::path place(WithoutTrailingSlashes(path));
  const std::string file = place.filename().string();
  std::string_view name = file;
  ShardFileName read;
  read.partial = TakePartialOff(name);
  constexpr std::string_view kShard = ".shard-";
  const size_t shard = name.rfind(kShard);
  if (shard == std::string_view::npos) return std::nullopt;
  std::string_view rest = name.substr(shard + kShard.size());
  read.number = TakeNumberOff(rest);
  if (!TakeWordOff(rest, "-of-")) return std::nullopt;
  read.count = TakeNumberOff(rest);
  read.stride = TakeWordOff(rest, kStrideMark);
  if (read.stride) {
    read.skips = TakeWordOff(rest, kImagesMark);
    if (TakeWordOff(rest, "-")) read.multiple = TakeNumberOff(rest);
  }
  if (read.number < 1 || read.count < read.number || read.multiple < 1) return std::nullopt;
  const std::string whole = std::string(name.substr(0, shard)) + std::string(rest);
  read.whole = (place.parent_path() / whole).string();
  return read;
}

bool AreAllByStride(std::span<const std::string> files) {
  const auto first = files.empty() ? std::nullopt : ReadShardFileName(files.front());
  int64_t number = 0;
  return first && std::ranges::all_of(files, [&](const std::string& file) {
           const std::optional<ShardFileName> name = ReadShardFileName(file);
           return name && name->stride && !name->skips && !name->partial &&
                  name->number == ++number && static_cast<size_t>(name->count) == files.size() &&
                  name->whole == first->whole && name->multiple == first->multiple;
         });
}

}  // namespace vernier
