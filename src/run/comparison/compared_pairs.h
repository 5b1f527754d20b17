// Which streams of a run are compared with which: found before anything is opened or inferred.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "run/comparison/decision_run.h"
#include "run/comparison/empty_steps.h"
#include "run/comparison/pair_tokens.h"
#include "run/feeds/streams.h"
#include "run/figures/padded_steps.h"
#include "run/figures/pair_recorder.h"
#include "run/maps/pair_matching.h"
#include "run/steps/pair_times.h"
#include "vernier/run_plan.h"
#include "vernier/status.h"

namespace vernier {

/// Two streams, how their outputs are paired, and what was found about them.
struct ComparedPair {
  size_t first = 0;  ///< its place among the streams
  size_t second = 0;
  PairRecorder recorder;
  PairMatching matching;
  bool believed = true;
  std::pair<std::string, std::string> shown = {};  ///< names of the sides, for people
  PairTimes times = {};                            ///< where iterations are steps of sequences
  PairTimes crossed = {};                          ///< of --state cross
  PairDecisions decisions = {};                    ///< of --decision
  PairTokens tokens = {};                          ///< of --decode
  PaddedSteps padded = {};                         ///< of which a mask leaves nothing
  EmptySteps empty = {};                           ///< that have no elements

  bool own_errors = false;             ///< of each step: the reference's state feeds both sides
  std::string other_steps = {};        ///< why the sides were fed otherwise; empty: they were not
  std::string maybe_other_steps = {};  ///< the same, where two references have fed other states
  int64_t of_other_inputs = 0;         ///< iterations, not compared for that
  std::string why_other_inputs = {};   ///< of the first of them

  /// Saved sides that were cut from outputs for all steps.
  bool first_all_steps = false, second_all_steps = false;

  /// Whether the sides of an iteration were made from inputs of the same names and types, and of
  /// other shapes or values, or their steps were fed otherwise.
  bool HasOtherInputs(const FeedMarks& feeds) const;
  std::string DescribeOtherInputs(int64_t iteration, bool decoded) const;

  std::string label() const { return shown.first + " vs. " + shown.second; }
};

/// How the steps of a pair's sides were fed.
struct FedPair {
  std::string why_other;      ///< ComparedPair::other_steps
  std::string may_be_other;   ///< ComparedPair::maybe_other_steps
  bool own_errors = false;    ///< the same there
  bool given_tokens = false;  ///< saved sides, decoded with tokens that no runner chose
  bool first_all_steps = false, second_all_steps = false;  ///< ComparedPair
};

struct ComparedPairs {
  std::vector<std::string> names;  ///< of all streams: live runners, then loaded runs
  bool marked = false;             ///< the command line marks tensors as outputs
  std::vector<ComparedPair> pairs;

  /// The pairs that `plan.pairs` asks for, in its order; none where there is only one stream.
  /// `formats` are those of the first streams' models, as far as they are known.
  /// kInvalidArgument where --pairs names an unknown runner, and for --map-outputs that are no
  /// maps.
  static Result<ComparedPairs> Find(const RunPlan& plan, std::vector<std::string> names,
                                    bool marked, std::span<const std::string> formats = {});

  /// The users' names for the sides of all pairs, in the pairs' order: in rows and in sentences. By
  /// default by the names of the streams.
  void NamePairs(std::vector<std::pair<std::string, std::string>> shown);

  /// The streams of each pair, by their places in `names`.
  std::vector<std::pair<size_t, size_t>> places() const;
};

}  // namespace vernier
