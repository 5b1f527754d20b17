// Where a row keeps its decisions: which of its columns belong together. For rows of the usual
// form, of which there are millions; decision_rows.cc reads all others. Only for this folder.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "record/rows/sample_faults.h"
#include "record/rows/totals_columns.h"
#include "record/schema/decision_schema.h"
#include "vernier/row_record.h"

namespace vernier {

/// Places among the columns of a row.
struct SidePlaces {
  size_t decision = 0;
  size_t margin = 0;
  std::optional<size_t> score;
};

/// Of what boxes add up to.
struct BoxPlaces {
  std::array<size_t, kBoxColumns.size()> counts = {};
  size_t overlap = 0;
};

/// Of one decision.
struct DecisionPlaces {
  std::string output;
  size_t kind = 0;
  std::optional<size_t> classes;
  size_t flip = 0;
  size_t near_tie = 0;
  size_t similarity = 0;
  std::optional<size_t> detail;
  std::optional<size_t> negative_boxes;
  std::optional<size_t> scores_above_one;
  std::optional<size_t> all_above;
  std::optional<size_t> by_noise;
  std::optional<size_t> over_bound;
  std::optional<BoxPlaces> boxes;
  std::optional<size_t> class_overlaps;
  std::optional<size_t> label;  ///< its own; else the row's, where there are scores
  SidePlaces first, second;
};

/// Of the file that the iteration was fed with.
struct FilePlaces {
  size_t name = 0;
  size_t index = 0;
  size_t count = 0;
};

/// Whether an output failed by its elements.
struct VerdictPlace {
  std::string output;
  size_t place = 0;
};

struct RowPlaces {
  size_t index = 0;
  size_t step = 0;
  size_t pair = 0;
  std::optional<FilePlaces> file;
  std::vector<DecisionPlaces> decisions;
  std::vector<VerdictPlace> verdicts;
};

/// The places of `pair` ("a vs. b") among `columns`, in their order. nullopt where a column is
/// missing, is there twice or says what rows usually do not say.
std::optional<RowPlaces> FindRowPlaces(std::span<const std::string> columns, std::string_view pair);

/// The output whose verdict by elements is in that column; nullopt: it is another column.
std::optional<std::string> OutputOfVerdict(std::string_view column);

/// Whether rows say that of an output; "": the row has no such output.
inline bool IsVerdict(std::string_view text) {
  return text.empty() || text == "passed" || text == "failed" || text == "not verified";
}

/// Whether the iteration can have been fed with that file.
inline bool FitsIteration(const FedFile& file, int64_t iteration) {
  constexpr int64_t kMostFiles = int64_t{1} << 40;
  return file.place >= iteration && file.place < file.named && file.named <= kMostFiles;
}

/// Reads one row: `cells.Text(place)`, `cells.Whole(place)` and `cells.Number(place)` give the
/// values of a row as optional ones. False where a value has another type, or is empty.
template <typename Cells>
class RowReading {
 public:
  RowReading(const RowPlaces& places, const Cells& cells) : places_(places), cells_(cells) {}

  /// Reuses the memory of `row`, whose decisions are all that it changes beside index, step, pair,
  /// file, and of outputs the verdicts.
  bool Read(IterationRow& row) {
    row.index = Take(cells_.Whole(places_.index));
    row.step = Take(cells_.Whole(places_.step));
    complete_ &= row.index >= 0 && row.step >= 0;
    row.pair = Take(cells_.Text(places_.pair));
    row.file.reset();
    if (places_.file) row.file = ReadFile(*places_.file, row.index);
    row.decisions.resize(places_.decisions.size());
    for (size_t i = 0; i < places_.decisions.size(); ++i) {
      ReadDecision(places_.decisions[i], row.decisions[i]);
    }
    row.outputs.resize(places_.verdicts.size());
    for (size_t i = 0; i < places_.verdicts.size(); ++i) {
      row.outputs[i].output = places_.verdicts[i].output;
      row.outputs[i].verdict = Take(cells_.Text(places_.verdicts[i].place));
      complete_ &= IsVerdict(row.outputs[i].verdict);
    }
    return complete_;
  }

