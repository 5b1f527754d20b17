// Whether the files of all shards exist, by their names.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "io/results/shard_file_name.h"
#include "util/log/log.h"
#include "vernier/status.h"

namespace vernier {

/// A file of saved tensors that is joined to others.
struct ShardTensors {
  std::string path;
  std::vector<size_t> iterations;  ///< of each of its runners
};

/// Whether files that follow each other have the iterations of whole runs in their order, as far as
/// names of shards and numbers of iterations show: of each run all shards, from the first to the
/// last, each once. kInvalidArgument, naming the first that is wrong, and for shards by stride of
/// images. One of a range that has other numbers of iterations than shards usually have is a
/// warning; those by stride are compared with each other where they are joined (InterleaveShards).
Status CheckShardsInOrder(std::span<const ShardTensors> files, Logger& logger);

/// The same of the files of shards in folders that are read as one, by their names alone. Beside
/// them such a folder must have no other file that is read. Other paths are not looked at.
Status CheckFoldersOfShards(std::span<const std::string> paths);

/// The same for paths and patterns (ExpandPattern) of inputs that are read one after another, which
/// shards by stride cannot be, and for the folders among them. One file of a shard may be named
/// alone.
Status CheckListedShards(std::span<const std::string> paths);

/// kInvalidArgument where several of these paths, each of which is a side of its own, are shards of
/// the same run.
Status CheckSidesOfShards(std::span<const std::string> paths);

}  // namespace vernier
