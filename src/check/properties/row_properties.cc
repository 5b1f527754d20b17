#include "check/properties/row_properties.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <utility>

#include "check/properties/trial.h"
#include "util/values/plural_text.h"

namespace vernier {
namespace {

std::vector<int64_t> AllRows(int64_t count) {
  std::vector<int64_t> rows(static_cast<size_t>(count));
  std::iota(rows.begin(), rows.end(), 0);
  return rows;
}

// The sizes of batches that are tried for so many rows: small ones, then twice as many at a time.
std::vector<int64_t> BatchSizes(int64_t rows) {
  std::vector<int64_t> sizes;
  for (int64_t size : {2, 3, 4, 5, 8}) {
    if (size < rows) sizes.push_back(size);
  }
  for (int64_t size = 16; size < rows; size *= 2) sizes.push_back(size);
  sizes.push_back(rows);
  return sizes;
}

// So many rows of a batch are tried alone: the first, the last and some between.
constexpr int64_t kMostAlone = 16;

std::vector<int64_t> RowsToTryAlone(int64_t count) {
  if (count <= kMostAlone) return AllRows(count);
  std::vector<int64_t> rows;
  for (int64_t i = 0; i < kMostAlone; ++i) rows.push_back(i * (count - 1) / (kMostAlone - 1));
  return rows;
}

/// Of `outputs` those of the batch, each of which has as many rows as the inputs: `count`.
Result<TensorMap> BatchedOnly(const BatchNames& batch, const TensorMap& outputs, int64_t count) {
  TensorMap batched;
  for (const NamedTensor& output : outputs) {
    const auto& names = batch.outputs;
    if (std::find(names.begin(), names.end(), output.name) == names.end()) continue;
    const Dims& dims = output.tensor.dims();
    if (dims.empty() || dims.front() != count) {
      return Malformed("output '" + output.name + "' has the shape " + FormatDims(dims) +
                       " where the inputs have " + Counted(count, "row"));
    }
    batched.push_back(output);
  }
  if (batched.empty()) return Malformed("no output has the rows of the inputs any more");
  return batched;
}

// The outputs of inferences with the same feed, each in the state that the one before has left:
// rows may meet in a state inside the model, which only a later inference reads. There is one of a
// model that keeps none.
using Sequence = std::vector<TensorMap>;

std::string OfInference(size_t place) {
  return place == 0 ? "" : ", inference " + std::to_string(place + 1);
}

Result<Sequence> RowsOf(const Sequence& sequence, std::span<const int64_t> rows) {
  Sequence taken;
  for (const TensorMap& outputs : sequence) {
    std::vector<std::string> names;
    for (const NamedTensor& output : outputs) names.push_back(output.name);
    VERNIER_ASSIGN_OR_RETURN(TensorMap some, TakeRows(outputs, names, rows));
    taken.push_back(std::move(some));
  }
  return taken;
}

Result<Sequence> InferRows(Subject& subject, std::span<const int64_t> rows) {
  const RowPlan& plan = subject.bench.Rows();
  const auto count = static_cast<int64_t>(rows.size());
  VERNIER_ASSIGN_OR_RETURN(const TensorMap feed, TakeRows(*plan.rows, plan.batch.inputs, rows));
  VERNIER_ASSIGN_OR_RETURN(TensorMap first, subject.probe->Infer(feed));
  Probe::Continuation later = subject.probe->GoOn(feed, CountLater(subject));
  Sequence sequence = {std::move(first)};
  std::ranges::move(later.outputs, std::back_inserter(sequence));
  for (TensorMap& outputs : sequence) {
    VERNIER_ASSIGN_OR_RETURN(outputs, BatchedOnly(plan.batch, outputs, count));
  }
  if (later.failure.ok()) return sequence;
  return std::move(later.failure).Annotate("inference " + std::to_string(sequence.size() + 1));
}

// Counts one case.
bool HoldSequence(Trial& trial, const std::string& what, const Sequence& expected,
                  const Result<Sequence>& found) {
  if (!found.ok()) return trial.Break(what, found.status().message());
  trial.Count();
  for (size_t i = 0; i < expected.size(); ++i) {
    if (!trial.HoldMore(what + OfInference(i), expected[i], (*found)[i])) return false;
  }
  return true;
}

// Tries every size of a batch until one breaks the property; `cases` and `note` complete what is
// noted.
PropertyRecord ForEachBatch(Subject& subject, std::string_view cases, const std::string& note,
                            const std::function<bool(Trial& trial, int64_t count)>& holds) {
  const RowPlan& plan = subject.bench.Rows();
  if (!plan.rows) return NotApplicable(plan.no_batch);
  Trial trial(subject);
  trial.AllowRounding(&*plan.rows);
  const int64_t rows = CountRows(*plan.rows, plan.batch);
  for (const int64_t count : BatchSizes(rows)) {
    if (!holds(trial, count)) break;
  }
  std::string sizes = "batches of " + (rows > 2 ? "2 to " + std::to_string(rows) : "2") + " rows";
  if (rows > kMostAlone) sizes += note;
  if (!plan.sizes.empty()) sizes += ", " + plan.sizes;
  PropertyRecord record = trial.Finish(cases, WithLater(subject, std::move(sizes)));
  if (record.verdict != PropertyVerdict::kNotApplicable) record.left_out = plan.batch.left_out;
  return record;
}

// Every row of `outputs` must be the first.
bool HoldEqualRows(const std::string& what, const Sequence& outputs, int64_t count, Trial& trial) {
  const Result<Sequence> first = RowsOf(outputs, std::vector<int64_t>{0});
  if (!first.ok()) return trial.Break(what, first.status().message());
  for (int64_t row = 1; row < count; ++row) {
    const Result<Sequence> other = RowsOf(outputs, std::vector<int64_t>{row});
    const std::string which = "row " + std::to_string(row) + " of " + what;
    if (!HoldSequence(trial, which, *first, other)) return false;
  }
  return true;
}

}  // namespace

PropertyRecord IdenticalRows(Subject& subject) {
  return ForEachBatch(subject, "rows", "", [&](Trial& trial, int64_t count) {
    const std::vector<int64_t> rows(static_cast<size_t>(count), 0);
    const Result<Sequence> outputs = InferRows(subject, rows);
    const std::string what = "a batch of " + std::to_string(count) + " equal rows";
    if (!outputs.ok()) return trial.Break(what, outputs.status().message());
    return HoldEqualRows(what, *outputs, count, trial);
  });
}

PropertyRecord PermutedRows(Subject& subject) {
  return ForEachBatch(subject, "batches", "", [&](Trial& trial, int64_t count) {
    const std::vector<int64_t> rows = AllRows(count);
    const std::string batch = "a batch of " + std::to_string(count) + " rows ";
    const Result<Sequence> straight = InferRows(subject, rows);
    if (!straight.ok()) return trial.Break(batch + "reversed", straight.status().message());
    const auto holds = [&](const std::vector<int64_t>& order, const std::string& what) {
      const Result<Sequence> expected = RowsOf(*straight, order);
      if (!expected.ok()) return trial.Break(what, expected.status().message());
      return HoldSequence(trial, what, *expected, InferRows(subject, order));
    };
    if (!holds({rows.rbegin(), rows.rend()}, batch + "reversed")) return false;
    // Reversed again by the model itself, rows would come out right.
    std::vector<int64_t> shifted(rows.begin() + 1, rows.end());
    shifted.push_back(0);
    return count < 3 || holds(shifted, batch + "shifted by one");
  });
}

PropertyRecord BatchOfOne(Subject& subject) {
  std::map<int64_t, Sequence> alone;  // each row once, whatever batches it is in
  const std::string note = ", of each at most " + std::to_string(kMostAlone) + " rows alone";
  return ForEachBatch(subject, "rows", note, [&](Trial& trial, int64_t count) {
    const std::string batch = "a batch of " + std::to_string(count);
    const Result<Sequence> together = InferRows(subject, AllRows(count));
    if (!together.ok()) return trial.Break(batch, together.status().message());
    for (const int64_t row : RowsToTryAlone(count)) {
      const std::vector<int64_t> one = {row};
      const std::string what = "row " + std::to_string(row) + " of " + batch;
      if (!alone.contains(row)) {
        Result<Sequence> outputs = InferRows(subject, one);
        if (!outputs.ok()) return trial.Break(what + " alone", outputs.status().message());
        alone.emplace(row, *std::move(outputs));
      }
      if (!HoldSequence(trial, what, alone.at(row), RowsOf(*together, one))) return false;
    }
    return true;
  });
}

}  // namespace vernier
