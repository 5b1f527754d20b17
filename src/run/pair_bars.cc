#include "run/pair_bars.h"

#include <algorithm>
#include <cmath>

#include "util/number_text.h"

namespace vernier {
namespace {

// A difference of one step after a quantiser may meet others on the way through sums.
constexpr double kElementSteps = 3;
// The root mean square of few elements varies: by so many standard deviations of its own.
constexpr double kSampleDeviations = 3;
// With a larger chance than this that flips have reached the elements in question, those tell
// nothing.
constexpr double kFewRows = 0.02;
// The noise of one setting is a sample of what settings do.
constexpr double kNoiseTimes = 8;
// Where two settings agree to the bit, a bar still allows for this many roundings: fewer of the
// short types, whose roundings are most of the error.
constexpr double kFloorRoundings = 32;
constexpr double kFloorRoundingsOfShort = 4;

bool IsFloat(DType dtype) {
  return Kind(dtype) == DTypeKind::kFloat || Kind(dtype) == DTypeKind::kComplex;
}

// Complex numbers are pairs of floats.
DType PartOf(DType dtype) {
  if (dtype == DType::kComplex64) return DType::kFloat32;
  return dtype == DType::kComplex128 ? DType::kFloat64 : dtype;
}

DType Coarser(DType a, DType b) { return UnitRoundoff(b) > UnitRoundoff(a) ? b : a; }

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
  for (const OnnxTensor& tensor : model.graph().initializers) {
    if (Kind(tensor.dtype) == DTypeKind::kFloat) coarsest = Coarser(coarsest, tensor.dtype);
  }
  return coarsest;
}

// ONNX Runtime has few kernels for float16 on x86 CPUs: it computes such models in float32, all but
// copies and layer normalisations.
RunnerArithmetic ArithmeticOf(const LiveRunner& runner) {
  RunnerArithmetic arithmetic{runner.computes_in(), false};
#if defined(__x86_64__)
  const bool widens = runner.plan().backend == "onnxruntime" && runner.session().device == "CPU";
  const bool is_short = CoarsestOf(runner.session().precision) == DType::kFloat16;
  if (widens && is_short && arithmetic.computes_in == DType::kUndefined) {
    arithmetic = {DType::kFloat32, true};
  }
#endif
  return arithmetic;
}

std::string Count(int64_t count, std::string_view what) {
  return ", " + std::to_string(count) + " " + std::string(what) + (count == 1 ? "" : "s");
}

}  // namespace

std::string DescribeBar(const ErrorPrediction& prediction, DType dtype, bool graph_known) {
  if (!IsFloat(dtype)) {
    return prediction.steps ? "quantised integers, one step" : "integers, exact";
  }
  const DType shown =
      prediction.coarsest != DType::kUndefined ? prediction.coarsest : PartOf(dtype);
  std::string text(DTypeName(shown));
  if (!graph_known) return text + ", graph not known";
  text += ", longest sum " + std::to_string(prediction.longest_sum);
  text += Count(prediction.layers, "layer");
  if (prediction.quantisers > 0) text += Count(prediction.quantisers, "quantiser");
  if (prediction.unknown > 0) text += Count(prediction.unknown, "operator") + " without a rule";
  return text;
}

double HalfReached(double flips, int64_t rows) {
  const auto n = static_cast<double>(rows);
  const double reached = 1 - std::exp(-flips / n);
  const double untouched = 1 - reached;
  double sum = 0;
  double term = std::pow(untouched, n);  // of k = 0 reached rows
  for (int64_t k = 0; 2 * k < rows; ++k) {
    sum += term;
    term *= reached / untouched * (n - static_cast<double>(k)) / (static_cast<double>(k) + 1);
  }
  return std::isfinite(sum) ? std::max(0.0, 1 - sum) : 1;
}

ErrorBar MakeBar(const ErrorPrediction& prediction, const Tensor& tensor, bool graph_known) {
  ErrorBar bar;
  const DType dtype = tensor.dtype();
  bar.why = DescribeBar(prediction, dtype, graph_known);
  if (IsFloat(dtype)) {
    // Even what is only copied may lose its subnormal numbers.
    const double floor = std::min(UnitRoundoff(PartOf(dtype)), UnitRoundoff(DType::kFloat32));
    const auto count = static_cast<double>(std::max<int64_t>(tensor.element_count(), 1));
    bar.rms = std::max(prediction.rms * (1 + kSampleDeviations / std::sqrt(2 * count)), floor);
    bar.element = kElementSteps * prediction.step;
    const int64_t rows = tensor.dims().size() > 1 ? tensor.dims().front() : 1;
    bar.nine_tenths = 1 - std::exp(-prediction.flips) < kFewRows;
    const bool few = bar.nine_tenths || HalfReached(prediction.flips, rows) < kFewRows;
    if (prediction.step > 0 && few) bar.most = std::max(prediction.clean, floor);
  } else if (prediction.steps) {
    bar.rms = prediction.rms;
    bar.element = kElementSteps * prediction.step;
    bar.steps = true;
  }
  return bar;
}

bool PairBars::wanted() const {
  const auto is_auto = [](ToleranceRule rule) { return rule == ToleranceRule::kAuto; };
  const auto& table = options_.tolerance;
  return (table.fallback && is_auto(*table.fallback)) ||
         std::any_of(table.entries.begin(), table.entries.end(),
                     [&](const auto& entry) { return is_auto(entry.second); });
}

