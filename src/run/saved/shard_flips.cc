#include "run/saved/shard_flips.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <utility>

#include "io/bytes/checksum.h"
#include "io/results/feed_reader.h"
#include "io/results/results_reader.h"
#include "io/results/shard_file_name.h"
#include "run/saved/flip_feeds.h"
#include "util/files/mapped_file.h"

namespace vernier {
namespace {

Result<std::string> HashOfFlips(const std::string& path) {
  VERNIER_ASSIGN_OR_RETURN(const auto file, MappedFile::Open(path));
  Checksum checksum;
  checksum.Add(file->bytes());
  VERNIER_TRY(file->CheckIntact());
  return ChecksumText(checksum.value());
}

Status CheckFlips(const std::string& path, const std::string& hash) {
  const std::string where = ": merge in the folder in which the shards ran, or run its shard again";
  const Result<std::string> now = HashOfFlips(path);
  if (!now.ok()) return Malformed("--save-flips: " + now.status().message() + where);
  if (*now == hash) return {};
  return Malformed("--save-flips: '" + path + "' is not what its shard has written" + where);
}

// The run of a stream: the n-th of a name is that of the n-th stream of this
// name.
std::optional<size_t> RunOfStream(const std::vector<SavedRun>& runs,
                                  const std::vector<std::string>& streams, size_t stream) {
  auto before = std::count(streams.begin(), streams.begin() + static_cast<std::ptrdiff_t>(stream),
                           streams[stream]);
  for (size_t run = 0; run < runs.size(); ++run) {
    if (runs[run].name == streams[stream] && before-- == 0) return run;
  }
  return std::nullopt;
}

struct FlipFiles {
  std::string inputs;  // empty: of a comparison of saved outputs, which has none
  std::string outputs;
};

Result<TensorMap> ReadFeedAt(const std::string& path, int64_t place) {
  VERNIER_ASSIGN_OR_RETURN(const auto feeds, FeedReader::Open({path}));
  VERNIER_TRY(feeds->Skip(place));
  VERNIER_ASSIGN_OR_RETURN(std::optional<TensorMap> feed, feeds->Next());
  if (!feed) return Malformed("'" + path + "' has fewer iterations than its shard has written");
  return *std::move(feed);
}

Result<ShardFlip> ReadFlipAt(const FlipFiles& files, int64_t place,
                             const std::vector<std::string>& streams) {
  ShardFlip flip;
  if (!files.inputs.empty()) {
    VERNIER_ASSIGN_OR_RETURN(flip.feed, ReadFeedAt(files.inputs, place));
  }
  VERNIER_ASSIGN_OR_RETURN(const auto results, ResultsReader::Open(files.outputs));
  for (size_t stream = 0; stream < streams.size(); ++stream) {
    std::optional<IterationResult>& made = flip.outputs.emplace_back();
    const std::optional<size_t> run = RunOfStream(results->runs(), streams, stream);
    if (!run) continue;  // the shard has left it out
    VERNIER_ASSIGN_OR_RETURN(made, results->Read(*run, static_cast<size_t>(place)));
  }
  return flip;
}

}  // namespace

Result<std::vector<ShardFlips>> DescribeFlips(const RunPlan& plan,
                                              std::vector<int64_t> iterations) {
  if (plan.decisions.save_flips.empty() || iterations.empty()) return std::vector<ShardFlips>();
  ShardFlips flips;
  flips.path = PathOfShard(plan.decisions.save_flips, plan.shard);
  flips.iterations = std::move(iterations);
  VERNIER_ASSIGN_OR_RETURN(flips.hash, HashOfFlips(flips.path));
  if (!plan.runners.empty()) {
    VERNIER_ASSIGN_OR_RETURN(flips.outputs_hash, HashOfFlips(FlipOutputsPath(flips.path)));
  }
  return std::vector<ShardFlips>{std::move(flips)};
}

Result<ShardFlip> ReadFlip(const std::vector<ShardFlips>& flips, int64_t index,
                           const std::vector<std::string>& streams) {
  Status why = Malformed("--save-flips: the parts are damaged: none has the flip of iteration " +
                         std::to_string(index));
  // A shard that was done twice is there twice, and has written its files anew.
  for (const ShardFlips& one : flips) {
    const auto place = std::ranges::find(one.iterations, index);
    if (place == one.iterations.end()) continue;
    why = CheckFlips(one.path, one.hash);
    const bool has_inputs = !one.outputs_hash.empty();
    const std::string outputs = has_inputs ? FlipOutputsPath(one.path) : one.path;
    if (why.ok() && has_inputs) why = CheckFlips(outputs, one.outputs_hash);
    if (!why.ok()) continue;
    const FlipFiles files{has_inputs ? one.path : "", outputs};
    return ReadFlipAt(files, place - one.iterations.begin(), streams);
  }
  return why;
}

}  // namespace vernier
