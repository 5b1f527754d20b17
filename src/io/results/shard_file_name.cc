#include "io/results/shard_file_name.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <string_view>

#include "io/results/partial_folder.h"
#include "util/text/number_text.h"

namespace vernier {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kNumberDigits = "0123456789";
constexpr std::string_view kShardMark = ".shard-";
constexpr std::string_view kOfMark = "-of-";
constexpr std::string_view kStrideMark = "-stride";
constexpr std::string_view kImagesMark = "-images";

// ".shard-0003-of-0007"
std::string MarkOf(const ShardPlan& shard) {
  const auto digits = [](int64_t number) {
    const std::string text = std::to_string(number);
    return std::string(text.size() < 4 ? 4 - text.size() : 0, '0') + text;
  };
  return std::string(kShardMark) + digits(shard.number) + std::string(kOfMark) +
         digits(shard.count);
}

// "-stride-4"
std::string MarkOfStride(const ShardPlan& shard, bool skips) {
  if (shard.rule != ShardRule::kStride) return "";
  const std::string mark(kStrideMark);
  if (skips) return mark + std::string(kImagesMark);
  return shard.multiple > 1 ? mark + "-" + std::to_string(shard.multiple) : mark;
}

// "dir/result.json" with a mark before the extension.
std::string Marked(const fs::path& whole, const std::string& mark) {
  return (whole.parent_path() / (whole.stem().string() + mark + whole.extension().string()))
      .string();
}

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

std::string PathOfShard(const std::string& path, const ShardPlan& shard) {
  const fs::path whole(path);
  return shard.wanted() && whole.has_filename() ? Marked(whole, MarkOf(shard)) : path;
}

std::string PathOfShardTensors(const std::string& path, const ShardPlan& shard, bool skips) {
  const fs::path whole(path);
  if (!shard.wanted() || !whole.has_filename()) return path;
  return Marked(whole, MarkOf(shard) + MarkOfStride(shard, skips)) +
         (whole.has_extension() ? "" : ".json");
}

std::optional<ShardFileName> ReadShardFileName(const std::string& path) {
  const fs::path place(WithoutTrailingSlashes(path));
  const std::string file = place.filename().string();
  std::string_view name = file;
  ShardFileName read;
  read.partial = TakePartialOff(name);
  const size_t shard = name.rfind(kShardMark);
  if (shard == std::string_view::npos) return std::nullopt;
  std::string_view rest = name.substr(shard + kShardMark.size());
  read.number = TakeNumberOff(rest);
  if (!TakeWordOff(rest, kOfMark)) return std::nullopt;
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
