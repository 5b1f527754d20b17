#include "run/shards/shard_parts.h"

#include <algorithm>
#include <span>
#include <utility>

#include "io/bytes/checksum.h"

namespace vernier {
namespace {

Status CheckHead(const ShardHead& head, const std::string& what) {
  const auto wrong = [&](int64_t number) { return number < 1 || number > head.count; };
  const bool known = head.rule == "contiguous" || head.rule == "stride";
  const bool counted = head.count >= 1 && head.count <= kMostShards;
  if (known && counted && !head.numbers.empty() && std::ranges::none_of(head.numbers, wrong))
    return {};
  return Malformed(what + " is damaged: it names shards that there are not; run its shard again");
}

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

// The first line in which two texts differ, of each.
std::pair<std::string, std::string> FirstDifference(std::string_view a, std::string_view b) {
  while (!a.empty() && !b.empty()) {
    const size_t a_end = std::min(a.find('\n'), a.size()), b_end = std::min(b.find('\n'), b.size());
    const std::string_view a_line = a.substr(0, a_end), b_line = b.substr(0, b_end);
    if (a_line != b_line) return {std::string(a_line), std::string(b_line)};
    a.remove_prefix(std::min(a_end + 1, a.size()));
    b.remove_prefix(std::min(b_end + 1, b.size()));
  }
  return {};
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
  VERNIER_TRY(CheckHead(part.head_, what));
  const bool whole_lines = text.ends_with('\n') && head + 1 < text.size();
  const size_t last = whole_lines ? text.rfind('\n', text.size() - 2) : std::string_view::npos;
  const std::string_view end =
      whole_lines ? text.substr(last + 1, text.size() - last - 2) : std::string_view();
  VERNIER_ASSIGN_OR_RETURN(part.end_, ReadShardEnd(end, what));
  const uint64_t checksum = ChecksumOf(*part.file_, bytes.first(last + 1));
  VERNIER_TRY(part.file_->CheckIntact());
  if (ChecksumText(checksum) != part.end_.checksum) {
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
  const auto differ = [&](const std::string& what, const std::string& x, const std::string& y) {
    return Malformed("'" + a.path() + "' and '" + b.path() + "' do not belong together: " + what +
                     " ('" + x + "' and '" + y + "')");
  };
  const ShardHead &x = a.head(), &y = b.head();
  if (x.version != y.version) return differ("versions of vernier differ", x.version, y.version);
  if (x.count != y.count) {
    return differ("numbers of shards differ", std::to_string(x.count), std::to_string(y.count));
  }
  if (x.rule != y.rule) return differ("--shard-by differs", x.rule, y.rule);
  if (x.plan != y.plan) {
    const auto [first, second] = FirstDifference(x.plan, y.plan);
    return differ("they are of other runs", first, second);
  }
  for (size_t i = 0; i < std::min(x.models.size(), y.models.size()); ++i) {
    if (x.models[i] == y.models[i]) continue;
    return differ("the content of model '" + x.models[i].first + "' differs", x.models[i].second,
                  y.models[i].second);
  }
  if (a.end().total != b.end().total) {
    return differ("numbers of iterations of the whole run differ", std::to_string(a.end().total),
                  std::to_string(b.end().total));
  }
  const bool same_sides = a.end().names == b.end().names &&
                          a.end().pairs.size() == b.end().pairs.size() &&
                          a.end().runners.size() == b.end().runners.size();
  return same_sides ? Status() : differ("their sides differ", a.path(), b.path());
}

ShardPlan ShardOf(const ShardHead& head, int64_t number) {
  return {number, head.count, head.rule == "stride" ? ShardRule::kStride : ShardRule::kContiguous,
          false};
}

}  // namespace vernier
