#include "check/properties/trial.h"

#include <algorithm>
#include <utility>

#include "util/text/first_line.h"
#include "util/text/number_text.h"
#include "util/values/plural_text.h"
#include "vernier/compare_options.h"

namespace vernier {

PropertyRecord NotApplicable(std::string why) {
  return {.verdict = PropertyVerdict::kNotApplicable, .detail = std::move(why)};
}

bool Trial::Hold(const std::string& what, const TensorMap& expected,
                 const Result<TensorMap>& found) {
  if (found.ok()) Count();
  return HoldMore(what, expected, found);
}

bool Trial::HoldMore(const std::string& what, const TensorMap& expected,
                     const Result<TensorMap>& found) {
  return found.ok() ? Compare(what, expected, *found) : Break(what, found.status().message());
}

bool Trial::Compare(const std::string& what, const TensorMap& expected, const TensorMap& found) {
  const Agreement agreement = Judge(expected, found);
  if (agreement.closeness == Closeness::kApart) {
    apart_ = true;
    differs_anyway_ = subject_.earlier.runs_differ;
    return Break(what, agreement.where);
  }
  if (agreement.closeness == Closeness::kWithinBound && agreement.times_over >= worst_) {
    worst_ = agreement.times_over;
    where_ = agreement.where + " of " + what;
  }
  return true;
}

Agreement Trial::Judge(const TensorMap& expected, const TensorMap& found) {
  Agreement agreement = HoldAgainst(expected, found, subject_.compare, bounds_);
  const bool stays = agreement.closeness != Closeness::kApart || !allows_rounding_;
  if (stays) return agreement;
  const TensorMap& feed =
      rounded_feed_ != nullptr ? *rounded_feed_ : subject_.samples[sample_].feed;
  const WidenedBounds* const wide = subject_.bench.Widen(feed);
  if (wide == nullptr) return agreement;
  agreement = HoldAgainst(expected, found, subject_.compare, &wide->bounds);
  condition_ = std::max(condition_, wide->condition);
  return agreement;
}

bool Trial::HoldSamples(const std::string& what, const Result<std::vector<TensorMap>>& found) {
  if (!found.ok()) return Break(what, found.status().message());
  ++cases_;
  for (sample_ = 0; sample_ < found->size(); ++sample_) {
    const Sample& sample = subject_.samples[sample_];
    if (!Compare(what + sample.size, sample.outputs, (*found)[sample_])) return false;
  }
  return true;
}

bool Trial::HoldAnew(const std::string& what, const Result<std::vector<TensorMap>>& found,
                     const std::function<Result<std::vector<TensorMap>>()>& plainly) {
  if (HoldSamples(what, found)) return true;
  if (!found.ok()) return false;
  differs_anyway_ |= subject_.earlier.processes_differ;
  if (differs_anyway_) return false;
  const auto plain = plainly ? plainly() : InferAnew(subject_, {});
  if (!plain.ok()) return false;
  const Agreement agreement = Judge(subject_.samples[sample_].outputs, (*plain)[sample_]);
  differs_anyway_ = agreement.closeness == Closeness::kApart;
  return false;
}

bool Trial::Break(const std::string& what, const std::string& how) {
  record_ = {.verdict = PropertyVerdict::kBroken, .detail = how, .smallest_case = what};
  return false;
}

std::string_view Trial::Bound() const {
  const bool automatic = subject_.compare.tolerance.fallback == ToleranceRule::kAuto;
  return automatic ? "rounding may differ by" : "is tolerated";
}

std::string Trial::Condition() const {
  return condition_ > 1 ? ", ill-conditioned: κ = " + FormatG(condition_, 3) : "";
}

PropertyRecord Trial::Finish(std::string_view cases, const std::string& sizes) {
  if (differs_anyway_) {
    return NotApplicable(
        "other outputs come of another process, or of another run, whatever is tried there: see "
        "fresh-session and repeated-runs");
  }
  if (record_.verdict == PropertyVerdict::kBroken) return record_;
  if (cases_ == 0) return NotApplicable("nothing could be tried");
  record_.verdict = PropertyVerdict::kHolds;
  record_.detail = std::to_string(cases_) + " " + std::string(cases) +
                   (worst_ < 0 ? ", the same bits"
                               : ", up to " + FormatG(worst_, 3) + " times what " +
                                     std::string(Bound()) + Condition() + " (" + where_ + ")") +
                   (sizes.empty() ? "" : "; " + sizes);
  record_.times_over = std::max(worst_, 0.0);
  record_.condition = condition_;
  return record_;
}

int64_t CountLater(const Subject& subject) {
  return static_cast<int64_t>(subject.samples.front().later.outputs.size());
}

std::string WithLater(const Subject& subject, std::string said) {
  if (!subject.probe->runner().keeps_state()) return said;
  const Status& failure = subject.samples.front().later.failure;
  const std::string count = Counted(CountLater(subject) + 1, "inference") + " after each reset";
  const std::string why =
      failure.ok() ? "" : ", as the next one fails: " + FirstLine(failure.message());
  return said + (said.empty() ? "" : "; ") + count + why;
}

Result<std::vector<TensorMap>> InferSamples(const Subject& subject, Probe& probe) {
  std::vector<TensorMap> outputs;
  for (const Sample& sample : subject.samples) {
    VERNIER_ASSIGN_OR_RETURN(TensorMap some, probe.Infer(sample.feed));
    outputs.push_back(std::move(some));
  }
  return outputs;
}

Result<std::vector<TensorMap>> InferAnew(const Subject& subject,
                                         const Circumstances& circumstances) {
  VERNIER_ASSIGN_OR_RETURN(const std::unique_ptr<Probe> probe, subject.runner.Open(circumstances));
  VERNIER_ASSIGN_OR_RETURN(std::vector<TensorMap> outputs, InferSamples(subject, *probe));
  VERNIER_TRY(probe->Close());
  return outputs;
}

}  // namespace vernier
