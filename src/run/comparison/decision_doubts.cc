// What decisions are about and what is said about them may not belong together.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "record/gate_text.h"
#include "run/comparison/decision_run.h"

namespace vernier {

std::optional<bool> PairDecisions::AreNamed(const Decided& decided) const {
  const ClassNames& names = labels_->class_names();
  const DecisionPlan& decision = options_->decisions[decided.plan];
  // Of a threshold's single value the classes are yes and no, which need no name.
  const bool is_single = decision.kind == DecisionKind::kThreshold && decided.classes == 2;
  if (names.empty() || !decided.classes || is_single) return std::nullopt;
  const auto known = static_cast<int64_t>(names.size());
  const bool blank_last = decision.kind == DecisionKind::kCtc &&
                          (decision.blank == -1 || decision.blank == *decided.classes - 1);
  return known == *decided.classes || (blank_last && known == *decided.classes - 1);
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
  if (names.empty()) return;
  for (ClassIouRecord& of : record.class_ious) {
    of.name = names.InWords(kind, std::to_string(of.category));
  }
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
    misnamed.push_back("--class-names '" + options_->class_names + "' has " +
                       std::to_string(labels_->class_names().size()) + " names for the " +
                       std::to_string(*decided.classes) + " classes of " + name +
                       ", which stay numbers: give a line for each class, that of class 0 first");
  }
  // Of several outputs they are those of one.
  if (!any_named) std::ranges::move(misnamed, std::back_inserter(doubts));
  return doubts;
}

}  // namespace vernier
