// Rows of a batch: the slices of tensors along their first dimension.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "vernier/consistency_record.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

/// `tensor` with the given rows, in this order; rows may repeat. kInvalidArgument for tensors
/// without a first dimension, rows that are not there, strings and types below a byte.
Result<Tensor> TakeRows(const Tensor& tensor, std::span<const int64_t> rows);

/// The same for the named tensors; the others are passed on.
Result<TensorMap> TakeRows(const TensorMap& tensors, std::span<const std::string> names,
                           std::span<const int64_t> rows);

/// Which inputs and outputs have rows that belong together.
struct BatchNames {
  std::vector<std::string> inputs;
  std::string dimension;             ///< its symbol in the model; empty: it has none
  std::vector<std::string> outputs;  ///< whose first dimension has that symbol
  /// Those whose first dimension may be it: free, but not named on both sides (names that
  /// converters make up are none), or the rank is not known. What a run makes of them decides, see
  /// KeepFollowers.
  std::vector<std::string> possible;
  /// Outputs that have other rows than the inputs, which therefore show nothing about rows.
  std::vector<NotedOutput> left_out = {};
};

/// Inputs whose first dimension is dynamic, and the outputs that have it too. Without outputs
/// (they are not known before the first run) both lists of them are empty. An error says why there
/// is no such batch: no input has one, inputs name theirs differently, or no output can have it.
Result<BatchNames> FindBatch(std::span<const TensorInfo> inputs,
                             std::span<const TensorInfo> outputs);

/// The same where it is not known which dimensions are free: the inputs of a feed that have as many
/// rows as the first one. Which outputs follow them is to be tried. kInvalidArgument where that one
/// has no dimension.
Result<BatchNames> GuessBatch(const TensorMap& feed);

/// How many rows a feed has for that batch.
int64_t CountRows(const TensorMap& feed, const BatchNames& batch);

/// What a model returned for this many rows.
struct OutputsOfRows {
  const TensorMap& outputs;
  int64_t rows;
};

/// The batch with those of `possible` (of all outputs, where none are known) among its outputs that
/// had as many rows as the inputs in both runs; `possible` is empty then, and the others are left
/// out.
BatchNames KeepFollowers(BatchNames batch, const OutputsOfRows& once, const OutputsOfRows& again);

/// The batch without those of `outputs` that have not one row where the inputs have one: whatever
/// their dimension is called, their rows are others.
BatchNames KeepRowOfOne(BatchNames batch, const TensorMap& of_one);

}  // namespace vernier
