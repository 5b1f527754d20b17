#include "record/shards/shard_lines.h"

#include <charconv>

#include "io/bytes/checksum.h"
#include "record/rows/row_schema.h"
#include "record/schema/field_scanner.h"
#include "record/schema/record_fields.h"
#include "record/schema/record_json.h"
#include "record/schema/record_visit.h"
#include "record/shards/shard_decision_schema.h"

namespace vernier {

template <typename Fields>
void ListFields(Fields& field, Some<ShardAverages> auto& averages) {
  field("atol", averages.atol);
  field("rtol", averages.rtol);
  field("stats", averages.stats);
  field("max", averages.max);
  field("mean", averages.mean);
  field("median", averages.median);
  field("quantile", averages.quantile);
  field("relative_max", averages.relative_max);
  field("relative_mean", averages.relative_mean);
  field("relative_median", averages.relative_median);
  field("relative_quantile", averages.relative_quantile);
}

template <typename Fields>
void ListFields(Fields& field, Some<ShardSimple> auto& simple) {
  field("allowed_share", simple.allowed_share);
  field("allowed_excess", simple.allowed_excess);
  field.Given("averages", simple.averages);
}

template <typename Fields>
void ListFields(Fields& field, Some<ShardTokens> auto& tokens) {
  field.TextIfAny("source", tokens.source);
  field.TextIfAny("mask", tokens.mask);
  field("positions", tokens.positions);
  field("excluded", tokens.excluded);
  field.Given("rows", tokens.rows);
  field.Given("first_row", tokens.first_row);
  field("count", tokens.sums.count);
  field("impossible", tokens.sums.impossible);
  field("losses", tokens.sums.losses);
  field("mean", tokens.sums.mean);
  field("squares", tokens.sums.squares);
  field("changes", tokens.sums.changes);
}

template <typename Fields>
void ListFields(Fields& field, Some<LogitAgreement> auto& logits) {
  field("compared", logits.compared);
  field("torn", logits.torn);
  field("equal_top1", logits.equal_top1);
  field("equal_sets", logits.equal_sets);
  field("flips", logits.flips);
  field("close_flips", logits.close_flips);
  field("mean", logits.divergence_mean);
  field("most", logits.divergence_most);
  field.Given("error", logits.divergence_error);
}

template <typename Fields>
void ListFields(Fields& field, Some<ShardFunction> auto& function) {
  field("function", function.function);
  field("verdict", function.verdict);
  field.TextIfAny("why", function.why);
  field("shapes_differ", function.shapes_differ);
  field.Given("value", function.value);
  field.Given("threshold", function.threshold);
  field.Given("simple", function.simple);
  field.Given("logits", function.logits);
  field.Given("tokens", function.tokens);
}

template <typename Fields>
void ListFields(Fields& field, Some<ShardOutput> auto& output) {
  field("name", output.row.output);
  field("other_name", output.other_name);
  field("paired_by", output.paired_by);
  field("dtype", output.dtype);
  field.TextIfAny("other_dtype", output.other_dtype);
  field.TextIfAny("vacuous", output.vacuous);
  field.TextIfAny("mask", output.mask);
  field.Given("positions", output.positions);
  field.Given("excluded_positions", output.excluded);
  field.Given("masked_mismatches", output.mismatches);
  // The list of a row names numbers of the two, where they are there.
  field.Given("auto_tolerance", output.row.bound);
  field.Given("logits_figures", output.row.logits);
  ListFields(field, output.row);
  field("functions", output.functions);
  field.Given("figures", output.figures);
}

template <typename Fields>
void ListFields(Fields& field, Some<ShardPair> auto& pair) {
  field.IfAny("only_in_first", pair.only_in_first);
  field.IfAny("only_in_second", pair.only_in_second);
  field.IfAny("without_verdict", pair.without_verdict);
  field.Pairs("not_logits", pair.not_logits, "output", "why");
  field("empty", pair.empty);
  field.TextIfAny("swap", pair.swap);
  field("outputs", pair.outputs);
  field.IfAny("decisions", pair.decisions);
}

template <typename Fields>
void ListFields(Fields& field, Some<ShardReceived> auto& received) {
  field("hashes", received.hashes);
}

template <typename Fields>
void ListFields(Fields& field, Some<ShardIteration> auto& iteration) {
  field("index", iteration.index);
  field("input_hash", iteration.input_hash);
  field("received", iteration.received);
  field("pairs", iteration.pairs);
  field.Given("image", iteration.image);
  field.TextIfAny("skipped", iteration.skipped);
  field.IfAny("pictures", iteration.pictures);
}

template <typename Fields>
void ListFields(Fields& field, Some<ShardSource> auto& source) {
  field("option", source.option);
  field("path", source.path);
  field("last", source.last);
  field("files", source.files);
  field("size", source.size);
  field("xxh3_64", source.hash);
}

template <typename Fields>
void ListFields(Fields& field, Some<ShardMadeWith> auto& made) {
  field("kind", made.kind);
  field("name", made.name);
  field("value", made.value);
  field("shards", made.shards);
}

template <typename Fields>
void ListFields(Fields& field, Some<ShardHead> auto& head) {
  field.Derived("vernier_part", [] { return 3; });
  field("version", head.version);
  field("build", head.build);
  field("shards", head.count);
  field.Later("multiple", head.multiple);
  field("numbers", head.numbers);
  field("rule", head.rule);
  field("began_ms", head.began_ms);
  field("folder", head.folder);
  field("words", head.words);
  field("plan", head.plan);
  field.Pairs("models", head.models, "path", "xxh3_64");
  field.Pairs("labels", head.labels, "path", "xxh3_64");
  field("sources", head.sources);
}

template <typename Fields>
void ListFields(Fields& field, Some<ShardPairedBy> auto& paired) {
  field("output", paired.output);
  field("error", paired.error);
}

template <typename Fields>
void ListFields(Fields& field, Some<ShardPairNames> auto& pair) {
  field("first", pair.first);
  field("second", pair.second);
  field("shown_first", pair.shown_first);
  field("shown_second", pair.shown_second);
  field("first_file", pair.first_file);
  field("second_file", pair.second_file);
  field("itself", pair.itself);
  field("left_out", pair.left_out);
  field.IfAny("by_value", pair.by_value);
  field.TextIfAny("undecided", pair.undecided);
  field("by_shape", pair.by_shape);
}

template <typename Fields>
void ListFields(Fields& field, Some<ShardLost> auto& lost) {
  field("runner", lost.runner);
  field.Pairs("outputs", lost.outputs, "name", "why");
}

template <typename Fields>
void ListFields(Fields& field, Some<ShardFlips> auto& flips) {
  field("path", flips.path);
  field("xxh3_64", flips.hash);
  field("outputs_xxh3_64", flips.outputs_hash);
  field("iterations", flips.iterations);
}

template <typename Fields>
void ListFields(Fields& field, Some<CountedErrors> auto& counted) {
  field("dropped_bits", counted.dropped_bits);
  field("nan", counted.nan);
  field("values", counted.values);
  field("counts", counted.counts);
}

template <typename Fields>
void ListFields(Fields& field, Some<ShardErrors> auto& errors) {
  field("shard", errors.shard);
  field("pair", errors.pair);
  field("output", errors.output);
  field("uncounted", errors.uncounted);
  field("absolute", errors.absolute);
  field("relative", errors.relative);
}

template <typename Fields>
void ListFields(Fields& field, Some<ShardEnd> auto& end) {
  field("total", end.total);
  field("counted_beforehand", end.counted_beforehand);
  field("lines", end.lines);
  field("names", end.names);
  field("marked", end.marked);
  field("runners", end.runners);
  field("made_with", end.made_with);
  field("pairs", end.pairs);
  field("lost", end.lost);
  field.IfAny("flips", end.flips);
  field.IfAny("errors", end.errors);
  field("notes", end.notes);
  field("on_mismatch", end.on_mismatch);
  field("seconds", end.seconds);
  field("done_by", end.shards);
}

namespace {

constexpr std::string_view kPartBegin = "{\"vernier_part\":";
constexpr std::string_view kThisPart = "{\"vernier_part\":3,";
constexpr std::string_view kIterationsBegin = ",\"iterations\":[";
constexpr std::string_view kChecksumBegin = ",\"checksum\":\"";
constexpr std::string_view kPartEnd = "\"}\n";

template <typename Part>
Result<Part> ReadShardObject(std::string_view text, const std::string& what) {
  const RecordJson json = RecordJson::parse(text, nullptr, false);
  if (!json.is_object()) return Malformed(what + ": expected a JSON object");
  std::string error;
  const RecordFields fields(json, "", &error);
  FieldReader reader(fields);
  Part part;
  ListFields(reader, part);
  if (!error.empty()) return Malformed(what + ": " + error);
  return part;
}

}  // namespace

std::string ShardHeadText(const ShardHead& head) {
  std::string text = DumpJson(WriteFields(head), -1);
  text.pop_back();
  return text + std::string(kIterationsBegin) + "\n";
}

std::string ShardIterationText(const ShardIteration& iteration) {
  return DumpJson(WriteFields(iteration), -1) + "\n";
}

std::string ShardEndText(const ShardEnd& end) {
  return std::string(kShardEnd) + DumpJson(WriteFields(end), -1);
}

std::string ShardChecksumText(uint64_t checksum) {
  return std::string(kChecksumBegin) + ChecksumText(checksum) + std::string(kPartEnd);
}

Result<ShardHead> ReadShardHead(std::string_view line, const std::string& what) {
  if (line.starts_with(kPartBegin) && !line.starts_with(kThisPart)) {
    return Malformed(what + " was written by another version of vernier: merge with that version");
  }
  if (!line.starts_with(kThisPart)) {
    return Malformed(what + " is not the part of a shard, which --shard writes for --save-record");
  }
  if (!line.ends_with(kIterationsBegin)) {
    return Malformed(what + " is truncated: it has no iterations; run its shard again");
  }
  line.remove_suffix(kIterationsBegin.size());
  return ReadShardObject<ShardHead>(std::string(line) + "}", what);
}

Result<ShardIteration> ReadShardIteration(std::string_view line, const std::string& what) {
  if (line.starts_with(',')) line.remove_prefix(1);
  ShardIteration iteration;
  if (FieldScanner(line).Scan(iteration)) return iteration;
  return ReadShardObject<ShardIteration>(line, what);
}

Result<ShardEnd> ReadShardEnd(std::string_view line, const std::string& what) {
  const size_t checksum = line.rfind(kChecksumBegin);
  if (!line.starts_with(kShardEnd) || checksum == std::string_view::npos) {
    return Malformed(what + " is truncated: it has no end; run its shard again");
  }
  line = line.substr(kShardEnd.size(), checksum - kShardEnd.size());
  return ReadShardObject<ShardEnd>(line, what);
}

std::optional<size_t> ShardCheckedBytes(std::string_view part) {
  const size_t size = part.rfind(kChecksumBegin);
  const bool ends = size != std::string_view::npos && part.ends_with(kPartEnd);
  return ends ? std::optional(size) : std::nullopt;
}

std::optional<int64_t> IndexOfShardLine(std::string_view line) {
  constexpr std::string_view kIndex = "{\"index\":";
  if (line.starts_with(',')) line.remove_prefix(1);
  if (!line.starts_with(kIndex)) return std::nullopt;
  line.remove_prefix(kIndex.size());
  int64_t index = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), index);
  const bool whole = error == std::errc() && end != line.data() + line.size() && *end == ',';
  return whole && index >= 0 ? std::optional(index) : std::nullopt;
}

}  // namespace vernier
