// What must hold of a runner whatever its model computes, and how each is tried.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "check/agreement.h"
#include "check/probe.h"
#include "check/row_scout.h"
#include "check/sample_drawer.h"
#include "vernier/consistency_record.h"

namespace vernier {

/// Inputs that everything is tried with.
struct Sample {
  TensorMap feed;     ///< in the runner's own names and types
  TensorMap outputs;  ///< what was made of it first
  std::string size;   ///< ", free dimensions of size 3"; empty: the default
};

/// The bounds of a subject, where its outputs amplify rounding.
struct WidenedBounds {
  ErrorBounds bounds;
  double condition = 1;  ///< by which the widest is wider
};

/// A runner under examination.
struct Subject {
  const Probe::Shared& shared;
  const RunnerPlan& plan;
  const ModelSource& model;
  /// Open; what it served last may have been its end, and then another takes its place. Properties
  /// that may kill a worker start their own.
  std::unique_ptr<Probe>& probe;
  /// The default inputs, whose outputs `probe` made, and larger ones where the model runs with
  /// some: those come of another process, where the default ones had run before.
  const std::vector<Sample>& samples;
  std::string sizes;  ///< what is to be said of the sizes of `samples`; may be empty
  /// The model was found not to run with free dimensions of size 1: others may be refused, too.
  bool refuses_sizes = false;
  const CompareOptions& compare;
  const ErrorBounds& bounds;
  int64_t repeats = 5;
  /// It was found to give other outputs from run to run: then nothing else is to blame for them. A
  /// run that failed shows nothing of the sort.
  bool runs_differ = false;
  /// The same from process to process, to blame for what is compared with another one alone.
  bool processes_differ = false;
  /// Where the first dimension may be chosen, a batch; scouted when it is asked for first.
  std::function<const RowPlan&()> row_plan;
  /// A feed of other sizes; an error where feeds are not drawn.
  std::function<Result<TensorMap>(const FreeSizes& sizes)> draw;
  /// A feed of each shape that --input-shapes gives in turn; none where shapes are not given so.
  std::function<Result<std::vector<TensorMap>>()> draw_given;
  /// Where rows of a batch meet in the model. May be empty.
  FindMeeting meeting = {};
  /// Why no runner could take a feed, as far as is known: shapes that do not fit each other in the
  /// model, or all other runners of the plan refuse it, too. May be empty.
  std::function<std::string(const TensorMap& feed)> refused_by_all = {};
  /// The bounds for outputs of other sizes than those of `samples`, predicted for the first feed
  /// that it is called with. They hold until it is called again.
  std::function<const ErrorBounds&(const TensorMap& feed, const TensorMap& outputs)> bounds_of = {};

  /// Bounds as wide as rounding moves the outputs of a feed, which must stay where it is; nullptr
  /// where they are no wider. May be empty.
  std::function<const WidenedBounds*(const TensorMap& feed)> widen = {};

  const TensorMap& feed() const { return samples.front().feed; }
};

struct Property {
  std::string_view name;     ///< "repeated-runs"
  std::string_view meaning;  ///< completes "expected ..."
  PropertyRecord (*check)(Subject& subject);
};

/// In the order in which they are tried.
std::span<const Property> Properties();

}  // namespace vernier
