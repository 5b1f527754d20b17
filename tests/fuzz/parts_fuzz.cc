// The part of a record that a shard leaves. Behind 'h', 'i' and 'e' is one line of it, which has to
// say the same once more when it is written again; behind 'm' is a whole part, which gets the
// checksum of what it holds and is merged.
#include <string>
#include <string_view>

#include "core/version.h"
#include "fuzz_target.h"
#include "io/bytes/checksum.h"
#include "record/shards/shard_lines.h"
#include "run/parts/shard_parts.h"
#include "run/shards/shard_merge.h"
#include "util/log/no_log.h"

namespace {

using namespace vernier;

template <typename Line>
void ReadTwice(std::string_view text, Result<Line> (*read)(std::string_view, const std::string&),
               std::string (*write)(const Line&)) {
  const Result<Line> line = read(text, "fuzz");
  if (!line.ok()) {
    fuzz::Require(line.status().message().starts_with("fuzz"), "a refusal says of what");
    return;
  }
  const std::string once = write(*line);
  const Result<Line> again = read(std::string_view(once).substr(0, once.find('\n')), "fuzz");
  fuzz::Require(again.ok(), "what was written can be read");
  fuzz::Require(write(*again) == once, "and says the same");
}

// With the version of this program and the right checksum; empty: its first line is none.
std::string Completed(std::string_view text) {
  const size_t end = text.find('\n');
  Result<ShardHead> head = ReadShardHead(text.substr(0, end), "fuzz");
  if (!head.ok() || end == std::string_view::npos) return "";
  head->version = kVersion;
  std::string part = ShardHeadText(*head) + std::string(text.substr(end + 1));
  part.resize(ShardCheckedBytes(part).value_or(part.size()));
  Checksum checksum;
  checksum.Add(std::as_bytes(std::span(part)));
  return part + ShardChecksumText(checksum.value());
}

void Merge(std::string_view text) {
  static const fuzz::NamedFiles files;
  const std::string part = Completed(text);
  // A plan that saves flips names a file of its own.
  if (part.empty() || part.find("save_flips") != std::string::npos) return;
  NoLog log;
  MergePlan merge;
  merge.parts = {files.Write("part.json", std::as_bytes(std::span(part)))};
  merge.output = files.PathOf("merged.json");
  merge.rows = files.PathOf("rows.jsonl");
  merge.mixed = true;
  const MergeOutcome whole = MergeShards(merge, log);
  fuzz::Require(
      whole.merged || !whole.outcome.record.error.empty() || !whole.outcome.record.faults.empty(),
      "what is not merged has a reason");
  merge.rows.clear();
  merge.partial = true;
  const MergeOutcome partial = MergeShards(merge, log);
  if (!partial.merged) return;
  const Result<ShardPart> again = ShardPart::Open(merge.output);
  fuzz::Require(again.ok(), "a part that was written can be read");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data + 1), size - 1);
  switch (data[0]) {
    case 'h':
      ReadTwice<ShardHead>(text, ReadShardHead, ShardHeadText);
      break;
    case 'i':
      ReadTwice<ShardIteration>(text, ReadShardIteration, ShardIterationText);
      break;
    case 'm':
      Merge(text);
      break;
    default:
      (void)ReadShardEnd(text, "fuzz");
      (void)IndexOfShardLine(text);
  }
  return 0;
}
