// Feeds that are one inference (--batch-feeds), and the share of each in its outputs.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "backend/wire/lent_memory.h"
#include "backend/wire/messages.h"
#include "backend/wire/tensor_block.h"
#include "backend/worker/worker.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

/// Consecutive feeds, of iterations `first`, `first` + 1, ...
struct FeedBatch {
  int64_t first = 0;
  std::vector<TensorMap> feeds;
};

/// The rows of each feed: the first dimension, which all its inputs share. kInvalidArgument, naming
/// the input and its shape, for a scalar, for inputs of one feed that differ in it, for feeds that
/// have other inputs, shapes or types than the first one, and for 4-bit elements of which two feeds
/// would share a byte. There must be a feed.
Result<int64_t> RowsOfFeeds(const FeedBatch& batch);

/// All feeds concatenated along the first dimension, for RowsOfFeeds() that are known. A single
/// feed is encoded as it is. `lent` as in EncodeTensors. Errors as that.
Result<TensorBlock> EncodeBatch(const FeedBatch& batch, LentMemory* lent = nullptr);

/// Hashes of the inputs that a process finds in EncodeBatch()'s block. Errors as that.
Result<InputHashes> HashBatch(const FeedBatch& batch);

/// kInvalidArgument, naming the input or output and its shape, where the session declares an input
/// whose first dimension is fixed, an output that cannot be divided by rows, values that are no
/// tensors, or state. What it does not declare passes.
Status CheckBatchSession(const SessionDescription& session);

/// Does the session declare that the first dimensions of all outputs are those of its inputs, by
/// their names? If not, outputs might have so many rows by chance.
bool DeclaresRows(const SessionDescription& session);

/// kInvalidArgument, naming the output and its shape, unless each has `rows` rows for each of
/// `count` feeds.
Status CheckRows(const TensorMap& outputs, int64_t count, int64_t rows);

/// What each of `count` feeds has of the outcome: its rows of each output, which refer to the
/// whole's bytes, and its share of the time. CheckRows() must hold. kInvalidArgument for 4-bit
/// elements of which two feeds would share a byte; kInternal when memory runs out.
Result<std::vector<Worker::Outcome>> DivideOutcome(const Worker::Outcome& whole, int64_t count,
                                                   int64_t rows);

}  // namespace vernier
