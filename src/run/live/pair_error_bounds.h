// The bounds of --tolerance auto for the pairs of a run: from the graphs and the precisions that
// the runners really have, from a measured noise floor, or from dtypes alone.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "compare/functions/error_bound.h"
#include "model/onnx/onnx_model.h"
#include "model/ranges/input_steps.h"
#include "model/rounding/error_model.h"
#include "model/rounding/unit_roundoff.h"
#include "run/workers/runner_session.h"
#include "util/process/processor.h"
#include "vernier/tensor.h"

namespace vernier {

struct CompareOptions;
struct RunPlan;

/// A runner's graph (null: not known) and how it computes.
struct RunnerGraph {
  std::shared_ptr<const OnnxModel> model;
  std::string model_path;
  RunnerArithmetic arithmetic;
  bool in_bytes = false;
  bool leaves_sizes_open = false;  ///< of inputs, and so does its runner when it compiles them
  DType model_coarsest = DType::kUndefined;  ///< the weights' type with the largest roundoff
  std::optional<bool> has_quantisers = {};
  /// It computes in float32 or longer types, as far as it says: rounding explains little then.
  bool is_precise = false;
};

/// Of the coarsest type that a runner says it computes in: float32 or longer. Scripts say none.
inline bool IsPrecise(DType coarsest) {
  return coarsest != DType::kUndefined && UnitRoundoff(coarsest) <= UnitRoundoff(DType::kFloat32);
}

/// "float32, longest sum 4608, 23 layers", "integers, exact", ...: the reason of a bound.
std::string DescribeBound(const ErrorPrediction& prediction, DType dtype, bool graph_known);

/// The bound of a tensor of that dtype. Integers and truths are exact unless quantising made them.
ErrorBound MakeBound(const ErrorPrediction& prediction, const Tensor& tensor, bool graph_known);

class PairErrorBounds {
 public:
  explicit PairErrorBounds(const CompareOptions& options) : options_(options) {}

  /// Whether any output is judged by a bound; if not, the other functions need not be called.
  bool wanted() const;

  /// From now on bounds are also asked for where no output is judged by them.
  void KeepForNearTies() { for_near_ties_ = true; }
  /// Whether any of the other functions is to be called.
  bool needed() const { return for_near_ties_ || wanted(); }
  /// Whether the graph of one of the two is known: else bounds rest on types alone.
  bool KnowsGraph(size_t first, size_t second) const {
    return GraphOf(first).model != nullptr || GraphOf(second).model != nullptr;
  }

  /// Whether two right runners cannot differ by more than bounds allow. They may where one computes
  /// in a short type, whose rounding is as large as what bounds leave out, and where nobody knows
  /// what one computes in: a script, or what saved outputs were made by.
  bool AreFirm(size_t first, size_t second) const {
    return GraphOf(first).is_precise && GraphOf(second).is_precise;
  }

  /// Whether the graph of one of the two quantises: its steps flip, which is no amplified rounding.
  bool HaveQuantisers(size_t first, size_t second) const {
    return Quantises(first) || Quantises(second);
  }

  /// Whether one of the two rounds to a short type where the other does not, or at other places.
  bool RoundApart(size_t first, size_t second) const;

  /// A runner that is open: its graph (ONNX only) and how it computes. Streams that are never added
  /// are saved outputs.
  void AddRunner(size_t stream, const RunnerSession& runner);
  void AddGraph(size_t stream, RunnerGraph graph);
  /// Saved outputs of a model that has no quantisers, whatever the other stream's has.
  void AddUnquantised(size_t stream) { graphs_[stream].has_quantisers = false; }

  /// The sizes of the inputs, which tell how long sums are. Only the first feed counts.
  void SetFeed(const TensorMap& feed);
  /// Inputs of that feed under the names of another runner.
  void AddInputs(const TensorMap& feed);

  /// How a stream computes a graph whose types are those of the stream `owner`.
  RunnerArithmetic ArithmeticOn(size_t stream, size_t owner) const {
    return ArithmeticOn(GraphOf(stream), GraphOf(owner));
  }

  /// What outputs of this iteration (0 with --noise-floor) are made from, for BoundRecheck.
  void KeepFeed(const TensorMap& feed, int64_t iteration) {
    last_feed_ = feed;
    last_iteration_ = iteration;
  }
  const TensorMap& last_feed() const { return last_feed_; }
  /// What a stream's model makes steps of; of a model that is not known, what another one does.
  SteppedInputs SteppedInputsOf(size_t stream) const;
  /// Has the model of the stream quantisers? False where that is not known.
  bool Quantises(size_t stream) const { return GraphOf(stream).has_quantisers == true; }
  int64_t last_iteration() const { return last_iteration_; }

  /// Adds why outputs of a quantised model may differ on such a processor, where OpenVINO is a
  /// runner: that is no fault of the model.
  void NoteProcessor(const ProcessorFeatures& features, std::vector<std::string>& notes) const;
  /// The same where OpenVINO compiled a quantised model for free sizes.
  void NoteFreeSizes(std::vector<std::string>& notes) const;

  /// What was measured between the reference and itself: the root mean square of the differences,
  /// relative. The largest of several measurements counts.
  void AddNoise(const std::string& output, double rms) {
    const auto [place, added] = noise_.emplace(output, rms);
    if (!added && rms > place->second) place->second = rms;
  }

  /// The bounds for the outputs of the first stream, which `a` are, against `b`. Outputs that
  /// quantisers or short types lie before are measured first: what follows them is predicted from
  /// what is found there; without `b` nothing is.
  /// `renamed` are pairs of outputs that are not called alike: the name in `a`, that in `b`.
  const ErrorBounds& For(size_t first, size_t second, const TensorMap& a, const TensorMap& b = {},
                         std::span<const std::pair<std::string, std::string>> renamed = {});

 private:
  using Pair = std::pair<size_t, size_t>;
  using NamePairs = std::span<const std::pair<std::string, std::string>>;
  struct Outputs {
    const TensorMap& a;
    const TensorMap& b;
  };

  const RunnerGraph& GraphOf(size_t stream) const;
  static RunnerArithmetic ArithmeticOn(const RunnerGraph& graph, const RunnerGraph& owner);
  ErrorPredictions Predict(const RunnerGraph& owner, Pair pair, const Outputs& outputs) const;
  ErrorPredictions PredictionsOf(Pair pair, const Outputs& outputs, NamePairs renamed) const;
  void SetBounds(Pair pair, const TensorMap& outputs, const ErrorPredictions& predictions);
  ErrorBound MakeMeasuredBound(Pair pair, DType dtype, double noise) const;

  const CompareOptions& options_;
  bool for_near_ties_ = false;
  std::map<size_t, RunnerGraph> graphs_;
  RunnerGraph saved_;  // what is known of streams that were not added
  std::vector<InputDims> feed_;
  TensorMap last_feed_;
  int64_t last_iteration_ = -1;
  std::map<Pair, ErrorPredictions> blind_;  // of pairs whose outputs were not measured
  std::map<Pair, ErrorBounds> bounds_;
  std::map<std::string, double> noise_;
};

}  // namespace vernier
