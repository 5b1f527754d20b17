// Samples get their labels, iteration by iteration, and faults of labels become sentences.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "decide/labels/label_scores.h"
#include "run/labels/sample_labels.h"
#include "util/text/number_text.h"
#include "util/values/plural_text.h"

namespace vernier {

ScoredSamples ScoreSamples(const SampleLabels& labels, const DecisionPlan& decision,
                           int64_t iteration, int64_t before, const ScoredOutputs& outputs,
                           std::vector<DecisionSample>& samples) {
  ScoredSamples scored;
  scored.fault =
      labels.OtherOrder(decision, iteration, outputs, static_cast<int64_t>(samples.size()));
  if (!scored.fault.empty()) return scored;
  const Result<std::vector<Label>> given =
      labels.Of(decision.kind, iteration, before, static_cast<int64_t>(samples.size()));
  if (!given.ok()) {
    scored.fault = given.status().message();
    return scored;
  }
  for (size_t i = 0; i < given->size(); ++i) {
    const auto row = static_cast<int64_t>(i);
    const Status fits = ScoreSample(decision, (*given)[i], outputs, row, samples[i]);
    if (!fits.ok()) scored.unfit.push_back({row, fits.message()});
  }
  return scored;
}

// How many samples there were before these; nullopt: that is not known.
std::optional<int64_t> LabelTrack::Enter(int64_t iteration, size_t samples) {
  const bool in_order = labels_->by_iteration() || iteration == next_iteration_;
  if (!in_order) {
    Note("iteration " + std::to_string(next_iteration_) +
         " was not decided, so the labels after it cannot be assigned to samples");
    return std::nullopt;
  }
  next_iteration_ = iteration + 1;
  // Labels of files that were skipped are passed: as many as this one has.
  const int64_t passed = labels_->PlaceOf(iteration) - next_place_;
  if (passed < 0) {
    Note("iteration " + std::to_string(iteration) +
         " is of an image before the one of the last iteration, so it is unknown which labels "
         "are its own");
    return std::nullopt;
  }
  next_place_ += passed + 1;
  last_samples_ = static_cast<int64_t>(samples);
  samples_ += passed * last_samples_;
  iterations_ += passed + 1;
  return std::exchange(samples_, samples_ + static_cast<int64_t>(samples));
}

void LabelTrack::Score(const DecisionPlan& decision, int64_t iteration,
                       const ScoredOutputs& outputs, std::vector<DecisionSample>& samples) {
  if (labels_ == nullptr) return;
  classes_ =
      outputs.first == nullptr ? outputs.classes : CountClasses(decision, outputs.first->dims());
  const std::optional<int64_t> before = Enter(iteration, samples.size());
  if (!before) return;
  NoteUnfit(iteration, *before,
            ScoreSamples(*labels_, decision, iteration, *before, outputs, samples));
}

Status LabelTrack::ScoreKept(const DecisionPlan& decision, int64_t iteration,
                             const ShardDecision& kept, std::vector<DecisionSample>& samples) {
  if (labels_ == nullptr) return {};
  classes_ = kept.row.classes;
  const std::optional<int64_t> before = Enter(iteration, samples.size());
  if (!kept.scores) {
    const ScoredOutputs outputs{nullptr, nullptr, kept.row.classes};
    if (!before) return {};
    NoteUnfit(iteration, *before,
              ScoreSamples(*labels_, decision, iteration, *before, outputs, samples));
    return {};
  }
  if (!before) {
    for (DecisionSample& sample : samples) RemoveLabel(sample);
    return {};
  }
  const int64_t place = labels_->by_iteration() ? labels_->PlaceOf(iteration) : *before;
  if (!labels_->of_images() && place != kept.scores->place) {
    return Malformed(
        labels_->name() + ": the shard of iteration " + std::to_string(iteration) +
        " scored outputs with the labels of other samples, because iterations differ in their "
        "number of samples or images were skipped: run this without --shard");
  }
  NoteUnfit(iteration, *before, {kept.scores->fault, kept.scores->unfit});
  return {};
}

void LabelTrack::NoteUnfit(int64_t iteration, int64_t before, const ScoredSamples& scored) {
  if (!scored.fault.empty()) Note(scored.fault);
  for (const auto& [sample, why] : scored.unfit) {
    ++unfit_;
    Note("the label of sample " + std::to_string(sample) + " of iteration " +
         std::to_string(iteration) + labels_->WhereIs(before + sample) + " " + why);
  }
}

void LabelTrack::Note(const std::string& fault) {
  if (fault_.empty()) fault_ = fault;
}

std::string LabelTrack::Fault(const DecisionPlan& decision) const {
  if (labels_ == nullptr) return "";
  const int64_t passed = std::max<int64_t>(labels_->files() - next_place_, 0);
  const std::string wrong =
      labels_->WrongCount(decision.kind, samples_ + passed * last_samples_, iterations_ + passed);
  if (!wrong.empty()) {
    return labels_->name() + ": " + wrong + (fault_.empty() ? "" : "; " + fault_);
  }
  if (classes_) {
    const std::string other = labels_->WrongClasses(*classes_);
    if (!other.empty()) return labels_->name() + ": " + other;
  }
  if (fault_.empty()) return "";
  const std::string more = unfit_ > 1 ? ", and " + std::to_string(unfit_ - 1) + " more" : "";
  return labels_->name() + ": " + fault_ + more;
}

}  // namespace vernier
