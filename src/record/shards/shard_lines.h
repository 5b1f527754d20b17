// The part of a record that a shard leaves for `vernier merge`: one JSON object, written line by
// line while the shard runs.
//
//   {"vernier_part":3, ..., "iterations":[    ShardHead: what was to be done
//   {"index":4, ...}                          ShardIteration, in the order of their indices
//   ,{"index":5, ...}
//   ],"end":{ ... },"checksum":"..."}         ShardEnd: what was done; absent: the part is cut off
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/classes/logits.h"
#include "record/shards/shard_decisions.h"
#include "vernier/row_record.h"
#include "vernier/run_record.h"
#include "vernier/status.h"

namespace vernier {

/// What --check-average sums up of `simple`: of the differences' statistics, absolute and relative.
struct ShardAverages {
  double atol = 0, rtol = 0;
  std::vector<int64_t> stats;  ///< ErrorStat, those asked for
  double max = 0, mean = 0, median = 0, quantile = 0;
  double relative_max = 0, relative_mean = 0, relative_median = 0, relative_quantile = 0;
};

struct ShardSimple {
  double allowed_share = 0, allowed_excess = 0;
  std::optional<ShardAverages> averages;  ///< where they are asked for
};

/// What `logits` found of tokens and masks that were fed.
struct ShardTokens {
  std::string source, mask;  ///< of TokensRecord
  int64_t positions = 0, excluded = 0;
  std::optional<int64_t> rows, first_row;  ///< of RowTokens
  TokenLosses::Sums sums;
};

/// One comparison function on one output.
struct ShardFunction {
  std::string function;  ///< as --compare spells it
  int64_t verdict = 0;   ///< Verdict
  std::string why;
  bool shapes_differ = false;
  std::optional<double> value;  ///< of functions with one number
  std::optional<double> threshold;
  std::optional<ShardSimple> simple;
  std::optional<LogitAgreement> logits;
  std::optional<ShardTokens> tokens;
};

/// One output of a pair in one iteration: all that a record is folded from.
struct ShardOutput {
  OutputRow row;
  std::string other_name;
  int64_t paired_by = 0;  ///< PairedBy
  std::string dtype;
  std::string other_dtype;  ///< empty: the same
  std::string vacuous;
  std::string mask;  ///< MaskedPositions; empty: there is nothing to keep
  std::optional<int64_t> positions, excluded, mismatches;  ///< the last where positions differ
  std::vector<ShardFunction> functions;
  /// Where no iteration of the shard before this one was as bad: the worst of all is one of these.
  std::optional<OutputFigures> figures;
};

struct ShardPair {
  std::vector<std::string> only_in_first, only_in_second;
  std::vector<std::string> without_verdict;
  std::vector<std::pair<std::string, std::string>> not_logits;  ///< output, why
  bool empty = false;                                           ///< neither side has an output
  std::string swap;  ///< that outputs look swapped, where that was first found here
  std::vector<ShardOutput> outputs;
  std::vector<ShardDecided> decisions;  ///< as in the plan
};

/// Hashes of what a runner received, input by input.
struct ShardReceived {
  std::vector<std::string> hashes;
};

struct ShardIteration {
  /// Among all iterations of the run; of images among all files, skipped ones counted.
  int64_t index = 0;
  std::string input_hash;               ///< as IterationRow has it
  std::vector<ShardReceived> received;  ///< runner by runner; none: not asked for
  std::vector<ShardPair> pairs;
  std::optional<ShardImage> image;
  std::string skipped;  ///< the image that could not be read; there is nothing else then
  std::vector<ShardPicture> pictures;
};

/// A file that the plan names beside models: a script, or what inputs or outputs are read from.
struct ShardSource {
  std::string option;  ///< that names it: "--load-inputs"
  std::string path;
  std::string last;   ///< of so many files that some are one entry: the last of these; else empty
  int64_t files = 1;  ///< in this entry
  int64_t size = 0;   ///< of all of them, in bytes
  std::string hash;   ///< of content, or of names and sizes; empty: none could be taken

