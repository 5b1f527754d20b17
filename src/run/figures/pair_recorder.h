// What the record keeps of the comparisons of one pair of runners.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compare/functions/tally.h"
#include "kernels/classes/token_losses.h"
#include "run/figures/error_counts.h"
#include "run/figures/iteration_quantiles.h"
#include "run/figures/logits_total_gate.h"
#include "run/figures/logits_totals.h"
#include "run/figures/output_figures.h"
#include "vernier/row_record.h"
#include "vernier/run_record.h"

namespace vernier {

struct IterationComparison;
struct OutputComparison;

class PairRecorder {
 public:
  PairRecorder(std::string first, std::string second, Charts charts);

  /// Folds the next iteration, which has this index, and gives the rows of its outputs.
  std::vector<OutputRow> Add(const IterationComparison& comparison, int64_t index);

  /// The same of an iteration whose rows are there already, one for each output: of the comparison
  /// neither tensors nor measures are looked at. `figures_of` gives those of an output, by its
  /// place, where the iteration is the worst so far.
  using FiguresOf = std::function<OutputFigures(size_t place)>;
  void Fold(const IterationComparison& comparison, std::span<const OutputRow> rows, int64_t index,
            const FiguresOf& figures_of);

  /// What was folded so far, without what Finish() adds.
  const PairRecord& record() const { return record_; }

  const ComparisonTally& tally() const { return tally_; }

  /// Of what is recorded with charts: those of Fold() have to be added.
  const ElementErrors& errors() const { return errors_; }
  Status AddErrors(const ShardErrors& kept) { return errors_.Add(kept); }

  /// `expected_iterations`: asked for, or of the longer side. Of those without an output on either
  /// side none counts as compared.
  PairRecord Finish(int64_t expected_iterations) const;

  /// Outputs without a partner on either side, in any iteration.
  bool one_sided() const {
    return !record_.only_in_first.empty() || !record_.only_in_second.empty();
  }
  /// The first iteration in which there were some; -1: there is none.
  int64_t one_sided_since() const { return one_sided_since_; }
  /// An iteration in which nothing could be compared although there were outputs.
  bool compared_nothing() const { return compared_nothing_; }
  /// Positions of iterations in which a mask left nothing of the output out. They count where it
  /// leaves out something in another one: Finish() has added them then.
  int64_t WholePositions(std::string_view output) const;
  /// The gates of --compare logits over all iterations of the output.
  const LogitsTotalGate* LogitsGateOf(std::string_view output) const;
  /// The iteration that was added last is the first step of a sequence: a state of zeros may well
  /// give nothing but zeros.
  void NoteFirstStep(const IterationComparison& comparison);
  /// How many iterations of the output show nothing for the values that they have, where another
  /// one shows something: "in 1 of 300 iterations (all elements are zero)". Empty: none or first
  /// steps alone, or the record says that the output shows nothing.
  std::string ShowsNothingIn(std::string_view output) const;
  /// Iterations in which neither side has an output.
  int64_t empty_iterations() const { return empty_iterations_; }

 private:
  void AddOutput(const OutputComparison& output, const OutputRow& row, int64_t iteration,
                 const std::function<OutputFigures()>& figures);
  /// Among record_.outputs; their number: none is called so.
  size_t PlaceOf(std::string_view output) const;
  /// Does another iteration show something, and so outweigh those of `tally` that show nothing?
  bool IsShown(const OutputTally& tally) const;
  void AddLogits(const OutputComparison& output, size_t index);

  Charts charts_;
  ComparisonTally tally_;
  PairRecord record_;
  std::vector<double> kept_ratios_;  ///< by output: times over in the iteration kept
  std::vector<double> kept_logits_;  ///< likewise: of the failed gate of logits that is kept
  std::vector<TokenLosses> losses_;  ///< by output
  std::vector<LogitsTotals> logits_totals_;  ///< likewise
  std::vector<int64_t> whole_positions_;     ///< likewise: of iterations with nothing to leave out
  std::vector<IterationQuantiles> quantiles_;  ///< likewise
  std::vector<LogitsTotalGate> gates_;         ///< likewise
  std::vector<bool> shown_;                    ///< likewise: by an iteration at least
  std::vector<int64_t> first_steps_;           ///< likewise: that show nothing
  ElementErrors errors_;
  bool compared_nothing_ = false;
  int64_t one_sided_since_ = -1;
  int64_t empty_iterations_ = 0;
};

}  // namespace vernier
