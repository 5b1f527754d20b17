#include "run/pair_recorder.h"

#include <algorithm>
#include <cmath>
#include <complex>

#include "run/output_figures.h"

namespace vernier {
namespace {

std::string_view PairedByName(PairedBy how) {
  switch (how) {
    case PairedBy::kExact:
      return "exact";
    case PairedBy::kFolded:
      return "folded";
    case PairedBy::kSubstring:
      return "substring";
    case PairedBy::kPosition:
      return "position";
    case PairedBy::kShape:
      return "shape";
    case PairedBy::kValue:
      return "value";
    case PairedBy::kMap:
      return "map";
  }
  return "";
}

void AddNew(const std::vector<std::string>& names, std::vector<std::string>& list) {
  for (const std::string& name : names) {
    if (std::find(list.begin(), list.end(), name) == list.end()) list.push_back(name);
  }
}

// std::max that lets NaN win: an error that is no number is the worst.
void KeepWorse(std::optional<double>& worst, double value) {
  if (!worst || value != value || value > *worst) worst = worst && *worst != *worst ? worst : value;
}

BarRecord MakeBarRecord(const BarVerdict& bar) {
  return {.bar = bar.bar,
          .condition = bar.condition,
          .bar_before = bar.bar_before,
          .scale = bar.scale,
          .rms = bar.rms,
          .gain = bar.gain,
          .gain_bar = bar.gain_bar,
          .clean_bar = bar.clean_bar,
          .share_beyond = bar.beyond,
          .share_allowed = bar.allowed,
          .element_bar = bar.rtol,
          .times_over = bar.times_over,
          .why = bar.why};
}

// One that failed, else one that was widened, else the one that is nearest to its bound.
void KeepWorseBar(BarRecord bar, std::optional<BarRecord>& worst) {
  const auto rank = [](const BarRecord& b) {
    return b.times_over > 1 ? 2 : b.condition > 1 ? 1 : 0;
  };
  const bool worse = !worst || rank(bar) > rank(*worst) ||
                     (rank(bar) == rank(*worst) && bar.times_over > worst->times_over);
  if (worse) worst = std::move(bar);
}

// Elements with NaN or infinity on a side.
int64_t CountWildElements(const ElementSpan& a, const ElementSpan& b) {
  using Complex = std::complex<double>;
  const auto wild = [](const Complex& x) {
    return !std::isfinite(x.real()) || !std::isfinite(x.imag());
  };
  std::vector<Complex> a_block(kBlockSize), b_block(kBlockSize);
  int64_t count = 0;
  for (int64_t start = 0; start < a.count; start += static_cast<int64_t>(kBlockSize)) {
    const auto n = static_cast<size_t>(std::min<int64_t>(kBlockSize, a.count - start));
    const Complex* x = LoadBlock(a, start, n, a_block.data());
    const Complex* y = LoadBlock(b, start, n, b_block.data());
    for (size_t i = 0; i < n; ++i) count += wild(x[i]) || wild(y[i]) ? 1 : 0;
  }
  return count;
}

// Values, not differences: of finite numbers a difference can overflow.
int64_t CountNotFinite(const SimpleResult& simple, const OutputComparison& output) {
  const auto count = [](const ValueStatistics& s) { return s.nan_count + s.infinite_count; };
  const int64_t differences = count(simple.difference.absolute);
  const bool measured = output.measures && output.measured.sides != StatisticsLevel::kNone;
  if (!measured) return differences;
  const int64_t a = count(output.measures->a), b = count(output.measures->b);
  // Distances in ULP are measured only where the bytes are.
  if (a == 0 || b == 0 || differences <= std::max(a, b) || !output.measured.ulp) {
    return std::min(differences, a + b);
  }
  return std::min(differences, CountWildElements(Elements(output.a), Elements(output.aligned_b)));
}

// Did the shapes or the types keep every function from looking at it?
bool HasNoNumbers(const OutputComparison& output) {
  return !output.functions.empty() && std::all_of(output.functions.begin(), output.functions.end(),
                                                  [](const FunctionResult& function) {
                                                    return function.shapes_differ ||
                                                           function.verdict == Verdict::kFailed;
                                                  });
}

void AddSimple(const SimpleResult& simple, const OutputComparison& output, OutputRecord& record) {
  const DifferenceSummary& difference = simple.difference;
  record.tolerances_checked = true;
  record.allowed_share = simple.allowed_share;
  record.allowed_excess = simple.allowed_excess;
  record.mismatches = std::max(record.mismatches, difference.mismatches);
  if (simple.bar) KeepWorseBar(MakeBarRecord(*simple.bar), record.bar);
  if (simple.measured == StatisticsLevel::kNone) return;
  KeepWorse(record.mean_absolute_error, difference.absolute.mean);
  record.not_finite = std::max(record.not_finite, CountNotFinite(simple, output));
  for (const RequiredTolerance& required : simple.required) {
    KeepWorse(record.required_absolute, required.absolute);
    KeepWorse(record.required_relative, required.relative);
  }
}

// Of the first iteration in which they differ, else of the first.
void AddTypes(const OutputComparison& output, OutputRecord& record) {
  if (!record.dtype.empty() && output.a_dtype == output.b_dtype) return;
  if (record.dtype != record.other_dtype) return;
  record.dtype = DTypeName(output.a_dtype);
  record.other_dtype = DTypeName(output.b_dtype);
}

double WorstRatio(const OutputComparison& output) {
  const FunctionResult* simple = output.Find(CompareFunction::kSimple);
  const auto* data = simple == nullptr ? nullptr : std::get_if<SimpleResult>(&simple->data);
  return data == nullptr ? 0 : data->times_over();
}

// Keeps the numbers of the worst iteration: the first that failed, or a later one that is further
// out of tolerance.
void KeepWorst(const OutputComparison& output, int64_t iteration, OutputRecord& record,
               double& kept_ratio, Charts charts) {
  const bool first = record.figures.gates.empty();
  const bool failed_before = std::any_of(record.figures.gates.begin(), record.figures.gates.end(),
                                         [](const GateRecord& g) { return g.verdict != "passed"; });
  const bool fails = !output.passed();
  const double ratio = WorstRatio(output);
  const bool worse = fails == failed_before ? ratio > kept_ratio : fails;
  if (!first && !worse) return;
  record.figures = MakeFigures(output, iteration, charts);
  kept_ratio = ratio;
}

}  // namespace

PairRecorder::PairRecorder(std::string first, std::string second, Charts charts) : charts_(charts) {
  record_.first = std::move(first);
  record_.second = std::move(second);
}

void PairRecorder::Add(const IterationComparison& comparison) {
  tally_.Add(comparison);
  AddNew(comparison.pairing.left_only, record_.only_in_first);
  AddNew(comparison.pairing.right_only, record_.only_in_second);
  AddNew(comparison.without_verdict, record_.without_verdict);
  compared_nothing_ |= !comparison.compared_something();
  for (const OutputComparison& output : comparison.outputs) AddOutput(output);
}

void PairRecorder::AddOutput(const OutputComparison& output) {
  auto found = std::find_if(record_.outputs.begin(), record_.outputs.end(),
                            [&](const OutputRecord& o) { return o.name == output.a_name; });
  if (found == record_.outputs.end()) {
    found = record_.outputs.emplace(record_.outputs.end());
    found->name = output.a_name;
    found->other_name = output.b_name;
    found->paired_by = PairedByName(output.how);
  }
  AddTypes(output, *found);
  if (HasNoNumbers(output)) {
    ++found->without_numbers;
  } else {
    const int64_t elements = output.a.element_count();
    found->uneven |= found->elements > 0 && found->elements != elements;
    found->elements = std::max(found->elements, elements);
  }
  for (const FunctionResult& function : output.functions) {
    const auto* simple = std::get_if<SimpleResult>(&function.data);
    if (simple != nullptr) AddSimple(*simple, output, *found);
    if (output.a_dtype == DType::kString || output.b_dtype == DType::kString) {
      // No tolerance makes strings equal.
      found->required_absolute = found->required_relative = std::nullopt;
    }
  }
  const auto index = static_cast<size_t>(found - record_.outputs.begin());
  kept_ratios_.resize(record_.outputs.size());
  KeepWorst(output, tally_.iterations() - 1, *found, kept_ratios_[index], charts_);
}

bool PairRecorder::vacuous() const {
  return std::any_of(tally_.outputs().begin(), tally_.outputs().end(),
                     [](const OutputTally& output) { return output.vacuous > 0; });
}

PairRecord PairRecorder::Finish(int64_t expected_iterations) const {
  PairRecord record = record_;
  record.compared_iterations = tally_.iterations();
  record.passed_iterations = tally_.passed_iterations();
  record.expected_iterations = expected_iterations;
  for (const OutputTally& tally : tally_.outputs()) {
    const auto output = std::find_if(record.outputs.begin(), record.outputs.end(),
                                     [&](const OutputRecord& o) { return o.name == tally.name; });
    if (output == record.outputs.end()) continue;
    output->compared = tally.iterations;
    output->passed = tally.passed;
    output->max_absolute_error = tally.worst_absolute;
    output->max_relative_error = tally.worst_relative;
    output->worst_times_tolerance = tally.worst_ratio;
    output->not_verified = tally.not_verified;
    output->vacuous = tally.vacuous_why;
  }
  return record;
}

}  // namespace vernier
