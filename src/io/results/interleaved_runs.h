// The saved tensors of shards by stride, read as those of the run that they are of.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "io/results/results_reader.h"
#include "vernier/status.h"

namespace vernier {

struct ShardReader {
  std::string path;
  std::unique_ptr<ResultsReader> reader;  ///< null: it has no iterations
};

/// Whether it holds no iteration: an archive without any reads as one iteration without tensors.
bool HoldsNoIteration(ResultsReader& reader);

/// `shards` are all of a run, in order, of which each has `multiple` iterations in turn. All stay
/// open. kInvalidArgument, naming the file, where they have other runners than the first or other
/// numbers of iterations than shards of one run have.
Result<std::unique_ptr<ResultsReader::Source>> InterleaveShards(std::vector<ShardReader> shards,
                                                                int64_t multiple);

using OpenShard = std::function<Result<std::unique_ptr<ResultsReader>>(const std::string& path)>;

/// The same of files of which AreAllByStride() is true. Errors of `open`, too.
Result<std::unique_ptr<ResultsReader::Source>> InterleaveFiles(
    const std::vector<std::string>& files, const OpenShard& open);

}  // namespace vernier
