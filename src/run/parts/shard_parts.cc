#include "run/parts/shard_parts.h"

#include <algorithm>
#include <span>
#include <utility>

#include "io/bytes/checksum.h"
#include "run/parts/shard_differences.h"

namespace vernier {

Status CheckShardHead(const ShardHead& head, const std::string& what) {
  const auto wrong = [&](int64_t number) { return number < 1 || number > head.count; };
  const bool known = head.rule == "contiguous" || head.rule == "stride";
  const bool counted = head.count >= 1 && head.count <= kMostShards && head.multiple >= 1;
  if (known && counted && !head.numbers.empty() && std::ranges::none_of(head.numbers, wrong))
    return {};
  return Malformed(what + " is damaged: it names shards that there are not; run its shard again");
}

namespace {

// As much of a file as is in memory at a time.
constexpr size_t kStretch = size_t{512} << 10U;

uint64_t ChecksumOf(const MappedFile& file, std::span<const std::byte> bytes) {
  Checksum checksum;
  while (!bytes.empty()) {
    const auto stretch = bytes.first(std::min(kStretch, bytes.size()));
    file.Prepare(stretch);
    checksum.Add(stretch);
    file.Release(stretch);
    bytes = bytes.subspan(stretch.size());
  }
  return checksum.value();
}

}  // namespace

Result<ShardPart> ShardPart::Open(const std::string& path) {
  const std::string what = "'" + path + "'";
  ShardPart part;
  part.path_ = path;
  VERNIER_ASSIGN_OR_RETURN(part.file_, MappedFile::Open(path));
  const std::span<const std::byte> bytes = part.file_->bytes();
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const size_t head = text.find('\n');
  VERNIER_ASSIGN_OR_RETURN(part.head_, ReadShardHead(text.substr(0, head), what));
  VERNIER_TRY(CheckShardHead(part.head_, what));
  const bool whole_lines = text.ends_with('\n') && head + 1 < text.size();
  const size_t last = whole_lines ? text.rfind('\n', text.size() - 2) : std::string_view::npos;
  const std::string_view end =
      whole_lines ? text.substr(last + 1, text.size() - last - 2) : std::string_view();
  VERNIER_ASSIGN_OR_RETURN(part.end_, ReadShardEnd(end, what));
  const size_t checked = ShardCheckedBytes(text).value_or(0);
  const uint64_t checksum = ChecksumOf(*part.file_, bytes.first(checked));
  VERNIER_TRY(part.file_->CheckIntact());
  if (text.substr(checked) != ShardChecksumText(checksum)) {
    return Malformed(what + " is damaged: its checksum is another; run its shard again");
  }
  part.rest_ = text.substr(head + 1, last - head);
  VERNIER_TRY(part.Advance());
  return part;
}

Status ShardPart::Advance() {
  const std::optional<int64_t> before = index_;
  index_.reset();
  MoveStretch();
  if (rest_.empty()) return {};
  const size_t size = rest_.find('\n');
  line_ = rest_.substr(0, size);
  rest_.remove_prefix(size + 1);
  if (line_.starts_with(',')) line_.remove_prefix(1);
  index_ = IndexOfShardLine(line_);
  const bool in_order = index_ && (!before || *index_ > *before) && *index_ < end_.total;
  return in_order ? Status()
                  : Malformed("'" + path_ + "' is damaged: its iterations are not in order");
}

// Lets go of lines that were read a while ago, and gets those that come next.
void ShardPart::MoveStretch() {
  const std::span<const std::byte> rest = std::as_bytes(std::span(rest_));
  const bool within = !stretch_.empty() && rest.data() < stretch_.data() + stretch_.size();
  if (within && !rest.empty()) return;
  if (!before_.empty()) file_->Release(before_);
  before_ = stretch_;
  stretch_ = rest.first(std::min(kStretch, rest.size()));
  if (!stretch_.empty()) file_->Prepare(stretch_);
}

Status CheckSameRun(const ShardPart& a, const ShardPart& b) {
  const ShardHead &x = a.head(), &y = b.head();
  std::string why = DifferenceOfHeads(x, y, a.path(), b.path());
  if (why.empty() && a.end().total != b.end().total) {
    why = "the whole run has " + std::to_string(a.end().total) + " iterations in '" + a.path() +
          "' and " + std::to_string(b.end().total) + " in '" + b.path() + "'";
  }
  const bool same_sides = a.end().names == b.end().names &&
                          a.end().pairs.size() == b.end().pairs.size() &&
                          a.end().runners.size() == b.end().runners.size();
  if (why.empty() && !same_sides) why = "they compare other runners or saved outputs";
  if (why.empty()) return {};
  return Malformed("'" + a.path() + "' and '" + b.path() + "' do not belong together: " + why);
}

ShardPlan ShardOf(const ShardHead& head, int64_t number) {
  ShardPlan shard{number, head.count,
                  head.rule == "stride" ? ShardRule::kStride : ShardRule::kContiguous, false};
  shard.multiple = head.multiple;
  return shard;
}

}  // namespace vernier
