#include "record/rows/decision_places.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "io/archive/archive_names.h"

namespace vernier {
namespace {

constexpr std::string_view kDecisionEnd = "/decision";

class PlaceFinder {
 public:
  PlaceFinder(std::span<const std::string> columns, std::string_view pair)
      : columns_(columns), pair_(pair) {
    for (size_t i = 0; i < columns.size(); ++i) {
      complete_ &= places_.emplace(std::string_view(columns[i]), i).second;
    }
  }

  std::optional<RowPlaces> Find() {
    // What only the last row of a file has.
    for (const char* const column :
         {"row_count", "not_done", "unfit_labels", "passed_over", "shard"}) {
      complete_ &= !places_.contains(column);
    }
    RowPlaces row;
    row.index = Need("index");
    row.step = Need("step");
    row.pair = Need("pair");
    if (places_.contains("input_name")) {
      row.file = FilePlaces{Need("input_name"), Need("input_index"), Need("input_count")};
    }
    for (size_t i = 0; i < columns_.size(); ++i) {
      const std::string& column = columns_[i];
      if (std::optional<std::string> output = OutputOfVerdict(column)) {
        row.verdicts.push_back({*std::move(output), i});
      }
      if (!column.ends_with(kDecisionEnd)) continue;
      const std::string name = column.substr(0, column.size() - kDecisionEnd.size());
      if (name.find('/') == std::string::npos) row.decisions.push_back(FindDecision(name));
    }
    return complete_ ? std::optional(std::move(row)) : std::nullopt;
  }

 private:
  size_t Need(const std::string& column) {
    const auto found = places_.find(column);
    complete_ &= found != places_.end();
    return found == places_.end() ? 0 : found->second;
  }
  std::optional<size_t> Maybe(const std::string& column) const {
    const auto found = places_.find(column);
    return found == places_.end() ? std::nullopt : std::optional(found->second);
  }

  DecisionPlaces FindDecision(const std::string& name) {
    DecisionPlaces places;
    // A second decision about an output has its kind behind a colon, which no encoded name has.
    places.output = PercentDecode(name.substr(0, name.find(':')));
    places.kind = Need(name + std::string(kDecisionEnd));
    places.flip = Need(name + "/flip");
    places.near_tie = Need(name + "/near_tie");
    places.similarity = Need(name + "/similarity");
    places.detail = Maybe(name + "/detail");
    places.classes = Maybe(name + "/classes");
    complete_ &= !places_.contains(name + std::string(kSamplesEnd));  // it has several
    places.negative_boxes = Maybe(name + "/negative_boxes");
    places.scores_above_one = Maybe(name + "/scores_above_one");
    places.all_above = Maybe(name + "/all_above");
    places.by_noise = Maybe(name + "/by_noise");
    places.over_bound = Maybe(name + "/over_bound");
    places.boxes = FindBoxes(name);
    places.class_overlaps = Maybe(name + std::string(kClassesEnd));
    const auto [first, second] = SidesOfPair(name);
    places.first = FindSide(first + "/" + name);
    places.second = FindSide(second + "/" + name);
    complete_ &= places.first.score.has_value() == places.second.score.has_value();
    if (!places.first.score) return places;
    places.label = Maybe(name + "/label");
    if (!places.label) places.label = Need("label");
    return places;
  }

  std::optional<BoxPlaces> FindBoxes(const std::string& name) {
    const std::optional<size_t> overlap = Maybe(name + std::string(kOverlapEnd));
    if (!overlap) return std::nullopt;
    BoxPlaces places;
    places.overlap = *overlap;
    for (size_t i = 0; i < kBoxColumns.size(); ++i) {
      places.counts[i] = Need(name + std::string(kBoxColumns[i].end));
    }
    return places;
  }

  SidePlaces FindSide(const std::string& name) {
    return {Need(name + std::string(kDecisionEnd)), Need(name + "/margin"), Maybe(name + "/score")};
  }

  // As they stand in the names of columns; empty where none make up the pair.
  std::pair<std::string, std::string> SidesOfPair(const std::string& name) const {
    const std::string end = "/" + name + std::string(kDecisionEnd);
    std::vector<std::string> sides;
    for (const std::string& column : columns_) {
      if (!column.ends_with(end)) continue;
      sides.push_back(column.substr(0, column.size() - end.size()));
    }
    for (const std::string& first : sides) {
      for (const std::string& second : sides) {
        if (PercentDecode(first) + " vs. " + PercentDecode(second) == pair_) {
          return {first, second};
        }
      }
    }
    return {};
  }

  std::span<const std::string> columns_;
  std::string_view pair_;
  std::unordered_map<std::string_view, size_t> places_;
  bool complete_ = true;
};

}  // namespace

std::optional<std::string> OutputOfVerdict(std::string_view column) {
  constexpr std::string_view kEnd = "/verdict";
  if (!column.ends_with(kEnd)) return std::nullopt;
  const std::string_view name = column.substr(0, column.size() - kEnd.size());
  if (name.find('/') != std::string_view::npos) return std::nullopt;
  return PercentDecode(name);
}

std::optional<RowPlaces> FindRowPlaces(std::span<const std::string> columns,
                                       std::string_view pair) {
  return PlaceFinder(columns, pair).Find();
}

}  // namespace vernier
