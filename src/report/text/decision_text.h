// What runners decided and how it was judged, in words.
#pragma once

#include <string>

#include "vernier/blame_record.h"
#include "vernier/run_record.h"

namespace vernier {

/// Does the exit code rest on decisions alone, or would that of the undivided run, of which this is
/// a shard? Elements are then reported only.
bool JudgedByDecisions(const PairRecord& pair);
bool JudgedByDecisions(const RunRecord& record);
/// Is it a shard of such a run, whose gates `merge` judges?
bool IsLeftToMerge(const PairRecord& pair);
bool IsLeftToMerge(const RunRecord& record);

/// Is the result of this output's elements only reported: do its decisions determine the exit code?
bool IsReportedOnly(const PairRecord& pair, const OutputRecord& output);
/// Do elements fail that count although the exit code rests on decisions: those of an output that
/// no gate is about? Its name; empty: none does.
std::string FailedUndecided(const PairRecord& pair);

/// Is a gate missed that counts?
bool FailsGates(const PairRecord& pair);

/// "top1 of 'y': 97 of 100 samples agree, 97 % (95 % interval 91.5 to 99 %); 3 flips: 1 clear,
/// 2 near ties by the error bound ...".
std::string FormatDecision(const DecisionRecord& decision);

/// "top-1 accuracy 93 % (95 % interval 91 to 95 %) against 92 % (...), a drop of 1 point ...": of a
/// decision with labels; else empty.
std::string FormatLabels(const DecisionRecord& decision);

/// "of all samples: 9 boxes matched ...": of boxes, how many match over the samples that are not
/// invalid; of maps of classes the mean IoU and the least; of others empty.
std::string FormatTotals(const DecisionRecord& decision);

/// "iteration 12, sample 0: '281' by 0.34 against '282' by 0.11, clear".
std::string FormatFlip(const WorstFlip& flip);

/// Which flips the layers of a search are of: one sentence, without a full stop. Where nothing
/// flips, what was decided.
std::string FormatBlameFlips(const BlameFlipsRecord& flips);

/// What single layers eat of a margin, a line each; empty where that was not measured.
std::string FormatMarginLosses(const BlameFlipsRecord& flips);

/// A line for each decision, and one for each of its worst flips, up to a few; empty where nothing
/// was decided.
std::string FormatDecisions(const PairRecord& pair);

/// The gates that are missed or undecided, each in a sentence after "; "; empty if there are
/// none.
std::string FormatOpenGates(const PairRecord& pair);

/// What the exit code rests on where that is not all that was compared, as the last line; else
/// empty.
std::string FormatJudge(const RunRecord& record);

}  // namespace vernier
