#include "run/figures/error_counts.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>
#include <variant>

#include "compare/functions/comparison.h"
#include "kernels/measures/difference.h"
#include "record/schema/element_statistics.h"
#include "run/figures/iteration_quantiles.h"
#include "util/text/number_text.h"
#include "util/values/plural_text.h"

namespace vernier {
namespace {

constexpr int kFractionBits = 52;  // with all of them gone, exponents are left: no more than 2048

// Did the command ask for statistics of its elements?
bool WantsElements(const OutputComparison& output) {
  const auto* const data = output.FindData<SimpleResult>(CompareFunction::kSimple);
  return data != nullptr && output.measures && output.a_dtype != DType::kString &&
         std::ranges::any_of(data->required, [](const RequiredTolerance& required) {
           return required.stat == ErrorStat::kMedian || required.stat == ErrorStat::kQuantile;
         });
}

bool HasAllElements(const OutputComparison& output) {
  const bool masked = output.masked && output.masked->excluded > 0;
  const bool here = output.a.element_count() == 0 ||
                    (!output.a.bytes().empty() && !output.aligned_b.bytes().empty());
  return !masked && output.left_out == 0 && here;
}

}  // namespace

// Multiplication spreads keys whose last bits are 0, as those of float32 are.
ErrorCounts::Slot& ErrorCounts::SlotOf(uint64_t key) {
  const int bits = std::countr_zero(slots_.size());
  size_t place = (key * 0x9E3779B97F4A7C15u) >> (64 - bits);
  while (slots_[place].key != 0 && slots_[place].key != key) {
    place = (place + 1) & (slots_.size() - 1);
  }
  return slots_[place];
}

void ErrorCounts::Rebuild(size_t size, int dropped) {
  const std::vector<Slot> before = std::exchange(slots_, std::vector<Slot>(size));
  const int more = dropped - dropped_;
  dropped_ = dropped;
  used_ = 0;
  for (const Slot& old : before) {
    if (old.key == 0) continue;
    Slot& slot = SlotOf(((old.key - 1) >> more) + 1);
    used_ += slot.key == 0 ? 1 : 0;
    slot.key = ((old.key - 1) >> more) + 1;
    slot.count += old.count;
  }
}

void ErrorCounts::Count(uint64_t bits, int64_t times) {
  while (true) {
    const uint64_t key = (bits >> dropped_) + 1;
    Slot& slot = SlotOf(key);
    if (slot.key == key) {
      slot.count += times;
      return;
    }
    if (used_ == kMost) {
      Rebuild(slots_.size(), dropped_ + 1);
    } else if (2 * used_ >= slots_.size()) {
      Rebuild(2 * slots_.size(), dropped_);
    } else {
      slot = {key, times};
      ++used_;
      return;
    }
  }
}

void ErrorCounts::Add(std::span<const double> errors) {
  for (const double error : errors) {
    if (std::isnan(error)) {
      ++nan_;
    } else {
      Count(std::bit_cast<uint64_t>(std::fabs(error)), 1);
    }
  }
}

Status ErrorCounts::Add(const CountedErrors& kept) {
  const auto bits = static_cast<int>(std::clamp<int64_t>(kept.dropped_bits, 0, kFractionBits));
  const int64_t most = std::bit_cast<int64_t>(std::numeric_limits<double>::infinity()) >> bits;
  const auto fits = [&](int64_t value) { return value >= 0 && value <= most; };
  const auto counts = [](int64_t count) { return count > 0; };
  if (bits != kept.dropped_bits || kept.values.size() != kept.counts.size() || kept.nan < 0 ||
      kept.values.size() > kMost || !std::ranges::all_of(kept.values, fits) ||
      !std::ranges::all_of(kept.counts, counts)) {
    return Malformed("its counts of errors cannot be");
  }
  if (bits > dropped_) Rebuild(slots_.size(), bits);
  for (size_t i = 0; i < kept.values.size(); ++i) {
    Count(static_cast<uint64_t>(kept.values[i]) << bits, kept.counts[i]);
  }
  nan_ += kept.nan;
  return {};
}

CountedErrors ErrorCounts::Keep() const {
  std::vector<Slot> used;
  std::ranges::copy_if(slots_, std::back_inserter(used), [](const Slot& s) { return s.key != 0; });
  std::ranges::sort(used, {}, &Slot::key);
  CountedErrors kept = {.dropped_bits = dropped_, .nan = nan_, .values = {}, .counts = {}};
  for (const Slot& slot : used) {
    kept.values.push_back(static_cast<int64_t>(slot.key - 1));
    kept.counts.push_back(slot.count);
  }
  return kept;
}

double ErrorCounts::rounding() const {
  return dropped_ == 0 ? 0 : std::ldexp(1.0, dropped_ - kFractionBits);
}

QuantilesRecord ErrorCounts::Quantiles(std::string_view statistic) const {
  const CountedErrors kept = Keep();
  std::vector<int64_t> up_to;  // how many errors are no larger
  for (const int64_t count : kept.counts)
    up_to.push_back((up_to.empty() ? 0 : up_to.back()) + count);
  const int64_t total = up_to.empty() ? 0 : up_to.back();
  const auto at = [&](int64_t rank) {
    const auto place = std::ranges::upper_bound(up_to, rank) - up_to.begin();
    const auto bits = static_cast<uint64_t>(kept.values[static_cast<size_t>(place)]) << dropped_;
    return std::bit_cast<double>(bits);
  };
  const auto quantile = [&](double share) {
    const double place = share * static_cast<double>(total - 1);
    const auto below = static_cast<int64_t>(place);
    return BetweenNumbers(at(below), at(std::min(below + 1, total - 1)),
                          place - static_cast<double>(below));
  };
  QuantilesRecord record = {.statistic = std::string(statistic), .iterations = total, .nan = nan_};
  if (total == 0) return record;
  record.p1 = quantile(0.01);
  record.p5 = quantile(0.05);
  record.median = quantile(0.5);
  record.p95 = quantile(0.95);
  record.p99 = quantile(0.99);
  return record;
}

ElementErrors::Output& ElementErrors::OutputOf(const std::string& name) {
  const auto known = std::ranges::find(outputs_, name, &Output::name);
  if (known != outputs_.end()) return *known;
  outputs_.push_back({name, 0, {}, {}});
  return outputs_.back();
}

void ElementErrors::Add(const IterationComparison& comparison) {
  for (const OutputComparison& compared : comparison.outputs) {
    if (!WantsElements(compared)) continue;
    Output& output = OutputOf(compared.a_name);
    const auto visit = [&output](const DifferenceBlock& block) {
      output.absolute.Add(block.absolute);
      output.relative.Add(block.relative);
    };
    const bool counted =
        HasAllElements(compared) &&
        VisitDifferences(Elements(compared.a), Elements(compared.aligned_b), compared.measured.rule,
                         0, compared.a.element_count(), visit)
            .ok();
    output.uncounted += counted ? 0 : 1;
  }
}

std::vector<ShardErrors> ElementErrors::Keep(size_t pair) const {
  std::vector<ShardErrors> kept;
  for (const Output& output : outputs_) {
    kept.push_back({.shard = 0,
                    .pair = static_cast<int64_t>(pair),
                    .output = output.name,
                    .uncounted = output.uncounted,
                    .absolute = output.absolute.Keep(),
                    .relative = output.relative.Keep()});
  }
  return kept;
}

Status ElementErrors::Add(const ShardErrors& kept) {
  Output& output = OutputOf(kept.output);
  output.uncounted += kept.uncounted;
  VERNIER_TRY(output.absolute.Add(kept.absolute));
  return output.relative.Add(kept.relative);
}

std::vector<std::string> ElementErrors::AddTo(PairRecord& record) const {
  std::vector<std::string> sentences;
  for (const Output& output : outputs_) {
    const auto known = std::ranges::find(record.outputs, output.name, &OutputRecord::name);
    if (known == record.outputs.end()) continue;
    const std::string of = "output '" + output.name + "': quantiles over all elements ";
    if (output.uncounted > 0) {
      sentences.push_back(of + "are not known: " + Counted(output.uncounted, "iteration") +
                          " left out some of them");
      continue;
    }
    if (output.absolute.empty() && output.relative.empty()) continue;
    for (const auto& [counts, statistic] : {std::pair(&output.absolute, kElementAbsolute),
                                            std::pair(&output.relative, kElementRelative)}) {
      if (!counts->empty()) known->quantiles.push_back(counts->Quantiles(statistic));
    }
    const double rounding = std::max(output.absolute.rounding(), output.relative.rounding());
    if (rounding == 0) continue;
    sentences.push_back(of + "may be too small by up to " + FormatG(100 * rounding, 2) +
                        " % of themselves, for there are more than " +
                        std::to_string(ErrorCounts::kMost) + " different errors");
  }
  return sentences;
}

}  // namespace vernier
