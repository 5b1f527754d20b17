#include "run/live/pair_error_bounds.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <unordered_map>

#include "model/onnx/weight_types.h"
#include "model/rounding/error_growth.h"
#include "run/live/predicted_bound.h"
#include "util/text/number_text.h"
#include "vernier/compare_options.h"
#include "vernier/part_names.h"

namespace vernier {
namespace {

// The noise of one setting is a sample of what settings do.
constexpr double kNoiseTimes = 8;
// Where two settings agree to the bit, a bound still allows for this many roundings: fewer of the
// short types, whose roundings are most of the error.
constexpr double kFloorRoundings = 32;
constexpr double kFloorRoundingsOfShort = 4;

// The float type with the largest roundoff in "float32" or "int8+float16".
DType CoarsestOf(std::string_view precision) {
  DType coarsest = DType::kUndefined;
  while (!precision.empty()) {
    const size_t end = std::min(precision.find('+'), precision.size());
    const auto dtype = DTypeFromName(precision.substr(0, end));
    if (dtype && Kind(*dtype) == DTypeKind::kFloat) coarsest = Coarser(coarsest, *dtype);
    precision.remove_prefix(std::min(end + 1, precision.size()));
  }
  return coarsest;
}

DType CoarsestOf(const OnnxModel& model) {
  DType coarsest = DType::kUndefined;
  for (const DType dtype : FloatWeightTypes(model)) coarsest = Coarser(coarsest, dtype);
  return coarsest;
}

RunnerArithmetic ArithmeticOf(const RunnerSession& runner) {
  RunnerArithmetic arithmetic{runner.model().computes_in, false};
#if defined(__x86_64__)
  const bool widens =
      runner.backend().Has(BackendTrait::kWidensFloat16) && runner.session().device == "CPU";
  const bool is_short = CoarsestOf(runner.session().precision) == DType::kFloat16;
  if (widens && is_short && arithmetic.computes_in == DType::kUndefined) {
    arithmetic = {DType::kFloat32, true};
  }
#endif
  arithmetic.floats_within = !runner.backend().Has(BackendTrait::kRoundsWithin);
  return arithmetic;
}

// What an output shows of those behind it; nothing where only rounding in long types lies before
// it, which predicts well enough, and where it is off itself.
std::optional<MeasuredError> MeasureOutput(const Tensor* a, const Tensor* b,
                                           const ErrorPrediction& predicted) {
  if (a == nullptr || b == nullptr || a->dims() != b->dims() || a->dtype() != b->dtype()) return {};
  const bool is_coarse = predicted.step > 0 || predicted.clean > kCoarseError;
  if (!is_coarse || Kind(a->dtype()) != DTypeKind::kFloat || a->element_count() == 0) return {};
  if (a->bytes().empty()) return {};
  const Result<BoundVerdict> verdict = MeasureAgainstBound(*a, *b, MakeBound(predicted, *a, true));
  if (!verdict.ok() || !verdict->passed || !(verdict->scale > 0)) return {};
  const double floor = UnitRoundoff(DType::kFloat32);
  const double limit = std::max(predicted.clean, floor);
  const ErrorSplit split = SplitErrors(*a, *b, {limit, verdict->scale});
  return MeasuredError{split.rms_beyond / verdict->scale, split.rows,
                       split.rms_within / verdict->scale, split.largest / verdict->scale,
                       std::fabs(verdict->gain)};
}

// Whether an output is within its bound, each of its elements as well.
bool IsWithin(const Tensor* a, const Tensor* b, const ErrorPrediction& predicted) {
  if (a == nullptr || b == nullptr || a->dims() != b->dims() || a->dtype() != b->dtype()) {
    return false;
  }
  if (a->dtype() == DType::kString || a->bytes().empty() || b->bytes().empty()) return false;
  const Result<BoundVerdict> verdict = MeasureAgainstBound(*a, *b, MakeBound(predicted, *a, true));
  if (!verdict.ok() || !verdict->passed) return false;
  const double scale = verdict->rtol > 0 ? verdict->atol / verdict->rtol : 0;
  return SplitErrors(*a, *b, {verdict->rtol, scale}).beyond == 0;
}

// Choices among near ties that both sides made alike leave nothing open behind them.
std::optional<double> MeasureChosen(const Tensor* a, const Tensor* b,
                                    const ErrorPrediction& predicted) {
  if (a == nullptr || b == nullptr || a->dims() != b->dims() || a->dtype() != b->dtype()) return {};
  if (a->dtype() == DType::kString || a->bytes().empty() || b->bytes().empty()) return {};
  const Result<BoundVerdict> verdict = MeasureAgainstBound(*a, *b, MakeBound(predicted, *a, true));
  if (!verdict.ok() || !verdict->passed) return {};
  ErrorPrediction others = predicted;
  others.chosen = 0;
  const double limit = std::max(kElementTimes * MakeBound(others, *a, true).rms, kWholeStep);
  const ErrorSplit split = SplitErrors(*a, *b, {limit, verdict->scale});
  return static_cast<double>(split.beyond) / std::max(static_cast<double>(a->element_count()), 1.0);
}

TensorMap WithNames(TensorMap outputs, const std::map<std::string, std::string>& names) {
  if (names.empty()) return outputs;
  for (NamedTensor& output : outputs) {
    const auto found = names.find(output.name);
    if (found != names.end()) output.name = found->second;
  }
  return outputs;
}

// Of a part of a sequence, map or optional: that of the whole.
ErrorPredictions::const_iterator PredictionOf(const std::string& output,
                                              const ErrorPredictions& predictions) {
  const auto found = predictions.find(output);
  if (found != predictions.end()) return found;
  return std::ranges::find_if(predictions,
                              [&](const auto& entry) { return IsPartOf(output, entry.first); });
}

bool LeavesSizesOpen(const RunnerSession& runner) {
  const bool is_static = std::ranges::any_of(runner.plan().session_options, [](const auto& option) {
    return option.first == "shapes" && option.second == "static";
  });
  return !is_static && std::ranges::any_of(runner.session().inputs, [](const TensorInfo& input) {
    return !input.shape || std::ranges::any_of(*input.shape, &Dim::dynamic);
  });
}

}  // namespace

bool PairErrorBounds::wanted() const {
  const auto is_auto = [](ToleranceRule rule) { return rule == ToleranceRule::kAuto; };
  const auto& table = options_.tolerance;
  return (table.fallback && is_auto(*table.fallback)) ||
         std::any_of(table.entries.begin(), table.entries.end(),
                     [&](const auto& entry) { return is_auto(entry.second); });
}

bool PairErrorBounds::RoundApart(size_t first, size_t second) const {
  const RunnerGraph &a = GraphOf(first), &b = GraphOf(second);
  const DType of_a = Coarser(a.model_coarsest, a.arithmetic.computes_in);
  const DType of_b = Coarser(b.model_coarsest, b.arithmetic.computes_in);
  const double coarsest = std::max(UnitRoundoff(of_a), UnitRoundoff(of_b));
  if (coarsest <= UnitRoundoff(DType::kFloat32)) return false;
  return of_a != of_b || a.arithmetic.computes_in != b.arithmetic.computes_in ||
         a.arithmetic.copies_in_own_type != b.arithmetic.copies_in_own_type;
}

void PairErrorBounds::AddRunner(size_t stream, const RunnerSession& runner) {
  RunnerGraph added;
  added.arithmetic = ArithmeticOf(runner);
  const DType coarsest =
      Coarser(CoarsestOf(runner.session().precision), runner.model().computes_in);
  added.is_precise = IsPrecise(coarsest);
  added.in_bytes = runner.backend().Has(BackendTrait::kByteKernels);
  added.leaves_sizes_open = LeavesSizesOpen(runner);
  added.model_path = runner.plan().model.path;
  for (const auto& [index, other] : graphs_) {
    if (other.model_path == added.model_path) added.model = other.model;
  }
  if (added.model == nullptr && runner.plan().model.type == "onnx") {
    Result<OnnxModel> model = OnnxModel::Open(added.model_path);
    // The runner has opened it; if we cannot read it now, dtypes have to do.
    if (model.ok()) added.model = std::make_shared<const OnnxModel>(*std::move(model));
  }
  AddGraph(stream, std::move(added));
}

void PairErrorBounds::AddGraph(size_t stream, RunnerGraph graph) {
  if (graph.model != nullptr) {
    graph.model_coarsest = CoarsestOf(*graph.model);
    graph.has_quantisers = HasQuantisers(*graph.model);
  }
  graphs_[stream] = std::move(graph);
}

void PairErrorBounds::SetFeed(const TensorMap& feed) {
  if (!feed_.empty()) return;
  for (const NamedTensor& input : feed) feed_.push_back({input.name, input.tensor.dims()});
}

void PairErrorBounds::AddInputs(const TensorMap& feed) {
  for (const NamedTensor& input : feed) {
    const bool known = std::any_of(feed_.begin(), feed_.end(),
                                   [&](const InputDims& one) { return one.name == input.name; });
    if (!known) feed_.push_back({input.name, input.tensor.dims()});
  }
}

SteppedInputs PairErrorBounds::SteppedInputsOf(size_t stream) const {
  if (const auto& own = GraphOf(stream).model) return FindSteppedInputs(*own);
  for (const auto& [index, other] : graphs_) {
    if (other.model != nullptr) return FindSteppedInputs(*other.model);
  }
  return {};
}

void PairErrorBounds::NoteProcessor(const ProcessorFeatures& features,
                                    std::vector<std::string>& notes) const {
  const std::string why = WhyBytesMaySaturate(features);
  const bool concerned = std::any_of(graphs_.begin(), graphs_.end(), [](const auto& entry) {
    return entry.second.in_bytes && entry.second.has_quantisers == true;
  });
  if (!why.empty() && concerned) notes.push_back(why);
}

void PairErrorBounds::NoteFreeSizes(std::vector<std::string>& notes) const {
  const auto concerned = std::ranges::find_if(graphs_, [](const auto& entry) {
    const RunnerGraph& graph = entry.second;
    return graph.in_bytes && graph.leaves_sizes_open && graph.has_quantisers == true;
  });
  if (concerned == graphs_.end()) return;
  notes.push_back(
      "OpenVINO computes int8 layers differently with dynamic shapes: "
      "--openvino-shapes static compiles '" +
      concerned->second.model_path + "' for the sizes of the feed");
}

const RunnerGraph& PairErrorBounds::GraphOf(size_t stream) const {
  const auto found = graphs_.find(stream);
  return found == graphs_.end() ? saved_ : found->second;
}

RunnerArithmetic PairErrorBounds::ArithmeticOn(const RunnerGraph& graph, const RunnerGraph& owner) {
  RunnerArithmetic arithmetic = graph.arithmetic;
  // A model of a shorter type has rounded weights, however long the type that it is computed in.
  const bool rounded = graph.model_coarsest != DType::kUndefined &&
                       owner.model_coarsest != DType::kUndefined &&
                       UnitRoundoff(graph.model_coarsest) > UnitRoundoff(owner.model_coarsest);
  // "As in its model" is as in this one where both have the same types.
  const bool own = graph.model == nullptr || graph.model_coarsest == owner.model_coarsest ||
                   graph.arithmetic.computes_in != DType::kUndefined;
  if (rounded || !own) {
    arithmetic.computes_in = graph.model_coarsest;
    arithmetic.copies_in_own_type = false;
  }
  arithmetic.unquantised = graph.has_quantisers == false && owner.has_quantisers == true;
  return arithmetic;
}

ErrorPredictions PairErrorBounds::Predict(const RunnerGraph& owner, Pair pair,
                                          const Outputs& outputs) const {
  if (owner.model == nullptr) return {};
  std::vector<std::string> names;
  for (const NamedTensor& output : outputs.a) names.push_back(output.name);
  std::unordered_map<std::string_view, const Tensor*> tensors;
  for (const NamedTensor& output : outputs.a) tensors[output.name] = &output.tensor;
  SeenOutputs seen;
  seen.measure = [&](const std::string& name, const ErrorPrediction& predicted) {
    return MeasureOutput(Find(outputs.a, name), Find(outputs.b, name), predicted);
  };
  seen.passes = [&](const std::string& name, const ErrorPrediction& predicted) {
    return IsWithin(Find(outputs.a, name), Find(outputs.b, name), predicted);
  };
  seen.choices = [&](std::string_view name, const ErrorPrediction& predicted) {
    return MeasureChosen(Find(outputs.a, name), Find(outputs.b, name), predicted);
  };
  seen.dims = [&](std::string_view name) -> const Dims* {
    const auto found = tensors.find(name);
    return found == tensors.end() ? nullptr : &found->second->dims();
  };
  seen.fed = [&](std::string_view name) { return Find(last_feed_, name); };
  // Without the other side, what is predicted serves for further outputs.
  if (!outputs.b.empty()) {
    seen.values = [&](std::string_view name) -> const Tensor* {
      const auto found = tensors.find(name);
      return found == tensors.end() ? nullptr : found->second;
    };
    seen.others = [&](std::string_view name) { return Find(outputs.b, name); };
  }
  Result<ErrorPredictions> predictions =
      PredictErrors(*owner.model, feed_, ArithmeticOn(GraphOf(pair.first), owner),
                    ArithmeticOn(GraphOf(pair.second), owner), names, FedInputs::kSame, seen);
  return predictions.ok() ? *std::move(predictions) : ErrorPredictions();
}

ErrorPredictions PairErrorBounds::PredictionsOf(Pair pair, const Outputs& outputs,
                                                NamePairs renamed) const {
  const RunnerGraph& first = GraphOf(pair.first);
  const RunnerGraph& second = GraphOf(pair.second);
  // Each graph knows its own names.
  std::map<std::string, std::string> to_first, to_second;
  for (const auto& [a, b] : renamed) {
    to_first[b] = a;
    to_second[a] = b;
  }
  const TensorMap b_as_first = WithNames(outputs.b, to_first);
  ErrorPredictions merged = Predict(first, pair, {outputs.a, b_as_first});
  if (second.model == first.model) return merged;
  const TensorMap a_as_second = WithNames(outputs.a, to_second);
  for (auto& [name, prediction] : Predict(second, pair, {a_as_second, outputs.b})) {
    const auto own = to_first.find(name);
    const auto since = to_first.find(prediction.since);
    if (since != to_first.end()) prediction.since = since->second;
    const auto [place, added] =
        merged.emplace(own == to_first.end() ? name : own->second, prediction);
    if (!added && prediction.rms > place->second.rms) place->second = prediction;
  }
  return merged;
}

ErrorBound PairErrorBounds::MakeMeasuredBound(Pair pair, DType dtype, double noise) const {
  ErrorBound bound;
  double floor = 0;
  std::string floor_text = ExactValues(dtype);
  if (HoldsFloats(dtype)) {
    const DType coarsest =
        Coarser(Coarser(PartOf(dtype), GraphOf(pair.first).arithmetic.computes_in),
                GraphOf(pair.second).arithmetic.computes_in);
    const bool is_short = UnitRoundoff(coarsest) > UnitRoundoff(DType::kFloat32);
    const double roundings = is_short ? kFloorRoundingsOfShort : kFloorRoundings;
    floor = roundings * UnitRoundoff(coarsest);
    floor_text = FormatG(roundings, 3) + " roundings of " + std::string(DTypeName(coarsest));
  }
  bound.rms = std::max(kNoiseTimes * noise, floor);
  bound.steps = !HoldsFloats(dtype) && noise > 0;
  bound.why = "measured, ";
  bound.why += bound.rms > floor ? FormatG(kNoiseTimes, 3) + " times the noise " + FormatG(noise, 3)
                                 : "noise " + FormatG(noise, 3) + ": " + floor_text;
  return bound;
}

const ErrorBounds& PairErrorBounds::For(size_t first, size_t second, const TensorMap& a,
                                        const TensorMap& b, NamePairs renamed) {
  const Pair pair(first, second);
  if (!b.empty()) {
    SetBounds(pair, a, PredictionsOf(pair, {a, b}, renamed));
  } else {
    if (!blind_.contains(pair)) blind_[pair] = PredictionsOf(pair, {a, b}, renamed);
    SetBounds(pair, a, blind_[pair]);
  }
  return bounds_[pair];
}

void PairErrorBounds::SetBounds(Pair pair, const TensorMap& outputs,
                                const ErrorPredictions& predictions) {
  ErrorBounds& bounds = bounds_[pair];
  for (const NamedTensor& output : outputs) {
    const DType dtype = output.tensor.dtype();
    const auto noise = noise_.find(output.name);
    // Where two settings agree, the measurement shows nothing.
    if (noise != noise_.end() && noise->second > 0) {
      bounds.Set(output.name, MakeMeasuredBound(pair, dtype, noise->second));
      continue;
    }
    const auto found = PredictionOf(output.name, predictions);
    const bool known = found != predictions.end();
    const RunnerArithmetic a_side = GraphOf(pair.first).arithmetic;
    const RunnerArithmetic b_side = GraphOf(pair.second).arithmetic;
    ErrorBound bound =
        MakeBound(known ? found->second : PredictFromDType(PartOf(dtype), a_side, b_side),
                  output.tensor, known);
    if (noise != noise_.end()) bound.why += ", no noise measured";
    bounds.Set(output.name, std::move(bound));
  }
}

}  // namespace vernier