 private:
  template <typename T>
  T Take(const std::optional<T>& value) {
    complete_ &= value.has_value();
    return value.value_or(T());
  }
  std::string_view TakeText(size_t place) {
    const std::string_view text = Take(cells_.Text(place));
    complete_ &= !text.empty();
    return text;
  }

  // Of a column that not all rows have, which NaN then fills up: 0.
  int64_t TakeCount(const std::optional<size_t>& place) {
    if (!place) return 0;
    if (const std::optional<int64_t> whole = cells_.Whole(*place)) {
      complete_ &= *whole >= 0;
      return *whole;
    }
    const double number = Take(cells_.Number(*place));
    if (std::isnan(number)) return 0;
    constexpr double kMost = 9007199254740992;
    const bool is_count = number >= 0 && number <= kMost && std::trunc(number) == number;
    complete_ &= is_count;
    return is_count ? static_cast<int64_t>(number) : 0;
  }

  // Whoever parses a row says what is wrong with its file.
  FedFile ReadFile(const FilePlaces& places, int64_t iteration) {
    FedFile file{std::string(TakeText(places.name)), Take(cells_.Whole(places.index)),
                 Take(cells_.Whole(places.count))};
    complete_ &= FitsIteration(file, iteration);
    return file;
  }

  void ReadDecision(const DecisionPlaces& places, DecisionRow& decision) {
    decision.output = places.output;
    decision.kind = TakeText(places.kind);
    decision.classes.reset();
    if (const int64_t classes = TakeCount(places.classes); classes > 0) decision.classes = classes;
    decision.samples.resize(1);
    DecisionSample& sample = decision.samples.front();
    const std::string_view word = TakeText(places.flip);
    const auto* const flip = std::ranges::find(kFlipNames, word);
    complete_ &= flip != kFlipNames.end();
    if (complete_) sample.flip = static_cast<Flip>(flip - kFlipNames.begin());
    sample.near_tie = Take(cells_.Number(places.near_tie));
    sample.similarity = Take(cells_.Number(places.similarity));
    sample.first = Take(cells_.Text(places.first.decision));
    sample.first_margin = Take(cells_.Number(places.first.margin));
    sample.second = Take(cells_.Text(places.second.decision));
    sample.second_margin = Take(cells_.Number(places.second.margin));
    sample.detail = places.detail ? Take(cells_.Text(*places.detail)) : std::string_view();
    sample.negative_boxes = TakeCount(places.negative_boxes);
    sample.scores_above_one = TakeCount(places.scores_above_one);
    sample.all_above = TakeCount(places.all_above) != 0;
    sample.by_noise = TakeCount(places.by_noise) != 0;
    sample.over_bound = TakeCount(places.over_bound) != 0;
    ReadTotals(places, sample);
    ReadLabel(places, sample);
    if (!complete_) return;
    complete_ = FindSampleFault(decision.kind, decision.classes, sample) == SampleFault::kNone;
  }

  void ReadTotals(const DecisionPlaces& places, DecisionSample& sample) {
    sample.boxes.reset();
    sample.classes.clear();
    const double overlap = places.boxes ? Take(cells_.Number(places.boxes->overlap)) : std::nan("");
    if (!std::isnan(overlap)) {
      BoxCounts& boxes = sample.boxes.emplace();
      boxes.overlap = overlap;
      for (size_t i = 0; i < kBoxColumns.size(); ++i) {
        boxes.*kBoxColumns[i].count = TakeCount(places.boxes->counts[i]);
      }
    }
    if (!places.class_overlaps) return;
    sample.classes = Take(OverlapsFrom(Take(cells_.Text(*places.class_overlaps))));
  }

  void ReadLabel(const DecisionPlaces& places, DecisionSample& sample) {
    if (!places.first.score) {
      const DecisionSample without;
      sample.label = without.label;
      sample.first_score = without.first_score;
      sample.second_score = without.second_score;
      return;
    }
    sample.first_score = Take(cells_.Number(*places.first.score));
    sample.second_score = Take(cells_.Number(*places.second.score));
    sample.label = TakeText(*places.label);
    complete_ &= sample.labelled();
  }

  const RowPlaces& places_;
  const Cells& cells_;
  bool complete_ = true;
};

}  // namespace vernier