void PairBars::AddRunner(size_t stream, const LiveRunner& runner) {
  Stream added;
  added.arithmetic = ArithmeticOf(runner);
  added.model_path = runner.plan().model.path;
  for (const auto& [index, other] : streams_) {
    if (other.model_path == added.model_path) added.model = other.model;
  }
  if (added.model == nullptr && runner.plan().model.type == "onnx") {
    Result<OnnxModel> model = OnnxModel::Open(added.model_path);
    // The runner has opened it; if we cannot read it now, dtypes have to do.
    if (model.ok()) added.model = std::make_shared<const OnnxModel>(*std::move(model));
  }
  if (added.model != nullptr) added.model_coarsest = CoarsestOf(*added.model);
  streams_[stream] = std::move(added);
}

void PairBars::SetFeed(const TensorMap& feed) {
  if (!feed_.empty()) return;
  for (const NamedTensor& input : feed) feed_.push_back({input.name, input.tensor.dims()});
}

void PairBars::AddNoise(const std::string& output, double rms) {
  const auto [place, added] = noise_.emplace(output, rms);
  if (!added && rms > place->second) place->second = rms;
}

const PairBars::Stream& PairBars::StreamOf(size_t stream) const {
  const auto found = streams_.find(stream);
  return found == streams_.end() ? saved_ : found->second;
}

RunnerArithmetic PairBars::ArithmeticOn(const Stream& stream, const Stream& owner) {
  // "As in its model" is as in this one where both have the same types.
  const bool own = stream.model == nullptr || stream.model_coarsest == owner.model_coarsest ||
                   stream.arithmetic.computes_in != DType::kUndefined;
  return own ? stream.arithmetic : RunnerArithmetic{stream.model_coarsest, false};
}

ErrorPredictions PairBars::Predict(const Stream& owner, const Stream& first,
                                   const Stream& second) const {
  if (owner.model == nullptr) return {};
  Result<ErrorPredictions> predictions = PredictErrors(
      *owner.model, feed_, ArithmeticOn(first, owner), ArithmeticOn(second, owner), outputs_);
  return predictions.ok() ? *std::move(predictions) : ErrorPredictions();
}

const ErrorPredictions& PairBars::PredictionsOf(Pair pair, const TensorMap& outputs) {
  const auto known = predictions_.find(pair);
  if (known != predictions_.end()) return known->second;
  outputs_.clear();
  for (const NamedTensor& output : outputs) outputs_.push_back(output.name);
  const Stream& first = StreamOf(pair.first);
  const Stream& second = StreamOf(pair.second);
  ErrorPredictions merged = Predict(first, first, second);
  if (second.model != first.model) {
    for (auto& [name, prediction] : Predict(second, first, second)) {
      const auto [place, added] = merged.emplace(name, prediction);
      if (!added && prediction.rms > place->second.rms) place->second = prediction;
    }
  }
  return predictions_.emplace(pair, std::move(merged)).first->second;
}

ErrorBar PairBars::MakeMeasuredBar(Pair pair, DType dtype, double noise) const {
  ErrorBar bar;
  double floor = 0;
  std::string floor_text = "integers, exact";
  if (IsFloat(dtype)) {
    const DType coarsest =
        Coarser(Coarser(PartOf(dtype), StreamOf(pair.first).arithmetic.computes_in),
                StreamOf(pair.second).arithmetic.computes_in);
    const bool is_short = UnitRoundoff(coarsest) > UnitRoundoff(DType::kFloat32);
    const double roundings = is_short ? kFloorRoundingsOfShort : kFloorRoundings;
    floor = roundings * UnitRoundoff(coarsest);
    floor_text = FormatG(roundings, 3) + " roundings of " + std::string(DTypeName(coarsest));
  }
  bar.rms = std::max(kNoiseTimes * noise, floor);
  bar.steps = !IsFloat(dtype) && noise > 0;
  bar.why = "measured, ";
  bar.why += bar.rms > floor ? FormatG(kNoiseTimes, 3) + " times the noise " + FormatG(noise, 3)
                             : "noise " + FormatG(noise, 3) + ": " + floor_text;
  return bar;
}

const ErrorBars& PairBars::For(size_t first, size_t second, const TensorMap& a) {
  const Pair pair(first, second);
  const ErrorPredictions& predictions = PredictionsOf(pair, a);
  ErrorBars& bars = bars_[pair];
  for (const NamedTensor& output : a) {
    const DType dtype = output.tensor.dtype();
    const auto noise = noise_.find(output.name);
    // Where two settings agree, the measurement tells nothing.
    if (noise != noise_.end() && noise->second > 0) {
      bars.Set(output.name, MakeMeasuredBar(pair, dtype, noise->second));
      continue;
    }
    if (bars.Find(output.name) != nullptr) continue;
    const auto found = predictions.find(output.name);
    const bool known = found != predictions.end();
    const RunnerArithmetic a_side = StreamOf(first).arithmetic;
    const RunnerArithmetic b_side = StreamOf(second).arithmetic;
    ErrorBar bar = MakeBar(known ? found->second : PredictFromDType(PartOf(dtype), a_side, b_side),
                           output.tensor, known);
    if (noise != noise_.end()) bar.why += ", no noise measured";
    bars.Set(output.name, std::move(bar));
  }
  return bars;
}

}  // namespace vernier
