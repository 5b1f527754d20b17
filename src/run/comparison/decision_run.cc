#include "run/comparison/decision_run.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include "compare/functions/comparison.h"
#include "decide/gates/decision_gates.h"
#include "decide/kinds/decision.h"
#include "decide/labels/label_scores.h"
#include "record/schema/gate_text.h"
#include "run/parts/kept_labels.h"
#include "util/text/number_text.h"
#include "util/values/plural_text.h"
#include "vernier/compare_options.h"

namespace vernier {
namespace {

// docs/decisions.md has these rules.
std::string NearTieRuleOf(const DecisionOptions& options, bool all_bounded, bool any_bounded) {
  if (options.near_tie) return "--near-tie " + FormatG(*options.near_tie, 4);
  if (all_bounded) return "the error bound";
  return any_bounded ? "the error bound, or the noise of the other values where there is none"
                     : "the noise of the other values";
}

// A margin of 0 that two steps of the numbers turned around is a tie by any rule, and without a
// margin a flip is clear by any. Clear flips that a bound proves nothing about are marked before,
// see DecideSubject; near ties are by NearTieRule::Judge().
void MarkDoubts(ShardDecision& decided) {
  for (DecisionSample& sample : decided.row.samples) {
    const bool is_tie =
        sample.flip == Flip::kNearTie && (sample.first_margin != 0 || sample.over_bound);
    const bool by_steps = is_tie && sample.first_margin != 0 && !decided.bounded;
    const bool is_clear = sample.flip == Flip::kClear && sample.first_margin >= 0;
    sample.by_noise = (is_tie || is_clear) && !decided.bounded;
    sample.over_bound =
        (is_tie && decided.over_bound) || ((is_clear || by_steps) && sample.over_bound);
  }
}

// "--decision logits:top1".
std::string WordsOf(const DecisionPlan& plan) {
  return "--decision " + (plan.output.empty() ? "" : plan.output + ":") + plan.text;
}

}  // namespace

JudgeRule JudgeOf(const RunPlan& plan) {
  if (plan.decisions.judge != JudgeRule::kUnsaid) return plan.decisions.judge;
  if (!plan.decisions.has_gates()) return JudgeRule::kElements;
  const auto given = [](const auto& values) { return values.fallback || !values.entries.empty(); };
  const CompareOptions& compare = plan.compare;
  const bool elements = given(compare.rtol) || given(compare.atol) || given(compare.tolerance) ||
                        given(compare.check_error_stat) || compare.check_average ||
                        compare.functions != CompareOptions().functions ||
                        plan.compare_script.given();
  return elements ? JudgeRule::kBoth : JudgeRule::kDecisions;
}

Indirect<CompareOptions> OptionsToCompare(const RunPlan& plan) {
  Indirect<CompareOptions> options = plan.compare;
  options->fail_fast &= JudgeOf(plan) != JudgeRule::kDecisions;
  return options;
}

std::string_view JudgeName(JudgeRule rule) {
  constexpr std::array<std::string_view, 4> kNames = {"elements", "elements", "decisions", "both"};
  return kNames[static_cast<size_t>(rule)];
}

PairDecisions::PairDecisions(const DecisionOptions& options, const RunLabels* labels, int64_t seed)
    : options_(&options),
      labels_(labels),
      seed_(static_cast<uint64_t>(seed)),
      asked_(options.decisions.size()) {}

// One of every output leaves to another one the output that this names.
bool PairDecisions::IsAbout(size_t plan, const std::string& output) const {
  const DecisionPlan& decision = options_->decisions[plan];
  if (!decision.output.empty()) return decision.output == output;
  return std::ranges::none_of(options_->decisions, [&](const DecisionPlan& other) {
    return !other.output.empty() && other.output == output && other.text == decision.text;
  });
}

std::string PairDecisions::WhyNot(size_t plan, const Subject& subject) const {
  for (const NamedTensor* side : {&subject.first, &subject.second}) {
    const std::string why = WhyNotDecision(options_->decisions[plan], side->tensor);
    if (!why.empty()) return "output '" + side->name + "' is " + why;
  }
  return "";
}

bool PairDecisions::HalfFits(const DecisionPlan& decision, const Subject& subject) {
  return WhyNotDecision(decision, subject.first.tensor).empty() !=
         WhyNotDecision(decision, subject.second.tensor).empty();
}

// Of an iteration in which no output of the decision was paired.
std::string PairDecisions::WhyNone(size_t plan, const MatchedSides& sides) const {
  const std::string& name = options_->decisions[plan].output;
  if (name.empty()) {
    // Outputs that are named have decisions of their own.
    const auto own = std::ranges::find_if(options_->decisions, [&](const DecisionPlan& other) {
      return !other.output.empty() && other.text == options_->decisions[plan].text;
    });
    if (own == options_->decisions.end()) return "no output fits";
    return "no other output fits, and " + own->output + ":" + own->text +
           " is given as well: leave one of the two out";
  }
  const bool there = Find(sides.a().outputs, name) != nullptr;
  return there ? "output '" + name + "' has no counterpart" : "there is no output '" + name + "'";
}

PairDecisions::Decided& PairDecisions::FoldOf(size_t plan, const std::string& output) {
  auto at = decided_.begin();
  for (; at != decided_.end() && at->plan <= plan; ++at) {
    if (at->plan == plan && at->output == output) return *at;
  }
  const DecisionPlan& decision = options_->decisions[plan];
  DecisionFold fold(output, decision.text, options_->worst_flips,
                    ChangeWorthSeeing(*options_, output, decision.text));
  LabelTrack labels(labels_ == nullptr ? nullptr : labels_->For(decision, output));
  Decided decided{plan, output, std::move(fold), std::move(labels)};
  const BoxLabels* const boxes = labels_ == nullptr ? nullptr : labels_->BoxesFor(decision, output);
  if (boxes != nullptr) decided.boxes.emplace(*boxes, decision);
  return *decided_.insert(at, std::move(decided));
}

void PairDecisions::LabelRow(Decided& decided, int64_t iteration, const MatchedSides& sides,
                             DecisionRow& row) {
  for (const OutputPair& outputs : sides.pairing.pairs) {
    const NamedTensor& first = sides.a().outputs[outputs.a];
    if (first.name != row.output) continue;
    const NamedTensor& second = sides.b().outputs[outputs.b];
    if (decided.boxes) decided.boxes->Add(iteration, first.tensor, second.tensor);
    decided.labels.Score(options_->decisions[decided.plan], iteration,
                         {&first.tensor, &second.tensor}, row.samples);
    return;
  }
}

// The shard compared labels with maps, and detected the boxes that labels are compared with.
Status PairDecisions::LabelKept(Decided& decided, int64_t iteration, ShardDecision& kept) {
  if (decided.boxes) decided.boxes->Add(iteration, DetectionsOf(kept));
  return decided.labels.ScoreKept(options_->decisions[decided.plan], iteration, kept,
                                  kept.row.samples);
}

Status PairDecisions::DecideOne(size_t plan, const DecidedSides& given, ShardDecided& made) const {
  const MatchedSides& sides = given.sides;
  const DecisionPlan& decision = options_->decisions[plan];
  std::string& why = made.why;
  bool any = false;
  std::string unfit;
  for (const OutputPair& outputs : sides.pairing.pairs) {
    const Subject subject{sides.a().outputs[outputs.a], sides.b().outputs[outputs.b]};
    if (!IsAbout(plan, subject.first.name)) continue;
    if (std::string no = WhyNot(plan, subject); !no.empty()) {
      // What one side decides and the other cannot was to be decided.
      std::string& reason = HalfFits(decision, subject) ? why : unfit;
      if (reason.empty()) reason = std::move(no);
      continue;
    }
    any = true;
    if (given.device != nullptr) {
      VERNIER_TRY(given.device->Fetch(subject.first.tensor));
      VERNIER_TRY(given.device->Fetch(subject.second.tensor));
    }
    Result<ShardDecision> one = DecideSubject(plan, given, subject);
    if (!one.ok()) {
      if (why.empty()) why = "output '" + subject.first.name + "': " + one.status().message();
      continue;
    }
    made.outputs.push_back(*std::move(one));
  }
  if (!any && why.empty()) why = unfit.empty() ? WhyNone(plan, sides) : unfit;
  return {};
}

// The function sees all outputs of a side, under that side's names.
Status PairDecisions::DecideByScript(size_t plan, int64_t iteration, const DecidedSides& given,
                                     ShardDecided& made) const {
  const DecisionPlan& decision = options_->decisions[plan];
  ScriptClient* const script = plan < given.scripts.size() ? given.scripts[plan] : nullptr;
  if (script == nullptr) {
    made.why = "the script was not opened";
    return {};
  }
  for (const IterationResult* side : {&given.sides.a(), &given.sides.b()}) {
    if (given.device == nullptr) break;
    for (const NamedTensor& output : side->outputs) {
      VERNIER_TRY(given.device->Fetch(output.tensor));
    }
  }
  VERNIER_ASSIGN_OR_RETURN(ScriptDecisions decided,
                           script->Decide(given.sides.a(), given.sides.b(), iteration));
  made.why = std::move(decided.why);
  if (!made.why.empty()) return {};
  const std::string subject(decision.subject());
  made.outputs.emplace_back().row = {subject, decision.text, std::move(decided.samples)};
  return {};
}

Result<std::vector<ShardDecided>> PairDecisions::Decide(int64_t iteration,
                                                        const DecidedSides& given) const {
  std::vector<ShardDecided> all(asked_.size());
  for (size_t plan = 0; plan < asked_.size(); ++plan) {
    const bool by_script = options_->decisions[plan].kind == DecisionKind::kScript;
    VERNIER_TRY(by_script ? DecideByScript(plan, iteration, given, all[plan])
                          : DecideOne(plan, given, all[plan]));
  }
  return all;
}

Result<std::vector<DecisionRow>> PairDecisions::FoldOne(size_t plan, int64_t iteration,
                                                        int64_t step, ShardDecided made,
                                                        const MatchedSides* sides) {
  std::string& why = made.why;
  const size_t known = decided_.size();
  for (const ShardDecision& one : made.outputs) {
    Decided& decided = FoldOf(plan, one.row.output);
    decided.all_bounded &= one.bounded;
    decided.any_bounded |= one.bounded;
  }
  // Nothing was decided about an output that was not there before.
  if (Asked& earlier = asked_[plan]; decided_.size() > known && earlier.iterations > 0) {
    earlier.missed = earlier.iterations;
    if (earlier.why.empty()) {
      earlier.why = "an output fits from iteration " + std::to_string(iteration) + " on";
    }
  }
  std::vector<DecisionRow> rows;
  for (ShardDecision& one : made.outputs) {
    Decided& decided = FoldOf(plan, one.row.output);
    if (sides != nullptr) LabelRow(decided, iteration, *sides, one.row);
    if (sides == nullptr) {
      VERNIER_TRY(RestoreExtras(one));
      VERNIER_TRY(LabelKept(decided, iteration, one));
    }
    if (!decided.classes) decided.classes = one.row.classes;
    if (!options_->near_tie) MarkDoubts(one);
    decided.fold.Add(iteration, step, one.row.samples);
    decided.last_iteration = iteration;
    rows.push_back(std::move(one.row));
  }
  for (const Decided& decided : decided_) {
    if (decided.plan != plan || decided.last_iteration == iteration || !why.empty()) continue;
    why = "output '" + decided.output + "' was not paired";
  }
  Asked& asked = asked_[plan];
  ++asked.iterations;
  if (!why.empty() && asked.missed++ == 0) asked.why = why;
  return rows;
}

Result<std::vector<DecisionRow>> PairDecisions::Fold(int64_t iteration, int64_t step,
                                                     std::vector<ShardDecided> decided,
                                                     const MatchedSides* sides) {
  std::vector<DecisionRow> all;
  for (size_t plan = 0; plan < std::min(asked_.size(), decided.size()); ++plan) {
    VERNIER_ASSIGN_OR_RETURN(std::vector<DecisionRow> rows,
                             FoldOne(plan, iteration, step, std::move(decided[plan]), sides));
    std::ranges::move(rows, std::back_inserter(all));
  }
  return all;
}

void PairDecisions::AddTo(PairRecord& record) const {
  for (const Decided& decided : decided_) {
    DecisionRecord& decision = record.decisions.emplace_back(decided.fold.FinalRecord(seed_));
    if (decided.boxes) decision.precision = decided.boxes->Record(seed_);
    decision.near_tie_from_bound = decided.all_bounded && !options_->near_tie;
    decision.near_tie_rule = NearTieRuleOf(*options_, decided.all_bounded, decided.any_bounded);
    NameClasses(decided, decision);
    std::ranges::move(JudgeDecision(decision, *options_),
                      std::back_inserter(record.decision_gates));
  }
}

std::vector<std::string> PairDecisions::Missing() const {
  std::vector<std::string> sentences;
  for (size_t plan = 0; plan < asked_.size(); ++plan) {
    const Asked& asked = asked_[plan];
    const bool any = std::ranges::any_of(decided_, [&](const Decided& decided) {
      return decided.plan == plan && decided.fold.Record().samples > 0;
    });
    const std::string why = asked.why.empty() ? "" : ": " + asked.why;
    if (!any) {
      const std::string none = asked.iterations == 0 ? ": no iteration was compared"
                               : why.empty()         ? ": the outputs hold no sample"
                                                     : why;
      sentences.push_back(WordsOf(options_->decisions[plan]) + ": nothing was decided" + none);
    } else if (asked.missed > 0) {
      sentences.push_back(WordsOf(options_->decisions[plan]) + ": not everything was decided in " +
                          CountedOf(asked.missed, asked.iterations, "iteration") + why);
    }
  }
  return sentences;
}

// Of what was to be decided and could not be, that is the fault. Scripts decide about all outputs.
bool PairDecisions::LeavesToElements(const std::string& output) const {
  if (options_->judge != JudgeRule::kUnsaid) return false;
  bool is_decided = false, any_script = false;
  for (const Decided& decided : decided_) {
    const DecisionPlan& decision = options_->decisions[decided.plan];
    const bool by_script = decision.kind == DecisionKind::kScript;
    is_decided |= decided.output == output;
    any_script |= by_script;
    if (decided.output != output && !by_script) continue;
    DecisionRecord named;
    named.output = decided.output;
    named.kind = decision.text;
    if (!JudgeDecision(named, *options_).empty()) return false;
  }
  return std::ranges::none_of(options_->decisions, [&](const DecisionPlan& asked) {
    return (asked.kind == DecisionKind::kScript && !any_script) ||
           (asked.output == output && !is_decided);
  });
}

std::vector<std::string> PairDecisions::IdleGates() const {
  std::vector<std::string> sentences;
  for (const auto& [output, limit] : options_->max_flip_rate.entries) {
    const bool used = std::ranges::any_of(decided_, [&](const Decided& decided) {
      return NamesRate(output, decided.output, options_->decisions[decided.plan].text);
    });
    if (used) continue;
    sentences.push_back("--max-flip-rate " + output +
                        ": no decision was made about that output (expected [OUTPUT:]R, KIND:R or "
                        "OUTPUT:KIND:R, as logits:top1:0.01)");
  }
  for (const auto& [name, limit] : options_->max_drop.entries) {
    const bool used = std::ranges::any_of(decided_, [&](const Decided& decided) {
      const DecisionPlan& decision = options_->decisions[decided.plan];
      return NamesMetric(name, decided.output, decision.text) &&
             LabelsFor(*options_, decision.kind, decided.output) != nullptr;
    });
    if (used) continue;
    sentences.push_back("--max-drop " + name + ": no decision with labels has that name");
  }
  return sentences;
}

std::vector<std::string> PairDecisions::UnfitLabels() const {
  std::vector<std::string> sentences;
  for (const Decided& decided : decided_) {
    const DecisionPlan& decision = options_->decisions[decided.plan];
    std::string fault = decided.boxes ? decided.boxes->Fault() : decided.labels.Fault(decision);
    if (decided.boxes && decided.classes) {
      const std::string many =
          labels_->BoxesFor(decision, decided.output)->OtherClasses(*decided.classes);
      if (!many.empty()) fault = many;
    }
    if (fault.empty()) continue;
    sentences.push_back(DecisionName(decision.text, decided.output) + ": " + fault);
  }
  for (const LabelsPlan& labels : options_->labels) {
    const bool used = std::ranges::any_of(decided_, [&](const Decided& decided) {
      const DecisionPlan& decision = options_->decisions[decided.plan];
      return LabelsFor(*options_, decision.kind, decided.output) == &labels;
    });
    if (used) continue;
    sentences.push_back("--labels '" + (labels.output.empty() ? "" : labels.output + ":") +
                        labels.path + "': no decision was made that they are for");
  }
  return sentences;
}

std::vector<int64_t> PairDecisions::WorstIterations() const {
  std::set<int64_t> iterations;
  for (const Decided& decided : decided_) {
    for (const WorstFlip& flip : decided.fold.worst()) iterations.insert(flip.iteration);
  }
  return {iterations.begin(), iterations.end()};
}

void PairDecisions::AddWorst(std::vector<const WorstFlip*>& worst) const {
  for (const Decided& decided : decided_) {
    for (const WorstFlip& flip : decided.fold.worst()) worst.push_back(&flip);
  }
}

}  // namespace vernier
