// Rows: what the comparison of two sides found in one iteration, as plain data. The record of a run
// folds them; --save-rows keeps all of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "vernier/compare_function.h"
#include "vernier/decision_record.h"
#include "vernier/run_record.h"

namespace vernier {

/// One output of a pair in one iteration. What was not measured is absent.
struct OutputRow {
  std::string output;               ///< its name on the first side
  std::string verdict;              ///< "passed", "failed", "not verified"
  std::optional<int64_t> elements;  ///< absent where shapes or types kept it from comparison
  std::optional<double> max_absolute_error;
  std::optional<double> max_relative_error;
  std::optional<double> mean_absolute_error;
  std::optional<double> required_absolute;  ///< the tolerance that would have been enough
  std::optional<double> required_relative;
  /// By how many times the worst element exceeds its tolerance; at most 1 where none does.
  std::optional<double> times_over_tolerance;
  std::optional<int64_t> mismatches;  ///< elements out of tolerance
  std::optional<int64_t> not_finite;  ///< NaN and infinite values on either side
  PerMetric<std::optional<double>> metrics;
  std::optional<BoundRecord> bound;    ///< of --tolerance auto
  std::optional<LogitsRecord> logits;  ///< of --compare logits
};

/// A decision about one output of a pair in one iteration.
struct DecisionRow {
  std::string output;  ///< its name on the first side
  std::string kind;    ///< as typed: "top1"
  std::vector<DecisionSample> samples;
  std::optional<int64_t> classes = {};  ///< that labels of the output can name; absent: not known
};

/// The tokens that both sides chose in one iteration, by row of the batch; -1 in place of NaN.
struct TokensOfStep {
  std::vector<int64_t> first;
  std::vector<int64_t> second;
  bool after_divergence = false;  ///< the iteration was not compared for that
  bool after_end = false;         ///< nor for that: all prompts had ended (--decode-stop)
};

/// The image that an iteration was fed with.
struct FedFile {
  std::string name;   ///< its path
  int64_t place = 0;  ///< among all that --load-inputs names, from 0, those that were skipped, too
  int64_t named = 0;  ///< how many these are
};

/// Whose rows alone they are.
struct RowsShard {
  int64_t number = 0;  ///< from 1
  int64_t count = 0;
  /// 16 hexadecimal digits for the run's plan, models and labels: all its shards have the same.
  /// Empty: not known.
  std::string run = {};
};

/// What the run that made the rows was asked to do and did not do, in sentences: in the last row.
struct RowsEnd {
  std::vector<std::string> not_done;      ///< what was left out, and why
  std::vector<std::string> unfit_labels;  ///< of --labels: samples without one, and the reverse
  std::optional<RowsShard> shard = {};    ///< absent: the run was not divided
  /// What may have been meant as input: files beside the inputs. With --strict in `not_done`.
  std::vector<std::string> passed_over = {};
};

/// One pair of sides in one iteration.
struct IterationRow {
  int64_t index = 0;               ///< of the iteration, from 0
  int64_t step = 0;                ///< within a sequence; 0 without steps
  std::string pair;                ///< "onnxrt vs. openvino": their short names
  std::string input_hash;          ///< XXH3 (64 bits, hexadecimal) of the feed; empty: not known
  std::vector<OutputRow> outputs;  ///< in the first side's order
  std::string first = {};          ///< the sides' short names, where there are decisions or tokens
  std::string second = {};
  std::vector<DecisionRow> decisions = {};
  std::optional<TokensOfStep> tokens = {};  ///< of --decode
  std::optional<FedFile> file = {};         ///< of inputs that are files of their own
  RowsEnd end = {};                         ///< in the last row of a file; RowLine() leaves it out
};

}  // namespace vernier
