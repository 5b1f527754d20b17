// The tokens that the sides of a pair choose from step to step (--decode).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "run/comparison/agreement_curve.h"
#include "run/steps/step_timeline.h"
#include "vernier/decode_record.h"
#include "vernier/input_plan.h"
#include "vernier/row_record.h"
#include "vernier/tensor.h"

namespace vernier {

class PairTokens {
 public:
  PairTokens() = default;
  /// `given`: all are fed with tokens that no runner chose. `whole`: what compares them takes whole
  /// outputs, whichever prompts have ended.
  explicit PairTokens(const StepPlan& plan, bool given = false, bool whole = false)
      : forced_(given || plan.state == StateSource::kReference),
        whole_(whole),
        stop_(plan.decode_stop) {}

  /// Before Note(): are both fed with the same tokens?
  void SetForced(bool forced) { forced_ = forced; }

  /// The logits of a step as the runners gave them; null where one has none.
  struct Logits {
    const Tensor* first;
    const Tensor* second;
    const Tensor* fed = nullptr;  ///< of whom all are fed with the tokens; null: the first side
    /// The tokens that all are fed with, where they are given; kNoChoice: none.
    std::optional<std::vector<int64_t>> given = {};
  };
  /// The next iteration, in order. What cannot be found is counted, see missed().
  void Note(int64_t iteration, const StepPosition& position, const std::string& name,
            const Logits& logits);

  /// Has a prompt of this sequence diverged at a step before this one, so that the sides have
  /// different histories? Never with forced tokens.
  bool IsAfterDivergence(const StepPosition& position) const;
  /// Have all prompts of this sequence ended at a step before this one, on both sides? Their
  /// outputs mean nothing then.
  bool IsAfterEnd(const StepPosition& position) const;
  /// Is this iteration, which was noted, the last that is compared of a prompt, since it ends on
  /// both sides or parts there?
  bool IsLastOfPrompt(int64_t iteration) const { return lasts_.contains(iteration); }
  /// Was no step of any sequence compared but the first, to which nothing was fed back?
  bool saw_only_first_steps() const { return !saw_later_step_; }
  /// An iteration that was noted and not compared, for a divergence or for the end of all prompts.
  void LeaveOut(int64_t iteration, const StepPosition& position);
  /// Of logits that were compared.
  struct Verdict {
    bool within = false;  ///< their tolerance
    /// They were judged element by element, or by the class that is largest. A metric over all of
    /// them shows nothing about two tokens: then the margins decide what is a near tie.
    bool by_element = true;
  };
  /// An iteration that was noted and compared; nullopt: its logits were not, so that near ties
  /// are unknown.
  void Judge(int64_t iteration, std::optional<Verdict> logits);

  /// Null where nothing was noted, or that is several iterations ago.
  const TokensOfStep* At(int64_t iteration) const;
  /// The prompts of an iteration that have not ended before it, on both sides; null if all
  /// continue, or the iteration is unknown to At() or not compared.
  const std::vector<int64_t>* GoingOnAt(int64_t iteration) const;

  int64_t left_out() const { return record_.steps_after + record_.steps_after_end; }
  /// Iterations whose tokens could not be found, and why, of the first.
  int64_t missed() const { return missed_; }
  const std::string& why_missed() const { return why_missed_; }
  /// Of the divergences that were not judged those whose margins are no near tie.
  int64_t clear_not_judged() const { return clear_not_judged_; }

  /// nullopt where nothing was noted.
  std::optional<DecodeRecord> Record() const;

 private:
  struct Prompt {
    int64_t agreeing = 0;  // before the first that differs
    bool diverged = false;
    bool first_ended = false;
    bool second_ended = false;
    bool one_ended = false;  // before the token at hand
  };
  void Miss(const std::string& why);
  bool TakeRow(Prompt& prompt, int64_t fed, int64_t& first, int64_t& second) const;
  void AddRow(int64_t iteration, const StepPosition& position, size_t row, const Logits& logits,
              const TokensOfStep& tokens);
  void KeepGoingOn(int64_t iteration, std::vector<int64_t> rows, const TokensOfStep& tokens);
  int64_t CountEnded() const;
  void BeginSequence(int64_t sequence);
  void EndPrompts();
  void ForgetBefore(int64_t iteration);
  // A divergence that waits for its judgement.
  struct Open {
    DivergenceRecord divergence;
    /// Both margins are at most six times as large as the RMS difference of the row's other values,
    /// or what the default tolerances allow.
    bool is_close = false;
    bool other_vocabulary = false;  ///< then equal tokens do not mean the same
  };
  void SettleOne(DivergenceRecord divergence, const char* kind, int64_t DecodeRecord::*count);
  void Settle(int64_t iteration, const char* kind, int64_t DecodeRecord::*count);

  bool forced_ = false;
  bool whole_ = false;
  std::optional<int64_t> stop_;
  int64_t sequence_ = -1;
  // What is kept grows with the steps of a sequence, not with the number of sequences.
  std::vector<Prompt> prompts_;       // of the sequence at hand
  std::map<int64_t, int64_t> until_;  // of those before it: agreeing tokens, and how many have so
  std::map<int64_t, int64_t> parted_at_;  // sequence, step; of the last ones
  std::map<int64_t, int64_t> ended_at_;   // likewise
  std::set<int64_t> lasts_;               // see IsLastOfPrompt()
  std::map<int64_t, TokensOfStep> steps_;
  std::map<int64_t, std::vector<int64_t>> going_on_;  // by iteration
  std::map<int64_t, std::vector<Open>> open_;         // by iteration
  DecodeRecord record_;
  AgreementCurve agreement_;
  int64_t clear_not_judged_ = 0;
  bool saw_later_step_ = false;
  int64_t missed_ = 0;
  std::string why_missed_;
};

}  // namespace vernier
