// What decisions are about and what is said about them may not belong together.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "record/schema/gate_text.h"
#include "run/comparison/decision_run.h"

namespace vernier {

std::optional<bool> PairDecisions::AreNamed(const Decided& decided) const {
  return labels_->class_names().AreOf(options_->decisions[decided.plan], decided.classes);
}

// Names of other classes would be worse than numbers.
void PairDecisions::NameClasses(const Decided& decided, DecisionRecord& record) const {
  if (labels_ == nullptr || AreNamed(decided) == false) return;
  const ClassNames& names = labels_->class_names();
  const DecisionKind kind = options_->decisions[decided.plan].kind;
  for (WorstFlip& flip : record.worst) {
    flip.sample.first = names.InWords(kind, flip.sample.first);
    flip.sample.second = names.InWords(kind, flip.sample.second);
  }
  names.Name(record.class_ious);
}

std::vector<std::string> PairDecisions::Doubts() const {
  std::vector<std::string> doubts;
  if (labels_ == nullptr) return doubts;
  doubts = labels_->Doubts();
  std::vector<std::string> misnamed;
  bool any_named = false;
  for (const Decided& decided : decided_) {
    const DecisionPlan& decision = options_->decisions[decided.plan];
    const std::string name = DecisionName(decision.text, decided.output);
    const BoxLabels* const boxes = labels_->BoxesFor(decision, decided.output);
    if (boxes != nullptr) {
      const std::string few = decided.classes ? boxes->TooFew(*decided.classes)
                                              : boxes->NeverTheLast(decided.boxes->last_class());
      if (!few.empty()) doubts.push_back(name + ": " + few);
    }
    const std::optional<bool> named = AreNamed(decided);
    any_named |= named == true;
    if (named != false) continue;
    misnamed.push_back(
        labels_->class_names().WhyNotOf(options_->class_names, *decided.classes, name));
  }
  // Of several outputs they are those of one.
  if (!any_named) std::ranges::move(misnamed, std::back_inserter(doubts));
  return doubts;
}

}  // namespace vernier