  bool operator==(const ShardSource&) const = default;
};

/// What some shards were computed with. The same bits are promised for the same.
struct ShardMadeWith {
  /// "build" of vernier, "processor", "runner", or what Python has imported: a "package" that is
  /// installed, or a "module" of the user's own.
  std::string kind;
  std::string name;             ///< of a build its version
  std::string value;            ///< of a runner its machine, of a package its version, else a hash
  std::vector<int64_t> shards;  ///< ascending
};

struct ShardHead {
  std::string version;           ///< of vernier: another one may compute other numbers
  std::string build;             ///< of that version: BuildIdentity()
  int64_t count = 1;             ///< of shards
  int64_t multiple = 1;          ///< ShardPlan::multiple
  std::vector<int64_t> numbers;  ///< those that are in here, ascending
  std::string rule;
  int64_t began_ms = 0;            ///< when its shard did, since 1970; no part of what is merged
  std::string folder;              ///< in which the first of them was made; empty: not known
  std::vector<std::string> words;  ///< of the command that made it
  std::string plan;                ///< of the undivided run: its file as text
  std::vector<std::pair<std::string, std::string>> models;  ///< path, XXH3 of the file
  std::vector<std::pair<std::string, std::string>> labels;  ///< the same of files of --labels
  std::vector<ShardSource> sources;
};

/// An output of the first side whose partner was found by values, and the error of that.
struct ShardPairedBy {
  std::string output;
  double error = 0;
};

/// How a pair is called, and its sides: places among all streams.
struct ShardPairNames {
  int64_t first = 0, second = 0;
  std::string shown_first, shown_second;
  std::string first_file, second_file;
  std::string itself;  ///< the one file that both sides are; empty: they are not
  std::vector<std::string> left_out;
  // What iteration 0, or what follows it, showed of outputs that have other names on both sides:
  // as PairMatching::errors() and table().
  std::vector<ShardPairedBy> by_value;
  std::string undecided;
  std::vector<std::string> by_shape;  ///< OutputMatcher::ByShape() of the first that was examined
};

struct ShardLost {
  std::string runner;
  std::vector<std::pair<std::string, std::string>> outputs;  ///< name, why
};

/// Files of --save-flips that a shard has written.
struct ShardFlips {
  std::string path;          ///< of the inputs; that of the outputs follows from it
  std::string hash;          ///< of that file
  std::string outputs_hash;  ///< of the other; empty: there is one, of outputs
  std::vector<int64_t> iterations;
};

/// How often each of some numbers occurs, by their bits as float64 without the last so many.
struct CountedErrors {
  int64_t dropped_bits = 0, nan = 0;
  std::vector<int64_t> values, counts;  ///< ascending

  bool operator==(const CountedErrors&) const = default;
};

/// Errors of the elements of an output, over all iterations of a shard.
struct ShardErrors {
  int64_t shard = 0, pair = 0;
  std::string output;
  int64_t uncounted = 0;  ///< iterations, of which some elements were not compared
  CountedErrors absolute, relative;

  bool operator==(const ShardErrors&) const = default;
};

struct ShardEnd {
  int64_t total = 0;               ///< iterations of the undivided run
  bool counted_beforehand = true;  ///< that run knows them, though it ends early (--fail-fast)
  int64_t lines = 0;               ///< iterations in here
  std::vector<std::string> names;  ///< of all streams: live runners, then loaded runs
  bool marked = false;
  std::vector<RunnerRecord> runners;
  std::vector<ShardMadeWith> made_with;
  std::vector<ShardPairNames> pairs;
  std::vector<ShardLost> lost;
  std::vector<ShardFlips> flips;
  std::vector<ShardErrors> errors;  ///< where the command asks for statistics of elements
  std::vector<std::string> notes;
  std::vector<std::string> on_mismatch;  ///< faults to add where outputs do not match
  double seconds = 0;  ///< that all its shards took together; no part of what is merged
  std::vector<ShardRecord> shards;  ///< that are in here: who did them, and when; likewise
};

// Texts with the end of their line.
std::string ShardHeadText(const ShardHead& head);
std::string ShardIterationText(const ShardIteration& iteration);  ///< without the comma before it
/// Without the checksum, which ShardChecksumText() makes of all texts up to here.
std::string ShardEndText(const ShardEnd& end);
std::string ShardChecksumText(uint64_t checksum);

// What the texts hold, given without the ends of their lines. kMalformed, beginning with `what`.
Result<ShardHead> ReadShardHead(std::string_view line, const std::string& what);
Result<ShardIteration> ReadShardIteration(std::string_view line, const std::string& what);
/// Of the last line; the checksum is not checked.
Result<ShardEnd> ReadShardEnd(std::string_view line, const std::string& what);

/// How many bytes of a part its checksum covers: all but the checksum itself. Nullopt where it has
/// none.
std::optional<size_t> ShardCheckedBytes(std::string_view part);

/// Begins the line of an end.
inline constexpr std::string_view kShardEnd = "],\"end\":";

/// The index of an iteration's line, a comma before it or not; nullopt for any other line.
std::optional<int64_t> IndexOfShardLine(std::string_view line);

}  // namespace vernier
