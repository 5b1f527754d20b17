// What must hold of a runner whatever its model computes, and how each is tried.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "check/properties/agreement.h"
#include "check/properties/row_scout.h"
#include "check/runners/probe.h"
#include "check/runners/sample_drawer.h"
#include "vernier/consistency_record.h"

namespace vernier {

/// Inputs that everything is tried with.
struct Sample {
  TensorMap feed;     ///< in the runner's own names and types
  TensorMap outputs;  ///< what was made of it first
  std::string size;   ///< ", free dimensions of size 3"; empty: the default
  /// Of a model that keeps state: what it then made of the same feed, one after the other.
  Probe::Continuation later = {};
};

/// The bounds of a subject, where its outputs amplify rounding.
struct WidenedBounds {
  ErrorBounds bounds;
  double condition = 1;  ///< by which the widest is wider
};

/// What properties ask for beside samples: it is made when it is asked for.
class Bench {
 public:
  virtual ~Bench() = default;

  /// A feed of other sizes; an error where feeds are not drawn.
  virtual Result<TensorMap> Draw(const FreeSizes& sizes) = 0;

  /// The feed that follows the default one, of these shapes where they may be chosen; an error
  /// where there is no other.
  virtual Result<TensorMap> Another(const TensorMap& feed) = 0;

  /// A feed of each shape that --input-shapes gives in turn; none where shapes are not given so.
  virtual Result<std::vector<TensorMap>> DrawGiven() = 0;

  /// Where the first dimension may be chosen, a batch; scouted when it is asked for first.
  virtual const RowPlan& Rows() = 0;

  /// Where rows of a batch meet in the model.
  virtual std::vector<MeetingRows> Meeting(std::span<const BatchedInput> inputs,
                                           std::span<const std::string> outputs) = 0;

  /// Why no runner could take a feed, as far as is known: shapes that do not fit each other in the
  /// model, or all other runners of the plan refuse it, too. Empty: nothing of the sort is known.
  virtual std::string RefusedByAll(const TensorMap& feed) = 0;

  /// The bounds for outputs of other sizes than those of the samples, predicted for the first feed
  /// that it is called with. They hold until it is called again.
  virtual const ErrorBounds& BoundsOf(const TensorMap& feed, const TensorMap& outputs) = 0;

  /// Bounds as wide as rounding moves the outputs of a feed, which must stay where it is; nullptr
  /// where they are no wider.
  virtual const WidenedBounds* Widen(const TensorMap& feed) = 0;
};

/// What properties found that explains what later ones find. A run that failed shows nothing of
/// the sort.
struct EarlierFindings {
  bool runs_differ = false;       ///< from run to run: then nothing else is to blame
  bool processes_differ = false;  ///< to blame for what is compared with another process alone
};

/// A runner under examination.
struct Subject {
  ProbedRunner runner;
  /// Open; what it served last may have been its end, and then another takes its place. Properties
  /// that may kill a worker start their own.
  std::unique_ptr<Probe>& probe;
  /// The default inputs, whose outputs `probe` made, and larger ones where the model runs with
  /// some: those come of another process, where the default ones had run before.
  const std::vector<Sample>& samples;
  const std::string& sizes;  ///< what is to be said of the sizes of `samples`; may be empty
  /// The model was found not to run with free dimensions of size 1: others may be refused, too.
  const bool refuses_sizes;
  const CompareOptions& compare;
  const ErrorBounds& bounds;
  const int64_t repeats;
  Bench& bench;
  EarlierFindings earlier = {};

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
