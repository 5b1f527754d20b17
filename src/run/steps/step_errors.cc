#include "run/steps/step_errors.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace vernier {
namespace {

using MaybeFit = std::optional<ErrorGrowth::Fit>;

// `times`: by how much the RMS of the elements that count is larger than that of all.
void Fit(const StepPosition& at, const StepErrors::Error& error, double times,
         ErrorGrowth& growth) {
  growth.Add(at.sequence, at.step, error.rms * times, error.relative * times, error.roundoff);
}

// 1: it grows; -1: it dies out; 0: neither.
int TrendOf(const StepErrors::Slope& slope) {
  if (std::abs(slope.fit.slope) <= slope.limit) return 0;
  return slope.fit.slope > 0 ? 1 : -1;
}

StepErrors::Slope ClaimsLess(const StepErrors::Slope& plain, const StepErrors::Slope& scaled) {
  const auto claim = [](const StepErrors::Slope& slope) {
    return std::pair(TrendOf(slope) != 0, std::abs(slope.fit.slope));
  };
  StepErrors::Slope less = claim(plain) < claim(scaled) ? plain : scaled;
  if (TrendOf(plain) * TrendOf(scaled) < 0) less.limit = std::abs(less.fit.slope);
  return less;
}

std::optional<StepErrors::Slope> SlopeOf(const MaybeFit& fit, const ErrorGrowth::Family& family,
                                         bool scaled) {
  if (!fit) return std::nullopt;
  return StepErrors::Slope{*fit, fit->Limit(family), scaled};
}

std::optional<StepErrors::Slope> SlopeOfBoth(const MaybeFit& plain, const MaybeFit& scaled,
                                             const ErrorGrowth::Family& family) {
  if (!plain || !scaled) return std::nullopt;
  return ClaimsLess(*SlopeOf(plain, family, false), *SlopeOf(scaled, family, true));
}

}  // namespace

void StepErrors::Add(const StepPosition& position, int64_t elements, bool of_reference,
                     const Error& error) {
  Fit(position, error, 1, plain_);
  if (of_reference) return AddOfReference(position, elements, error);
  longer_ |= last_ && last_->sequence == position.sequence && elements > elements_;
  elements_ = elements;
  last_ = position;
  const double norm = error.rms * std::sqrt(static_cast<double>(elements));
  scaled_.Add(position.sequence, position.step, norm, error.relative, error.roundoff);
}

void StepErrors::AddOfReference(const StepPosition& position, int64_t elements,
                                const Error& error) {
  const bool begins = !last_ || last_->sequence != position.sequence;
  if (begins) {
    scaled_ = Scaled();
    held_ = Step{position, error};
    new_ = 0;
  } else if (last_->step + 1 == position.step && elements > elements_) {
    new_ = elements - elements_;
    longer_ = true;
  }
  elements_ = elements;
  last_ = position;
  if (begins) return;
  const std::optional<Step> first = std::exchange(held_, std::nullopt);
  if (first && new_ == 0) Fit(first->position, first->error, 1, scaled_);
  const double all = new_ == 0 ? 1 : static_cast<double>(elements) / static_cast<double>(new_);
  Fit(position, error, std::sqrt(std::max(all, 1.0)), scaled_);
}

ErrorGrowth StepErrors::Scaled() const {
  ErrorGrowth growth = scaled_;
  if (held_) Fit(held_->position, held_->error, 1, growth);
  return growth;
}

std::optional<StepErrors::Slope> StepErrors::Growth(const ErrorGrowth::Family& family) const {
  if (!longer_) return SlopeOf(plain_.Get(), family, false);
  return SlopeOfBoth(plain_.Get(), Scaled().Get(), family);
}

std::optional<StepErrors::Slope> StepErrors::LateGrowth(const ErrorGrowth::Family& family) const {
  if (!longer_) return SlopeOf(plain_.GetLate(), family, false);
  return SlopeOfBoth(plain_.GetLate(), Scaled().GetLate(), family);
}

}  // namespace vernier
