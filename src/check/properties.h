// What must hold of a runner whatever its model computes, and how each is tried.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "check/agreement.h"
#include "check/batch_rows.h"
#include "check/probe.h"
#include "record/consistency_record.h"

namespace vernier {

/// A runner under examination.
struct Subject {
  const Probe::Shared& shared;
  const RunnerPlan& plan;
  const ModelSource& model;
  /// Open; what it served last may have been its end, and then another takes its place. Properties
  /// that may kill a worker start their own.
  std::unique_ptr<Probe>& probe;
  const TensorMap& feed;     ///< in the runner's own names and types
  const TensorMap& outputs;  ///< what `probe` made of it first
  const CompareOptions& compare;
  const ErrorBars& bars;
  int64_t repeats = 5;
  /// It was found to give other outputs from run to run: then nothing else is to blame for them. A
  /// run that failed tells nothing of the sort.
  bool runs_differ = false;
  /// The same from process to process, to blame for what is held against another one alone.
  bool processes_differ = false;
  /// Where the first dimension may be chosen: its tensors, and a feed of several rows (if there is
  /// none, `no_batch` says why).
  std::optional<BatchNames> batch;
  std::optional<TensorMap> rows;
  std::string no_batch;
  /// A feed of which the named dynamic dimension (all of an empty name) has that size; an error
  /// where feeds are not drawn.
  std::function<Result<TensorMap>(const std::string& dimension, int64_t size)> draw;
  /// A feed of each shape that --input-shapes gives in turn; none where shapes are not given so.
  std::function<Result<std::vector<TensorMap>>()> draw_given;
};

struct Property {
  std::string_view name;     ///< "repeated-runs"
  std::string_view meaning;  ///< completes "expected ..."
  PropertyRecord (*check)(Subject& subject);
};

/// In the order in which they are tried.
std::span<const Property> Properties();

}  // namespace vernier
