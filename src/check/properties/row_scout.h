// Which batch the properties of rows are tried with.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "check/properties/batch_rows.h"
#include "check/runners/probe.h"
#include "check/runners/sample_drawer.h"
#include "model/shapes/row_axes.h"

namespace vernier {

/// The size that free dimensions have beside the batch, and all have in the larger inputs.
inline constexpr int64_t kLargerSize = 3;

/// A batch with its rows, or why there is none.
struct RowPlan {
  BatchNames batch = {};
  std::optional<TensorMap> rows = {};  ///< a feed of several rows
  std::string no_batch = {};           ///< why there is no such feed
  std::string sizes = {};              ///< what is to be said of the other free dimensions
};

/// Those of the outputs whose rows meet in the model, as far as it can be read.
using FindMeeting = std::function<std::vector<MeetingRows>(std::span<const BatchedInput> inputs,
                                                           std::span<const std::string> outputs)>;

/// The requirements on a batch.
struct RowRequest {
  const Probe& probe;     ///< knows the inputs and outputs; it runs nothing here
  const TensorMap& feed;  ///< of the default sizes
  int64_t rows;           ///< of the largest batch, where rows are drawn
  /// A feed of other sizes.
  std::function<Result<TensorMap>(const FreeSizes& sizes)> draw;
  /// Opens a process to try in.
  std::function<Result<std::unique_ptr<Probe>>()> open;
  FindMeeting meeting;
};

/// The other free dimensions are kLargerSize where the model runs with one such row, so that there
/// is something in a row for other rows to see.
RowPlan ScoutRows(const RowRequest& request);

}  // namespace vernier
